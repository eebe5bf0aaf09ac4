package wire

import (
	"bytes"
	"io"
	"net/http/httputil"
	"testing"
)

// FuzzChunks reads a body with chunks, and with net/http's reader from where chunks stops. The result must be that of
// net/http's reader alone, for every division of the bytes into reads.
func FuzzChunks(f *testing.F) {
	for _, text := range []string{
		"5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n",
		"05\r\nhello\r\n5;x=y\r\nhello\r\nA \r\n0123456789\r\n0\r\nX-A: 1\r\n\r\n",
		"5\r\nhello!\r\n", "5\r\nhello\n", "5\nhello\r\n", "\r\n", "5\r\nhel", "5\r", "fffffffffffffffff\r\nx",
		"0000000000000005\r\nhello\r\n00000000000000005\r\nhello\r\n", "g\r\n", "5\r\nhello\r\n5 5\r\nhello\r\n",
	} {
		f.Add([]byte(text), uint8(3))
		f.Add([]byte(text), uint8(64))
	}
	f.Fuzz(func(t *testing.T, raw []byte, size uint8) {
		want, wantErr := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(raw)))
		got, gotErr := readStripped(raw, int(size)+1)
		if !bytes.Equal(got, want) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("got %q, %v; net/http: %q, %v", got, gotErr, want, wantErr)
		}
	})
}

// readStripped reads a chunked body as Body does, with reads of a size.
func readStripped(raw []byte, size int) (data []byte, err error) {
	var c chunks
	for len(raw) > 0 {
		part := bytes.Clone(raw[:min(size, len(raw))])
		raw = raw[len(part):]
		n, rest, err := c.strip(part)
		data = append(data, part[:n]...)
		if err != nil {
			return data, err
		}
		if rest != nil {
			others, err := io.ReadAll(httputil.NewChunkedReader(io.MultiReader(bytes.NewReader(rest), bytes.NewReader(raw))))
			return append(data, others...), err
		}
	}
	return data, io.ErrUnexpectedEOF
}
