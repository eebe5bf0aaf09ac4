package wire

import (
	"bytes"
	"errors"
	"strconv"
)

// chunks removes the framing of a chunked body. net/http can do that too, but needs two calls for each event of
// a stream. So net/http reads only the last chunk with the trailers, and size lines that are wrong.
type chunks struct {
	part chunkPart
	left uint64 // bytes left of the chunk
	line []byte // the size line so far
	// excess counts bytes that are no data, as net/http does: extensions, and chunks that are too small.
	excess int64
}

type chunkPart uint8

const (
	chunkSize chunkPart = iota
	chunkData
	chunkDataCR // before the line end after a chunk
	chunkDataLF
)

const (
	// These are the limits of net/http.
	maxSizeLine, maxSizeDigits, maxExcess = 4096, 16, 16 << 10
)

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
			if c.excess > maxExcess {
				return data, nil, errChunk
			}
			return data, append(c.line, b[i+1:]...), nil
		}
		i++
	}
	return data, nil, nil
}

// sizeByte adds a byte of a size line. It returns false if net/http has to read the line.
func (c *chunks) sizeByte(b byte) bool {
	c.line = append(c.line, b)
	if b != '\n' {
		return len(c.line) < maxSizeLine
	}
	text, hasEnd := bytes.CutSuffix(c.line, []byte("\r\n"))
	digits, _, _ := bytes.Cut(bytes.TrimRight(text, " \t"), []byte(";"))
	left, err := strconv.ParseUint(string(digits), 16, 64)
	if !hasEnd || bytes.IndexByte(text, '\r') >= 0 || len(digits) > maxSizeDigits || err != nil || left == 0 {
		return false
	}
	c.excess = max(c.excess+int64(len(c.line))-16-2*int64(left), 0)
	c.part, c.left, c.line = chunkData, left, c.line[:0]
	return c.excess <= maxExcess
}
