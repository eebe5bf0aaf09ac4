package wire

import (
	"net/http"
	"strings"
)

// framing follows a response through the bytes of its connection, to tell data
// from what frames it and to find the end. It judges nothing: what is malformed
// net/http finds, and it stops the reading.
type framing struct {
	part    framePart
	chunked bool
	left    uint64 // of the data, or the chunk's size as far as it was read
	sized   bool   // the size's digits are over
	filled  bool   // the line in progress holds more than its end
	head    int    // bytes of the headers so far
	status  int
}

// statusAt is where the status begins: after "HTTP/1.1 ".
const statusAt = 9

type framePart uint8

const (
	// partNone is before a request goes out, between the headers and what the
	// caller says of the body, and after the response.
	partNone framePart = iota
	partHead
	partSize // a chunk's size line
	partData
	partDataEnd // the end of line after a chunk
	partTrailer
)

// framingOf returns what follows the headers of resp. A length of -1, until the
// connection closes, is the largest there is.
func framingOf(resp *http.Response) framing {
	if len(resp.TransferEncoding) > 0 {
		return framing{part: partSize, chunked: true}
	}
	return framing{part: partData, left: uint64(resp.ContentLength)}
}

// take returns how many bytes at the front of b net/http may have now, and how
// many of them are data. It stops where a part of the response ends, and before
// the last chunk: there net/http waits for the trailers, with the data before it
// in hand.
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

func (f *framing) takeData(most int) int {
	n := min(f.left, uint64(most))
	if f.left -= n; f.left == 0 {
		f.part = partNone
		if f.chunked {
			f.part = partDataEnd
		}
	}
	return int(n)
}

// takeByte takes a byte of a line.
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
		f.head, f.status = 0, 0 // the real one follows
	default: // the empty line after headers or trailers
		f.part = partNone
	}
	f.filled, f.sized = false, false
}
