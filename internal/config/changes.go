package config

import (
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/sidecar/sink"
)

// mostChange is the longest change window. Nothing is learned within one, so a
// window of years is a slip of the pen that nobody would notice.
const mostChange = 31 * day24

// mostWeekly is the longest window of every week: something must be learned between two of them.
const mostWeekly = 6 * day24

const day24 = 24 * time.Hour

// Change is a declared change window.
type Change struct {
	// Targets that it concerns; nil means all.
	Targets []string
	sink.Change
}

func (b *builder) changes(in []fileChange) []Change {
	var out []Change
	for i, f := range in {
		path := yamlform.Index("changes", i)
		b.selected(path+".targets", f.Targets, b.targetNames, "target", "targets")
		window := b.once
		if b.Has(path + ".weekly") {
			window = b.weekly
		}
		out = append(out, Change{f.Targets, window(path, f)})
	}
	return out
}

func (b *builder) once(path string, f fileChange) sink.Change {
	start, end := path+".start", path+".end"
	switch {
	case !b.Valid(path):
	case !b.Has(start) && !b.Has(end):
		b.Mistake(path, "", "has neither start and end nor weekly", "write for example start: 2026-12-01T10:00:00Z and end: 2026-12-01T11:30:00Z")
	case !b.Has(start):
		b.Mistake(start, "", "is missing beside end", "write when the window begins")
	case !b.Has(end):
		b.Mistake(end, "", "is missing beside start", "write when the window ends")
	case !f.End.After(f.Start.Time):
		b.Mistake(end, f.End.Format(time.RFC3339), "is not after start, which is "+f.Start.Format(time.RFC3339)+" in UTC", "write a later end, or swap the two")
	case f.End.Sub(f.Start.Time) > mostChange:
		b.Mistake(end, f.End.Format(time.RFC3339), "is more than "+model.Duration(mostChange).String()+" after start, and nothing would be learned for so long", "write an earlier end")
	}
	return sink.Change{From: f.Start.Time, To: f.End.Time, Relearn: f.Relearn}
}

// weekly resolves a window that comes back. Its first one is in the first week
// of 1970, so that there is one in every week that may come.
func (b *builder) weekly(path string, f fileChange) sink.Change {
	for _, key := range []string{"start", "end"} {
		if at := path + "." + key; b.Has(at) && b.Valid(at) {
			b.Mistake(at, "", "stands beside weekly, which it excludes", "keep one of the two")
		}
	}
	if f.Relearn {
		b.Mistake(path+".relearn", "", "has no meaning beside weekly: the usual level would be forgotten every week", "remove it")
	}
	from := time.Date(1970, time.January, 5, 0, 0, 0, 0, time.UTC).Add(f.Weekly.start)
	return sink.Change{From: from, To: from.Add(f.Weekly.length), Weekly: true}
}

// weekdays are the values of day, in the order of the week.
func weekdays() []string {
	return []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
}
