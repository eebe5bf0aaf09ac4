// Package store keeps what outlives a process: the histories of jobs and the turn log.
package store

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/klauspost/compress/zstd"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
)

// header starts the compressed content and holds its version.
const header = "synthetic history 3\n"

// mostJob and mostAll bound the history of a job and the content of a file, in bytes.
const mostJob, mostAll = 4 << 20, 1 << 30

// entry is the history of a job in a file.
type entry struct {
	Job     probe.Key
	History []byte
}

// DamagedError reports a file that cannot be used.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string { return e.Err.Error() }
func (e *DamagedError) Unwrap() error { return e.Err }

// Write replaces the file at path by the histories of jobs, in the order of the sequence. It
// leaves out a history larger than 4 MiB.
func Write(path string, jobs iter.Seq2[probe.Key, []byte]) error {
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("compressing the history: %w", err)
	}
	// Writing to the buffer never fails.
	_, _ = z.Write([]byte(header))
	to := gob.NewEncoder(z)
	for key, data := range jobs {
		if len(data) > 0 && len(data) <= mostJob {
			_ = to.Encode(entry{key, data})
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compressing the history: %w", err)
	}
	if err := atomicfile.Write(path, out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("saving the history: %w", err)
	}
	return nil
}

// Read returns the histories of a file; a missing file has none. If the content cannot be
// decoded, the error is a *DamagedError.
func Read(path string) (map[probe.Key][]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	defer f.Close()
	jobs, err := read(f)
	if err != nil {
		return nil, &DamagedError{fmt.Errorf("reading the history from %q: %w", path, err)}
	}
	return jobs, nil
}

func read(from io.Reader) (map[probe.Key][]byte, error) {
	z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	r := io.LimitReader(z, mostAll)
	begin := make([]byte, len(header))
	if _, err := io.ReadFull(r, begin); err != nil {
		return nil, fmt.Errorf("reading its header: %w", err)
	}
	if string(begin) != header {
		return nil, fmt.Errorf("it begins with %q, this binary reads %q", begin, header)
	}
	jobs, decoder := map[probe.Key][]byte{}, gob.NewDecoder(r)
	for {
		var next entry
		switch err := decoder.Decode(&next); {
		case errors.Is(err, io.EOF):
			return jobs, nil
		case err != nil:
			return nil, fmt.Errorf("job %d: %w", len(jobs)+1, err)
		}
		if len(next.History) > mostJob {
			return nil, fmt.Errorf("job %d: its history has %d bytes, more than %d", len(jobs)+1, len(next.History), mostJob)
		}
		jobs[next.Job] = next.History
	}
}
