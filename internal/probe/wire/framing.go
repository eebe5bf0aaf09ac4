package wire

import "net/http"

// framing parses a response as its bytes arrive. It separates the body from the bytes around it,
// and finds the end. It does not check the syntax: net/http does, and stops reading. Of a chunked body it sees only
// the last chunk, because chunks reads the others.
type framing struct {
	part   framePart
	left   uint64 // bytes left of the body
	filled bool   // the current line is not empty
	head   int    // bytes of the headers so far
	status int
}

// statusAt is the position of the status code, after "HTTP/1.1 ".
const statusAt = 9

type framePart uint8

const (
	// partNone is the state before a request, after the headers until expectBody is called, and
	// after the response.
	partNone framePart = iota
	partHead
	partData
	partLastChunk // with its trailers
)

// framingOf returns the framing of a body. The length -1, until the connection closes, becomes the
// largest length.
func framingOf(resp *http.Response) framing {
	if len(resp.TransferEncoding) > 0 {
		return framing{part: partLastChunk}
	}
	return framing{part: partData, left: uint64(resp.ContentLength)}
}

// take returns how many bytes at the front of b net/http can have now. It stops at the end of a part of the response.
func (f *framing) take(b []byte) (n int) {
	for n < len(b) && f.part != partNone {
		if f.part != partData {
			f.takeByte(b[n])
			n++
			continue
		}
		data := int(min(f.left, uint64(len(b)-n)))
		n += data
		if f.left -= uint64(data); f.left == 0 {
			f.part = partNone
		}
	}
	return n
}

func (f *framing) takeByte(c byte) {
	if f.part == partHead {
		if f.head >= statusAt && f.head < statusAt+3 {
			f.status = f.status*10 + int(c-'0')
		}
		f.head++
	}
	if c == '\n' {
		f.endLine()
	} else {
		f.filled = f.filled || c != '\r'
	}
}

func (f *framing) endLine() {
	switch {
	case f.filled:
	case f.part == partHead && f.status/100 == 1 && f.status != http.StatusSwitchingProtocols:
		f.head, f.status = 0, 0 // an interim response; the final one follows
	default: // the empty line after headers or trailers
		f.part = partNone
	}
	f.filled = false
}
