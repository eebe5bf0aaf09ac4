package sweep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// describeSkew describes parts of a level that were not measured at the same time, whose loads do
// not add up. It returns "" if they were. Parts of a counted number of conversations end at their own
// times, so only their beginnings are compared.
func describeSkew(all []runfile.Result, counted bool) string {
	var first, begin, end, last time.Time // first and last of any part, begin and end of all together
	for _, x := range all {
		if len(x.Snapshots) == 0 {
			continue
		}
		from, to := x.Snapshots[0].Started, x.Snapshots[len(x.Snapshots)-1].End()
		if first.IsZero() {
			first, begin, end, last = from, from, to, to
		}
		first, last = runfile.Earlier(first, from), runfile.Later(last, to)
		begin, end = runfile.Later(begin, from), runfile.Earlier(end, to)
	}
	if counted {
		end = last
	}
	together, whole := max(end.Sub(begin), 0), last.Sub(first)
	tolerated := (1 - runfile.ReachedShare) * whole.Seconds()
	if (whole - together).Seconds() <= tolerated {
		return ""
	}
	why := "a process ended early"
	if begin.Sub(first).Seconds() > tolerated {
		why = "a clock was set in the meantime"
	}
	return fmt.Sprintf("the processes measured it at the same time for only %s of %s; %s", together.Round(time.Millisecond), whole.Round(time.Millisecond), why)
}

// partLog reads the turns of a part of a level. offset is added to their times.
type partLog struct {
	path   string
	offset time.Duration
	next   turnlog.Next
	turn   *turnlog.Turn // the next one; nil after the last
}

func (h *partLog) advance() (err error) {
	if h.turn, err = h.next(); errors.Is(err, io.EOF) {
		h.turn, err = nil, nil
	}
	if h.turn != nil {
		h.turn.At = h.turn.At.Add(h.offset)
	}
	return err
}

// mergeLogs merges turn logs into a new file at path, which may be one of them. It sets the largest
// numbers of turns in flight of the result.
func mergeLogs(path string, logs []partLog, r *runfile.Result) (err error) {
	for i := range logs {
		file, err := os.Open(logs[i].path)
		if err != nil {
			return err
		}
		defer file.Close()
		from, err := turnlog.NewReader(logs[i].path, file)
		if err != nil {
			return err
		}
		defer from.Close()
		logs[i].next = from.NextLine
	}
	temp := filepath.Join(filepath.Dir(path), atomicfile.TempPrefix+filepath.Base(path))
	file, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // fails after the rename, as intended
	pack, err := turnlog.Compress(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(mergeTurns(pack, logs, r), pack.Close(), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// mergeTurns writes the turns of all parts in the order of their times. It holds one turn of each
// part in memory.
func mergeTurns(to io.Writer, logs []partLog, r *runfile.Result) error {
	for i := range logs {
		if err := logs[i].advance(); err != nil {
			return err
		}
	}
	var flight inFlight
	var line []byte
	for h := earliest(logs); h != nil; h = earliest(logs) {
		flight.add(h.turn)
		line = h.turn.Append(line[:0])
		if _, err := to.Write(line); err != nil {
			return err
		}
		if err := h.advance(); err != nil {
			return err
		}
	}
	flight.setPeaks(r)
	return nil
}

func earliest(logs []partLog) (first *partLog) {
	for i := range logs {
		if h := &logs[i]; h.turn != nil && (first == nil || h.turn.At.Before(first.turn.At)) {
			first = h
		}
	}
	return first
}

// inFlight holds the starts and ends of turns in nanoseconds.
type inFlight struct{ starts, ends []int64 }

func (f *inFlight) add(t *turnlog.Turn) {
	f.starts = append(f.starts, t.At.UnixNano())
	f.ends = append(f.ends, t.At.Add(t.TotalDuration()).UnixNano())
}

// setPeaks sets InFlightMax of every snapshot in which all parts measured the turns in flight.
func (f *inFlight) setPeaks(r *runfile.Result) {
	slices.Sort(f.starts)
	slices.Sort(f.ends)
	for j := range r.Snapshots {
		if s := &r.Snapshots[j]; s.InFlightEnd != nil {
			most := f.peak(s.Started.UnixNano(), s.End().UnixNano())
			s.InFlightMax = &most
		}
	}
}

// peak returns the largest number in flight between two times. A turn that ends when another
// begins is not in flight with it.
func (f *inFlight) peak(from, to int64) int {
	b, _ := slices.BinarySearch(f.starts, from+1)
	e, _ := slices.BinarySearch(f.ends, from+1)
	highest := b - e
	for ; b < len(f.starts) && f.starts[b] < to; b++ {
		for e < len(f.ends) && f.ends[e] <= f.starts[b] {
			e++
		}
		highest = max(highest, b+1-e)
	}
	return highest
}
