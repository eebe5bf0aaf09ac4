package sweep

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

func (p shardRun) result(c runfile.Cell) (x runfile.Result, ok bool) {
	i := slices.IndexFunc(p.Run.Results, func(x runfile.Result) bool { return x.Cell() == c })
	if i < 0 {
		return x, false
	}
	return p.Run.Results[i], true
}

// mergeCell joins the results of a cell, which at least one shard measured. Unreached gives the
// reason for a missing part of the load.
func mergeCell(c runfile.Cell, parts []shardRun, whole *runfile.Run, judge stats.Judge) runfile.Result {
	var all []runfile.Result
	var why, below []string
	lost, complete := "", slices.ContainsFunc(parts, func(p shardRun) bool {
		x, _ := p.result(c)
		return x.State == runfile.Complete
	})
	for _, p := range parts {
		x, ok := p.result(c)
		if !ok {
			why = append(why, fmt.Sprintf("%s did not measure it; continue its sweep with --resume (remove shard 0's file of this level in levels/ first, if it exists), and merge again", p.Run.Shard))
			continue
		}
		switch text := p.Run.NotReached(x); {
		case len(x.Lost) > 0: // every remaining shard reports it
			lost = text
		case x.Unreached != "":
			why = append(why, fmt.Sprintf("%s: %s", p.Run.Shard, text))
		case text != "": // a shard's part proves nothing about the whole
			below = append(below, fmt.Sprintf("%s: %s", p.Run.Shard, text))
		}
		if x.State == runfile.Interrupted || x.State == runfile.EndedEarly && complete {
			why = append(why, fmt.Sprintf("%s did not complete it: %s", p.Run.Shard, x.Why))
		}
		x.Shift(p.offset())
		all = append(all, x)
	}
	if text := describeSkew(all); text != "" {
		why = append(why, text)
	}
	if lost != "" {
		why = []string{lost}
	}
	x := all[0]
	early := x.Verdict
	for _, o := range all[1:] {
		x.Merge(o)
	}
	if why == nil && whole.NotReached(x) != "" {
		why = below // these causes are not visible in the sum
	}
	x.Unreached = strings.Join(why, "; ")
	x.Verdict = conclude(whole, x, judge, early)
	return x
}

// conclude judges a merged result. If the shards ended the level early, their common verdict
// stays.
func conclude(whole *runfile.Run, x runfile.Result, judge stats.Judge, early *runfile.LevelVerdict) *runfile.LevelVerdict {
	if len(judge.Objectives) == 0 {
		return nil
	}
	v := judge.Conclude(whole, x)
	if v.Unjudged() || x.State != runfile.EndedEarly || early == nil {
		return v
	}
	if x.GaveUp() {
		v.Confidence = 0
	}
	v.Met, v.Standing, v.Lost, v.Decided, v.Error = early.Met, early.Standing, early.Lost, early.Decided, early.Error
	return v
}

// describeSkew describes results that were not measured at the same time, whose loads do not
// add up. It returns "" if they were.
func describeSkew(all []runfile.Result) string {
	var first, begin, end, last time.Time // first and last of any shard, begin and end of all together
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
	together, whole := max(end.Sub(begin), 0), last.Sub(first)
	if together.Seconds() >= runfile.ReachedShare*whole.Seconds() {
		return ""
	}
	return fmt.Sprintf("the shards measured it at the same time for only %s of %s; run them with one barrier", together.Round(time.Millisecond), whole.Round(time.Millisecond))
}
