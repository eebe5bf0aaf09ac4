package wire

import (
	"bytes"
	"math"
	"net/http"
)

// framing follows a response through the bytes of its connection, to tell data
// from what frames it and to find the end. It judges nothing: what is malformed
// net/http finds, and it stops the reading.
type framing struct {
	part framePart
	// left of the data, or the chunk's size while that is read.
	left    uint64
	chunked bool
	// of the line in progress: nothing but its end was seen; its digits ended.
	filled, sized bool
}

type framePart uint8

const (
	// partDone is after a response, and before anything was asked for: net/http
	// is told of the end where more bytes come.
	partDone framePart = iota
	partHead
	partSize // a chunk's size line
	partData
	partDataEnd // the end of line after a chunk
	partTrailer
)

// framingOf returns what follows the headers of resp.
func framingOf(resp *http.Response) framing {
	switch {
	case len(resp.TransferEncoding) > 0:
		return framing{part: partSize, chunked: true}
	case resp.ContentLength >= 0:
		return framing{part: partData, left: uint64(resp.ContentLength)}
	}
	return framing{part: partData, left: math.MaxUint64}
}

// takeAll takes what belongs to the response, n bytes, and counts its data. It
// stops after a chunk: at the last one net/http waits for the trailers, with the
// data before it in hand.
func (f *framing) takeAll(b []byte) (n, data int) {
	for n < len(b) && f.part != partDone && (data == 0 || f.part != partSize) {
		was := f.part
		m := f.take(b[n:])
		if n += m; was == partData {
			data += m
		}
	}
	return n, data
}

// take returns how many bytes at the front of b are of one run, and moves past
// them; 0 says that nothing more belongs to the response.
func (f *framing) take(b []byte) int {
	switch f.part {
	case partDone:
		return 0
	case partData:
		n := int(min(f.left, uint64(len(b))))
		if f.left -= uint64(n); f.left == 0 {
			f.part = partDone
			if f.chunked {
				f.part = partDataEnd
			}
		}
		return n
	}
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		f.line(b[:i])
		f.endLine()
		return i + 1
	}
	f.line(b)
	return len(b)
}

// line takes a part of a line.
func (f *framing) line(b []byte) {
	f.filled = f.filled || len(bytes.TrimRight(b, "\r")) > 0
	if f.part != partSize {
		return
	}
	for _, c := range b {
		digit, isHex := hexDigit(c)
		if f.sized = f.sized || !isHex; f.sized {
			return
		}
		f.left = f.left<<4 | uint64(digit)
	}
}

func (f *framing) endLine() {
	switch {
	case f.part == partDataEnd:
		f.part, f.left = partSize, 0
	case f.part == partSize && f.left == 0:
		f.part = partTrailer
	case f.part == partSize:
		f.part = partData
	case !f.filled: // the empty line after headers or trailers
		f.part = partDone
	}
	f.filled, f.sized = false, false
}

// ready returns how much data b begins with, after lines that are whole.
func (f framing) ready(b []byte) int {
	for len(b) > 0 && f.part != partData {
		n := f.take(b)
		if n == 0 {
			return 0
		}
		b = b[n:]
	}
	return int(min(f.left, uint64(len(b))))
}

func hexDigit(b byte) (byte, bool) {
	switch {
	case b-'0' <= 9:
		return b - '0', true
	case b|0x20-'a' <= 5:
		return b | 0x20 - 'a' + 10, true
	}
	return 0, false
}
