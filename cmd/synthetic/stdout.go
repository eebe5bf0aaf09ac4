package main

import (
	"io"
	"sync"
)

// checkedOutput is the standard output of a command. It keeps the first error of a write, because commands print
// their lines without looking for errors. It is safe for concurrent use.
type checkedOutput struct {
	io.Writer

	mu  sync.Mutex
	err error
}

// Write implements io.Writer.
func (o *checkedOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// failed returns the first error of a write.
func (o *checkedOutput) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
