package simulate

// block is a kind of text in an answer. Where an API has a place for each, they
// come one after the other.
type block int

const (
	noBlock block = iota
	thinks
	speaks
	calls
)

// part is some text of one kind.
type part struct {
	kind block
	text string
}

// parts are the texts of a piece, in their order.
func (p piece) parts() []part {
	var out []part
	for _, b := range []part{{thinks, p.reasoning}, {speaks, p.content}, {calls, p.arguments}} {
		if b.text != "" {
			out = append(out, b)
		}
	}
	return out
}

// parts are the texts so far, in their order.
func (a *responder) parts() []part {
	return piece{reasoning: a.reasoning.String(), content: a.content.String(), arguments: a.arguments.String()}.parts()
}

// blocks is where a stream of such parts is.
type blocks struct {
	now   block
	index int // of the part, from 0
}

// enter says whether a part of this kind begins, after the end of the one
// before it.
func (b *blocks) enter(kind block, end func(block)) bool {
	if b.now == kind {
		return false
	}
	if b.now != noBlock {
		b.leave(end)
		b.index++
	}
	b.now = kind
	return true
}

// leave ends the part that is open, if one is.
func (b *blocks) leave(end func(block)) {
	if b.now != noBlock {
		end(b.now)
	}
	b.now = noBlock
}
