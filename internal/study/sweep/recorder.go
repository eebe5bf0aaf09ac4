package sweep

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
)

// turnsSuffix follows the cell's name in the name of its turn log.
const turnsSuffix = ".jsonl.zst"

// The part of a level in which a turn ended. Tail turns ended after the measurement or were cut at its end.
const inWarmUp, inMeasurement, inTail = "warm_up", "measured", "tail"

// recorder writes every turn of a cell as a line of the turn log. It buffers turns in
// memory, because probing must not wait for a disk, and writes them every second. So a killed
// process loses about a second of turns. To add a turn to a nil recorder does nothing.
type recorder struct {
	place []probe.Field // equal for all turns
	file  *os.File
	pack  *zstd.Encoder

	mu    sync.Mutex
	lines []byte
	err   error // first write error; later turns are dropped
}

func newRecorder(path string, place ...probe.Field) (*recorder, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("keeping turns: %w", err)
	}
	pack, err := atomicfile.Compress(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &recorder{place: place, file: file, pack: pack}, nil
}

// add buffers a turn.
func (r *recorder) add(x *probe.Result, phase string) {
	if r == nil || x.Sent.IsZero() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.lines = x.AppendLine(r.lines, append(slices.Clip(r.place), probe.Field{Key: "phase", Value: phase})...)
	}
}

// flush writes the buffered turns.
func (r *recorder) flush() {
	r.mu.Lock()
	lines := r.lines
	r.lines = nil
	r.mu.Unlock()
	_, err := r.pack.Write(lines)
	if err = errors.Join(err, r.pack.Flush()); err != nil {
		r.mu.Lock()
		r.err = errors.Join(r.err, err)
		r.mu.Unlock()
	}
}

// close flushes and syncs the file.
func (r *recorder) close() error {
	r.flush()
	if err := errors.Join(r.err, r.pack.Close(), r.file.Sync(), r.file.Close()); err != nil {
		return fmt.Errorf("keeping turns: %w", err)
	}
	return nil
}
