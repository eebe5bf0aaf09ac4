package runs

import (
	"fmt"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// RecallClass is the place of a reference code. Both fields are unknown for codes of other conversations.
type RecallClass struct {
	Depth  string // one of recall.Depths
	Cached string // one of probe.CachedStates
}

// MarshalText implements encoding.TextMarshaler: "8k-32k/yes".
func (c RecallClass) MarshalText() ([]byte, error) { return []byte(c.Depth + "/" + c.Cached), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *RecallClass) UnmarshalText(text []byte) (err error) {
	var ok bool
	if c.Depth, c.Cached, ok = strings.Cut(string(text), "/"); !ok {
		err = fmt.Errorf("%q is not a class of answers, such as \"8k-32k/yes\"", text)
	}
	return err
}

// Recalled counts answers that were judged by reference codes.
type Recalled struct {
	Right   uint64 `json:"right,omitempty"`
	Wrong   uint64 `json:"wrong,omitempty"`
	Foreign uint64 `json:"foreign,omitempty"` // with a code of another conversation
}

// Judged returns the number of answers.
func (c Recalled) Judged() uint64 { return c.Right + c.Wrong + c.Foreign }

// Add adds the answers of o.
func (c *Recalled) Add(o Recalled) {
	c.Right, c.Wrong, c.Foreign = c.Right+o.Right, c.Wrong+o.Wrong, c.Foreign+o.Foreign
}

// Recalled counts the answers of the classes for which holds is true; nil means all.
func (b Block) Recalled(holds func(RecallClass) bool) (sum Recalled) {
	for class, n := range b.Recall {
		if holds == nil || holds(class) {
			sum.Add(n)
		}
	}
	return sum
}

func (b *Block) observeRecall(r probe.Recall) {
	n := Recalled{}
	switch r.Result {
	case recall.Right:
		n.Right = 1
	case recall.Wrong:
		n.Wrong = 1
	case recall.Foreign:
		n.Foreign = 1
	default:
		return
	}
	if b.Recall == nil {
		b.Recall = map[RecallClass]Recalled{}
	}
	class := RecallClass{r.DepthClass(), r.CachedState()}
	n.Add(b.Recall[class])
	b.Recall[class] = n
}
