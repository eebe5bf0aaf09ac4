package config

import (
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/fleet"
)

const (
	day = 24 * time.Hour
	// maxChange is the longest change window. Nothing is learned during one, so a window of years
	// would be a mistake that nobody notices.
	maxChange = 31 * day
	// maxWeekly is the longest window of every week: there must be time to learn between two of them.
	maxWeekly = 6 * day
)

// Change is a declared change window. Targets is nil for all targets.
type Change struct {
	Targets []string
	fleet.Change
}

func (b *builder) changes(in []fileChange) []Change {
	var out []Change
	for i, f := range in {
		path := yamlform.Index("changes", i)
		b.selected(path+".targets", f.Targets, &b.targetNames)
		window := b.singleWindow
		if b.Has(path + ".weekly") {
			window = b.weeklyWindow
		}
		out = append(out, Change{f.Targets, window(path, f)})
	}
	return out
}

func (b *builder) singleWindow(path string, f fileChange) fleet.Change {
	start, end := path+".start", path+".end"
	switch {
	case !b.Valid(path):
	case !b.Has(start) && !b.Has(end):
		b.Mistake(path, "", "has neither start and end nor weekly", "write for example start: 2026-12-01T10:00:00Z and end: 2026-12-01T11:30:00Z")
	case !b.Has(start):
		b.Mistake(start, "", "is missing", "write when the window begins")
	case !b.Has(end):
		b.Mistake(end, "", "is missing", "write when the window ends")
	case !f.End.After(f.Start.Time):
		b.Mistake(end, f.End.Format(time.RFC3339), "is not after start, which is "+f.Start.Format(time.RFC3339)+" in UTC", "write a later end, or swap the two")
	case f.End.Sub(f.Start.Time) > maxChange:
		b.Mistake(end, f.End.Format(time.RFC3339), "is more than "+model.Duration(maxChange).String()+" after start, and nothing would be learned for so long", "write an earlier end")
	}
	return fleet.Change{From: f.Start.Time, To: f.End.Time, Relearn: f.Relearn}
}

// weeklyWindow resolves a repeated window. The first one is in the first week of 1970, so that every
// later week has one. The time zone of each target applies.
func (b *builder) weeklyWindow(path string, f fileChange) fleet.Change {
	for _, key := range []string{"start", "end"} {
		if at := path + "." + key; b.Has(at) && b.Valid(at) {
			b.Mistake(at, "", "cannot be combined with weekly", "keep one of the two")
		}
	}
	if f.Relearn {
		b.Mistake(path+".relearn", "", "cannot be combined with weekly: the baseline would be forgotten every week", "remove it")
	}
	from := time.Date(1970, time.January, 5, 0, 0, 0, 0, time.UTC).Add(f.Weekly.start) // a Monday
	return fleet.Change{From: from, To: from.Add(f.Weekly.length), Weekly: true}
}

func weekdays() []string {
	return []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
}
