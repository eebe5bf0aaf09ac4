package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// maxEvidence is the queue of the writer: 5 MB at most.
const maxEvidence = 64

// EvidenceOptions configure an Evidence.
type EvidenceOptions struct {
	// Directory is created if it is missing. Others than its owner must not be able to read it.
	Directory string
	// Keep is the number of files of each result.
	Keep   int
	Logger *slog.Logger
}

// Evidence is a sink that keeps the latest wrong and the latest foreign answers, each in a file of its own. It never
// delays a probe: an answer that cannot be written is counted and left out.
type Evidence struct {
	options EvidenceOptions
	lock    *atomicfile.Lock
	queue   chan probe.WrongAnswer
	dropped atomic.Uint64
	// failing is true after a failed write, full after an answer found the queue full.
	failing bool
	full    atomic.Bool
}

var _ sink.Sink = (*Evidence)(nil)

// OpenEvidence creates and locks the directory. On a full disk it does neither, and writes as soon as there is room.
// Call Close, or let Run do it.
func OpenEvidence(o EvidenceOptions) (*Evidence, error) {
	e := &Evidence{options: o, queue: make(chan probe.WrongAnswer, maxEvidence)}
	err := e.makeDirectory()
	if err == nil {
		err = checkPrivate(o.Directory)
	}
	if err == nil {
		e.lock, err = atomicfile.LockDir(o.Directory)
	}
	if err != nil && !atomicfile.IsDiskFull(err) {
		return nil, err
	}
	o.Logger.Info("Keeping the texts of wrong answers", "directory", o.Directory, "files_of_each_result", o.Keep)
	return e, nil
}

func (e *Evidence) makeDirectory() error {
	err := os.Mkdir(e.options.Directory, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return fmt.Errorf("creating the directory of evidence: %w; the directory above it must exist and be writable", err)
}

func checkPrivate(directory string) error {
	info, err := os.Stat(directory)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q is not a directory; name another path", directory)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("other users have access to %q (mode %#o), which will contain answers: run chmod 700 on it, or name a directory that does not exist yet", directory, info.Mode().Perm())
	}
	return nil
}

// Close releases the lock.
func (e *Evidence) Close() {
	if e != nil {
		e.lock.Release()
	}
}

// Dropped returns the number of answers that are missing from the directory.
func (e *Evidence) Dropped() uint64 { return e.dropped.Load() }

// Add implements sink.Sink.
func (e *Evidence) Add(sink.Job) {}

// Remove implements sink.Sink.
func (e *Evidence) Remove(probe.Key) {}

// Observe queues a wrong answer if there is room.
func (e *Evidence) Observe(event probe.Event) {
	w, isWrong := event.(probe.WrongAnswer)
	if !isWrong {
		return
	}
	select {
	case e.queue <- w:
		e.full.Store(false)
	default:
		e.dropped.Add(1)
		if !e.full.Swap(true) {
			e.options.Logger.Error("The disk is too slow for the evidence of wrong answers: answers are missing from it", "directory", e.options.Directory)
		}
	}
}

// Run writes until ctx is done, and then the rest.
func (e *Evidence) Run(ctx context.Context) error {
	defer e.Close()
	for {
		select {
		case w := <-e.queue:
			e.write(&w)
		case <-ctx.Done():
			for len(e.queue) > 0 {
				w := <-e.queue
				e.write(&w)
			}
			return nil
		}
	}
}

// write writes a file. Probing continues if it fails; the log has the first error and the recovery.
func (e *Evidence) write(w *probe.WrongAnswer) {
	err := e.keep(w)
	if err != nil {
		e.dropped.Add(1)
		if !e.failing {
			e.options.Logger.Error("The evidence of wrong answers cannot be written: answers are missing from it", "err", err)
		}
	} else if e.failing {
		e.options.Logger.Info("The evidence of wrong answers is written again", "directory", e.options.Directory)
	}
	e.failing = err != nil
}

// keep writes the file of an answer. Before, it removes the oldest files of the same result, so that a full disk gets
// room. If the write then fails, the next one removes no further file.
func (e *Evidence) keep(w *probe.WrongAnswer) error {
	text, err := encodeEvidence(w)
	if err != nil {
		return err
	}
	if err := e.makeDirectory(); err != nil { // it may have been removed
		return err
	}
	result := string(w.Recall.Result)
	numbers, err := e.numbers(result)
	if err != nil {
		return err
	}
	for len(numbers) >= e.options.Keep {
		if err := os.Remove(e.path(result, numbers[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		numbers = numbers[1:]
	}
	next := 1
	if len(numbers) > 0 {
		next = numbers[len(numbers)-1] + 1
	}
	return atomicfile.Write(e.path(result, next), text, 0o600)
}

func (e *Evidence) path(result string, number int) string {
	return filepath.Join(e.options.Directory, fmt.Sprintf("%s-%06d.json", result, number))
}

// numbers returns the numbers of the files of a result, the oldest first. They do not depend on the clock, which may be
// set back.
func (e *Evidence) numbers(result string) (all []int, err error) {
	entries, err := os.ReadDir(e.options.Directory)
	if err != nil {
		return nil, fmt.Errorf("listing the evidence: %w", err)
	}
	for _, entry := range entries {
		name, isOf := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".json"), result+"-")
		n, err := strconv.Atoi(name)
		if isOf && err == nil && filepath.Base(e.path(result, n)) == entry.Name() {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}
