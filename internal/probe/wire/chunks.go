package wire

import (
	"errors"
	"strings"
)

// chunks removes the framing of a chunked body. net/http can do that too, but needs two calls for each event of
// a stream. So net/http reads only what chunks does not know: the last chunk with the trailers, and size lines
// with anything but digits.
type chunks struct {
	part chunkPart
	left uint64 // bytes left of the chunk
	// line is the size line so far, for net/http.
	line []byte
}

type chunkPart uint8

const (
	chunkSize    chunkPart = iota
	chunkSizeEnd           // after the CR of a size line
	chunkData
	chunkDataCR // before the line end after a chunk
	chunkDataLF
)

// maxSizeDigits keeps sizes far below an overflow. net/http accepts 16 digits.
const maxSizeDigits = 15

// errChunk has the text of net/http's error.
var errChunk = errors.New("malformed chunked encoding")

// strip moves the data of b to its front and returns their number of bytes. If rest is not nil, net/http has to
// read on, from the size line that rest begins with. A chunk that is longer than its size is an error, which
// comes with the data before it.
func (c *chunks) strip(b []byte) (data int, rest []byte, err error) {
	for i := 0; i < len(b); {
		switch {
		case c.part == chunkData:
			n := int(min(c.left, uint64(len(b)-i)))
			copy(b[data:], b[i:i+n])
			data, i, c.left = data+n, i+n, c.left-uint64(n)
			if c.left == 0 {
				c.part = chunkDataCR
			}
			continue
		case c.part == chunkDataCR && b[i] == '\r':
			c.part = chunkDataLF
		case c.part == chunkDataLF && b[i] == '\n':
			c.part = chunkSize
		case c.part == chunkDataCR || c.part == chunkDataLF:
			return data, nil, errChunk
		case !c.sizeByte(b[i]):
			return data, append(c.line, b[i:]...), nil
		}
		i++
	}
	return data, nil, nil
}

// sizeByte adds a byte of a size line. It returns false if net/http has to read the line.
func (c *chunks) sizeByte(b byte) bool {
	digit := strings.IndexByte("0123456789ABCDEFabcdef", b)
	if digit >= 16 { // a lower-case letter
		digit -= 6
	}
	switch {
	case c.part == chunkSize && digit >= 0 && len(c.line) < maxSizeDigits:
		c.left = c.left<<4 | uint64(digit)
	case c.part == chunkSize && b == '\r' && c.left > 0:
		c.part = chunkSizeEnd
	case c.part == chunkSizeEnd && b == '\n':
		c.part, c.line = chunkData, c.line[:0]
		return true
	default:
		return false
	}
	c.line = append(c.line, b)
	return true
}
