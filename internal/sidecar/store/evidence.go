package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// maxEvidence is the queue of the writer: 5 MB at most.
const maxEvidence = 64

// EvidenceOptions configure an Evidence.
type EvidenceOptions struct {
	// Directory is created if it is missing. Others than its owner must not be able to read it (see makePrivate).
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
		err = makePrivate(o.Directory, o.Logger)
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

// keep writes the file of an answer, and then removes the oldest files of the same result. Only on a full disk it first removes
// a file, if the new one would replace it; if the write then fails again, the next one removes no further file.
func (e *Evidence) keep(w *probe.WrongAnswer) error {
	text, err := encodeEvidence(w)
	if err != nil {
		return err
	}
	if err := e.makeDirectory(); err != nil { // it may have been removed
		return err
	}
	files, err := e.files(string(w.Recall.Result))
	if err != nil {
		return err
	}
	next := 1
	if len(files) > 0 {
		next = files[len(files)-1].number + 1
	}
	path := filepath.Join(e.options.Directory, evidenceName{string(w.Recall.Result), next, w.SpanID}.String())
	err = atomicfile.Write(path, text, 0o600)
	if err != nil && atomicfile.IsDiskFull(err) && len(files) >= e.options.Keep {
		if err := e.removeOldest(files, e.options.Keep-1); err != nil {
			return err
		}
		return atomicfile.Write(path, text, 0o600)
	}
	if err != nil {
		return err
	}
	return e.removeOldest(files, e.options.Keep-1)
}

// removeOldest removes files until at most left are left.
func (e *Evidence) removeOldest(files []evidenceName, left int) error {
	for ; len(files) > left; files = files[1:] {
		err := os.Remove(filepath.Join(e.options.Directory, files[0].String()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the oldest evidence: %w", err)
		}
	}
	return nil
}

// files returns the files of a result, the oldest first. Their order does not depend on the clock, which may be set back.
func (e *Evidence) files(result string) (all []evidenceName, err error) {
	entries, err := os.ReadDir(e.options.Directory)
	if err != nil {
		return nil, fmt.Errorf("listing the evidence: %w", err)
	}
	for _, entry := range entries {
		if name, isEvidence := parseEvidenceName(entry.Name()); isEvidence && name.result == result {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b evidenceName) int { return cmp.Compare(a.number, b.number) })
	return all, nil
}
