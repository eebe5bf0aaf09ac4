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

// readChanges resolves the change windows, and adds each to the jobs that it covers.
func readChanges(r *reader, in []fileChange, jobs []fleet.Job) []fleet.Change {
	var out []fleet.Change
	pairs := 0
	for i, f := range in {
		path := yamlform.Index("changes", i)
		checkSelected(r, path+".targets", f.Targets, &r.targets)
		window := singleWindow
		if r.Has(path + ".weekly") {
			window = weeklyWindow
		}
		change := window(r, path, f)
		out = append(out, change)
		for _, n := range coveredJobs(jobs, f.Targets, nil) {
			if pairs++; pairs <= maxCovered {
				change.Location = jobs[n].Location
				jobs[n].Changes = append(jobs[n].Changes, change)
			}
		}
	}
	checkCovered(r, "changes", pairs)
	return out
}

func singleWindow(r *reader, path string, f fileChange) fleet.Change {
	start, end := path+".start", path+".end"
	switch {
	case !r.Valid(path):
	case !r.Has(start) && !r.Has(end):
		r.Mistake(path, "", "has neither start and end nor weekly", "write for example start: 2026-12-01T10:00:00Z and end: 2026-12-01T11:30:00Z")
	case !r.Has(start):
		r.Mistake(start, "", "is missing", "write when the window begins")
	case !r.Has(end):
		r.Mistake(end, "", "is missing", "write when the window ends")
	case !f.End.After(f.Start.Time):
		r.Mistake(end, f.End.Format(time.RFC3339), "is not after start, which is "+f.Start.Format(time.RFC3339)+" in UTC", "write a later end, or swap the two")
	case f.End.Sub(f.Start.Time) > maxChange:
		r.Mistake(end, f.End.Format(time.RFC3339), "is more than "+model.Duration(maxChange).String()+" after start, and nothing would be learned for so long", "write an earlier end")
	}
	return fleet.Change{From: f.Start.Time, To: f.End.Time, Relearn: f.Relearn}
}

// weeklyWindow resolves a repeated window. The first one is in the first week of 1970, so that every
// later week has one. The time zone of each target applies.
func weeklyWindow(r *reader, path string, f fileChange) fleet.Change {
	for _, key := range []string{"start", "end"} {
		if at := path + "." + key; r.Has(at) && r.Valid(at) {
			r.Mistake(at, "", "cannot be combined with weekly", "keep one of the two")
		}
	}
	if f.Relearn {
		r.Mistake(path+".relearn", "", "cannot be combined with weekly: the baseline would be forgotten every week", "remove it")
	}
	from := time.Date(1970, time.January, 5, 0, 0, 0, 0, time.UTC).Add(f.Weekly.start) // a Monday
	return fleet.Change{From: from, To: from.Add(f.Weekly.length), Weekly: true}
}

func weekdays() []string {
	return []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
}
