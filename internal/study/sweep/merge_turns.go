package sweep

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// shardLog reads the turns of a shard, by its own clock. turn is the next one, by the clock of
// shard 0; nil after the last.
type shardLog struct {
	shardRun
	Next turnlog.Next
	turn *turnlog.Turn
}

func (h *shardLog) advance() (err error) {
	if h.turn, err = h.Next(); errors.Is(err, io.EOF) {
		h.turn, err = nil, nil
	}
	if h.turn != nil {
		h.turn.At = h.turn.At.Add(h.offset())
	}
	return err
}

// mergeTurns writes the turns of all shards as one log. It holds one turn of each shard in
// memory. It also sets the largest numbers of turns in flight in the merged run, which only the
// merged turns give.
func mergeTurns(to io.Writer, logs []*shardLog, whole *runfile.Run) error {
	for _, l := range logs {
		if err := l.advance(); err != nil {
			return err
		}
	}
	var flight inFlight
	var line []byte
	for h := earliest(logs); h != nil; h = earliest(logs) {
		if err := checkDuplicate(h, logs); err != nil {
			return err
		}
		flight.add(h.turn)
		line = h.turn.Append(line[:0])
		if _, err := to.Write(line); err != nil {
			return fmt.Errorf("writing turns: %w", err)
		}
		if err := h.advance(); err != nil {
			return err
		}
	}
	flight.setPeaks(whole)
	return nil
}

func earliest(logs []*shardLog) (first *shardLog) {
	for _, h := range logs {
		if h.turn != nil && (first == nil || h.turn.At.Before(first.turn.At)) {
			first = h
		}
	}
	return first
}

func checkDuplicate(h *shardLog, logs []*shardLog) error {
	t := h.turn
	for _, o := range logs {
		if u := o.turn; o == h || u == nil || u.Study == nil || t.Study == nil || u.Target != t.Target || u.TTFT != t.TTFT || u.Duration != t.Duration || *u.Study != *t.Study {
			continue
		}
		return fmt.Errorf("%s and %s have the same turn (turn %d of conversation %s, sent at %s), but each shard has turns of its own: name each directory once", h.Dir, o.Dir, t.Study.Index, t.Study.Conversation, t.At.Format(time.RFC3339Nano))
	}
	return nil
}

// inFlight holds the starts and ends of turns in nanoseconds.
type inFlight struct{ starts, ends []int64 }

func (f *inFlight) add(t *turnlog.Turn) {
	f.starts = append(f.starts, t.At.UnixNano())
	f.ends = append(f.ends, t.At.Add(t.TotalDuration()).UnixNano())
}

// setPeaks sets InFlightMax of every snapshot in which all shards measured the turns in flight.
func (f *inFlight) setPeaks(run *runfile.Run) {
	slices.Sort(f.starts)
	slices.Sort(f.ends)
	for i := range run.Results {
		for j := range run.Results[i].Snapshots {
			if s := &run.Results[i].Snapshots[j]; s.InFlightEnd != nil {
				most := f.peak(s.Started.UnixNano(), s.End().UnixNano())
				s.InFlightMax = &most
			}
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
