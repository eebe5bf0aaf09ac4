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

// otherKind returns what a file that begins with head is instead of JSON or CSV, with the remedy, or "".
func otherKind(head []byte) string {
	for _, k := range []struct{ magic, kind string }{
		{"PAR1", "a Parquet file; convert it, for example with duckdb -c \"COPY (FROM 'x.parquet') TO 'x.jsonl'\""},
		{"ARROW1", "an Arrow file; convert it to JSON Lines"},
		{"PK\x03\x04", "a zip archive; unpack it"},
		{"7z\xbc\xaf", "a 7z archive; unpack it"},
		{"BZh", "compressed by bzip2; unpack it"},
		{"\xfd7zXZ", "compressed by xz; unpack it"},
		{"version https://git-lfs", "a pointer of Git LFS; run git lfs pull"},
		{"\xff\xfe", utf16}, {"\xfe\xff", utf16},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.kind
		}
	}
	switch start := bytes.ToLower(bytes.TrimSpace(head[:min(len(head), 256)])); {
	case bytes.HasPrefix(start, []byte("<!doctype html")), bytes.HasPrefix(start, []byte("<html")):
		return "an HTML page; download the file itself"
	case bytes.IndexByte(start, 0) >= 0:
		return utf16
	}
	return ""
}

const utf16 = "not in UTF-8; convert text in UTF-16 with iconv -f UTF-16 -t UTF-8"

func decompressError(format string, err error) error {
	return fmt.Errorf("decompressing as %s: %w; copy the complete file", format, err)
}
