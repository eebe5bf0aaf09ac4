package wire

import (
	"net/http"
	"strings"
)

// framing parses a response as its bytes arrive. It separates the body from the bytes around it,
// and finds the end. It does not check the syntax: net/http does, and stops reading. Most chunks are read by
// chunks instead.
type framing struct {
	part    framePart
	chunked bool
	left    uint64 // bytes left of the body or the chunk; in a size line, the size read so far
	sized   bool   // the digits of the size line are complete
	filled  bool   // the current line is not empty
	head    int    // bytes of the headers so far
	status  int
}

// statusAt is the position of the status code, after "HTTP/1.1 ".
const statusAt = 9

type framePart uint8

const (
	// partNone is the state before a request, after the headers until expectBody is called, and
	// after the response.
	partNone framePart = iota
	partHead
	partSize // the size line of a chunk
	partData
	partDataEnd // the line end after a chunk
	partTrailer
)

// framingOf returns the framing of a body. The length -1, until the connection closes, becomes the
// largest length.
func framingOf(resp *http.Response) framing {
	if len(resp.TransferEncoding) > 0 {
		return framing{part: partSize, chunked: true}
	}
	return framing{part: partData, left: uint64(resp.ContentLength)}
}

// take returns how many bytes at the front of b net/http can have now, and how many of them are
// body. It stops at the end of a part of the response. It also stops before the last chunk: there
// net/http would wait for the trailers before it returned the data.
func (f *framing) take(b []byte) (n, data int) {
	for n < len(b) && f.part != partNone {
		switch {
		case f.part == partData:
			m := f.takeData(len(b) - n)
			n, data = n+m, data+m
		case f.part == partSize && f.left == 0 && b[n] == '0' && data > 0:
			return n, data
		default:
			f.takeByte(b[n])
			n++
		}
	}
	return n, data
}

func (f *framing) takeData(limit int) int {
	n := min(f.left, uint64(limit))
	if f.left -= n; f.left == 0 {
		f.part = partNone
		if f.chunked {
			f.part = partDataEnd
		}
	}
	return int(n)
}

func (f *framing) takeByte(c byte) {
	if f.part == partHead {
		if f.head >= statusAt && f.head < statusAt+3 {
			f.status = f.status*10 + int(c-'0')
		}
		f.head++
	}
	switch {
	case c == '\n':
		f.endLine()
	case f.part != partSize:
		f.filled = f.filled || c != '\r'
	case !f.sized:
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if f.sized = digit < 0; !f.sized {
			f.left = f.left<<4 | uint64(digit)
		}
	}
}

func (f *framing) endLine() {
	switch {
	case f.part == partDataEnd:
		f.part = partSize
	case f.part == partSize && f.left == 0:
		f.part = partTrailer
	case f.part == partSize:
		f.part = partData
	case f.filled:
	case f.part == partHead && f.status/100 == 1 && f.status != http.StatusSwitchingProtocols:
		f.head, f.status = 0, 0 // an interim response; the final one follows
	default: // the empty line after headers or trailers
		f.part = partNone
	}
	f.filled, f.sized = false, false
}
