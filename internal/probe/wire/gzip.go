package wire

import (
	"compress/gzip"
	"io"
)

// unzipper decompresses a stream. It waits for the first byte only when it is
// read, and takes no more of src than the bytes it returns need, so that the
// arrival of src stays that of the bytes returned.
type unzipper struct {
	src io.Reader
	zip *gzip.Reader
	err error
}

func (u *unzipper) Read(p []byte) (int, error) {
	if u.zip == nil && u.err == nil {
		u.zip, u.err = gzip.NewReader(u.src)
	}
	if u.err != nil {
		return 0, u.err
	}
	n, err := u.zip.Read(p)
	if n > 0 {
		err = nil // it comes again
	}
	return n, err
}
