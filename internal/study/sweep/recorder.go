package sweep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// packed is what the turns of a cell are called behind its name.
const turnsSuffix = ".jsonl.zst"

// recorder writes every turn of a cell, in the format of package turnlog. Turns
// are taken in memory, for probing must not wait for a disk, and written at each
// look: a process that is killed loses a second of them. A nil one takes nothing.
type recorder struct {
	place  turnlog.Study // the same of all turns, but for their level
	levels []float64     // of the snapshots; those beyond have the last one's
	file   *os.File
	pack   *zstd.Encoder

	mu    sync.Mutex
	lines []byte
	err   error // the first of writing, after which nothing is taken
}

func newRecorder(path string, place turnlog.Study, levels []float64) (*recorder, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("keeping turns: %w", err)
	}
	pack, err := turnlog.Compress(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &recorder{place: place, levels: levels, file: file, pack: pack}, nil
}

// add takes a turn of a snapshot, counted from 0.
func (r *recorder) add(x probe.Result, phase turnlog.Phase, snapshot int) {
	if r == nil || x.Sent.IsZero() {
		return
	}
	t := turnlog.FromResult(x)
	s := r.place
	s.Level = r.levels[min(snapshot, len(r.levels)-1)]
	s.Phase, s.Conversation, s.Index, s.AnswerTTFT = phase, x.Conversation, x.Turn, x.AnswerTTFT
	t.Study = &s
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.lines = t.Append(r.lines)
	}
}

// flush writes what was taken.
func (r *recorder) flush() {
	if r == nil {
		return
	}
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

// close ends the file, which is on the disk then.
func (r *recorder) close() error {
	r.flush()
	if err := errors.Join(r.err, r.pack.Close(), r.file.Sync(), r.file.Close()); err != nil {
		return fmt.Errorf("keeping turns: %w", err)
	}
	return nil
}

// joinTurns makes one file of the turns of the cells that are in the run: packed
// files one after the other are one.
func (s *sweep) joinTurns() error {
	slices.SortStableFunc(s.kept, func(a, b *record) int { return a.Result.Started.Compare(b.Result.Started) })
	temp := s.store.path(atomicfile.TempPrefix + runfile.TurnsFile)
	to, err := os.Create(temp)
	if err != nil {
		return fmt.Errorf("keeping turns: %w", err)
	}
	defer os.Remove(temp) // fails once renamed, which is as it should be
	for _, rec := range s.kept {
		err = errors.Join(err, appendFile(to, s.store.path("levels", rec.Cell+turnsSuffix)))
	}
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return fmt.Errorf("keeping turns: %w", err)
	}
	return os.Rename(temp, s.store.path(runfile.TurnsFile))
}

// appendFile copies a file, if it is there: earlier versions kept no turns.
func appendFile(to io.Writer, path string) error {
	from, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, from)
	return err
}
