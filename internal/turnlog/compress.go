package turnlog

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// Compress packs what is written to it, quickly and in little memory. What was
// flushed can be unpacked, whatever comes after it.
func Compress(to io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
}
