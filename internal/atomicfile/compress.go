package atomicfile

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// Compress returns a fast compressor that needs little memory. Everything before a flush can be
// decompressed even if the rest of the file is lost.
func Compress(to io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(to,
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
}
