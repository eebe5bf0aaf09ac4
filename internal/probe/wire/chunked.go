package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
)

// maxChunkLine bounds a chunk's size line with its extensions, in bytes.
const maxChunkLine = 4 << 10

// chunked decodes the chunked transfer coding, in place and byte by byte, so
// that a chunk may be split anywhere and nothing is buffered.
type chunked struct {
	state      chunkState
	left       uint64 // of the chunk, or its size while that is read
	line       int    // bytes of the size line
	trailer    []byte // everything after the last chunk
	maxTrailer int
}

type chunkState uint8

const (
	chunkSize chunkState = iota // the hex digits
	chunkPad                    // white space after them
	chunkExt                    // extensions, which are ignored
	chunkSizeLF
	chunkData
	chunkDataCR
	chunkDataLF
	chunkTrailer
	chunkEnd
)

func (c *chunked) want(n int) int { return n }

func (c *chunked) eof() error { return io.ErrUnexpectedEOF }

func (c *chunked) decode(p []byte) (n, used int, done bool, err error) {
	for used < len(p) && c.state != chunkEnd {
		if c.state == chunkData {
			m := copy(p[n:], p[used:used+int(min(uint64(len(p)-used), c.left))])
			n, used = n+m, used+m
			if c.left -= uint64(m); c.left == 0 {
				c.state = chunkDataCR
			}
			continue
		}
		if err := c.step(p[used]); err != nil {
			return n, used, false, fmt.Errorf("malformed chunked encoding: %w", err)
		}
		used++
	}
	return n, used, c.state == chunkEnd, nil
}

// step takes one byte that is not chunk data.
func (c *chunked) step(b byte) error {
	switch c.state {
	case chunkSize, chunkPad, chunkExt:
		return c.sizeLine(b)
	case chunkSizeLF:
		return c.endSizeLine(b)
	case chunkDataCR:
		return c.expect(b, '\r', chunkDataLF)
	case chunkDataLF:
		return c.expect(b, '\n', chunkSize)
	}
	return c.readTrailer(b)
}

// sizeLine takes a byte of a chunk's size line.
func (c *chunked) sizeLine(b byte) error {
	c.line++
	digit, isHex := hexDigit(b)
	switch {
	case c.line > maxChunkLine:
		return fmt.Errorf("a chunk's size line is over %d bytes", maxChunkLine)
	case c.state == chunkSize && isHex:
		if c.left>>60 != 0 {
			return errors.New("a chunk's size is too large")
		}
		c.left = c.left<<4 | uint64(digit)
	case c.line == 1:
		return fmt.Errorf("a chunk's size begins with %q", b)
	case b == '\r':
		c.state = chunkSizeLF
	case c.state == chunkExt && b != '\n', b == ';':
		c.state = chunkExt
	case b == ' ', b == '\t':
		c.state = chunkPad
	default:
		return fmt.Errorf("%q in a chunk's size", b)
	}
	return nil
}

func (c *chunked) endSizeLine(b byte) error {
	c.line = 0
	if c.left == 0 {
		return c.expect(b, '\n', chunkTrailer)
	}
	return c.expect(b, '\n', chunkData)
}

func (c *chunked) expect(b, want byte, next chunkState) error {
	if b != want {
		return fmt.Errorf("%q where %q belongs", b, want)
	}
	c.state = next
	return nil
}

// readTrailer takes a byte after the last chunk: fields, if any, and an empty
// line.
func (c *chunked) readTrailer(b byte) error {
	if len(c.trailer) >= c.maxTrailer {
		return fmt.Errorf("the trailers are over %d bytes", c.maxTrailer)
	}
	c.trailer = append(c.trailer, b)
	if b == '\n' && (string(c.trailer) == "\r\n" || bytes.HasSuffix(c.trailer, []byte("\r\n\r\n"))) {
		c.state = chunkEnd
	}
	return nil
}

// fields returns the trailer fields, nil if there are none.
func (c *chunked) fields() (http.Header, error) {
	if len(c.trailer) <= 2 {
		return nil, nil
	}
	h, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(c.trailer))).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("malformed trailers: %w", err)
	}
	return http.Header(h), nil
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
