package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// buffer is the size of the read buffer in bytes.
	buffer = 64 << 10
	// window bounds the memory of zstd in bytes.
	window = 64 << 20
)

// Decompress returns a reader of the plain bytes of r. The first bytes of r tell whether it is
// gzip, zstd or plain. closePlain frees the decompressor; it does not close r.
func Decompress(r io.Reader) (plain io.Reader, closePlain func(), err error) {
	b := bufio.NewReaderSize(r, buffer)
	head, _ := b.Peek(4) // the next read returns the error again
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, decompressError("gzip", err)
		}
		return z, func() { _ = z.Close() }, nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, nil, decompressError("zstd", err)
		}
		return z, z.Close, nil
	}
	return b, func() {}, nil
}

func decompressError(format string, err error) error {
	return fmt.Errorf("decompressing as %s: %w; copy the complete file", format, err)
}
