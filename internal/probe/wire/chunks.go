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
		if c.part == chunkSize && len(c.line) == 0 {
			if left, n := usualSize(b[i:]); n > 0 {
				c.begin(left, n)
				i += n
				continue
			}
		}
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
	c.begin(left, len(c.line))
	return c.excess <= maxExcess
}

// begin begins the data of a chunk after a size line of some bytes.
func (c *chunks) begin(left uint64, line int) {
	c.excess = max(c.excess+int64(line)-16-2*int64(left), 0)
	c.part, c.left, c.line = chunkData, left, c.line[:0]
}

// usualSize reads a size line that is complete and has only up to eight digits, as nearly all have, without copying it.
// n is its length in bytes, or 0 if it is another line.
func usualSize(b []byte) (size uint64, n int) {
	for ; n < min(len(b), 8); n++ {
		digit := hexDigit(b[n])
		if digit > 15 {
			break
		}
		size = size<<4 | digit
	}
	if size == 0 || !bytes.HasPrefix(b[n:], []byte("\r\n")) {
		return 0, 0
	}
	return size, n + len("\r\n")
}

// hexDigit returns the value of a digit; above 15 if it is none.
func hexDigit(c byte) uint64 {
	switch {
	case '0' <= c && c <= '9':
		return uint64(c - '0')
	case 'a' <= c && c <= 'f':
		return uint64(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return uint64(c-'A') + 10
	}
	return 16
}
