package metrics

import (
	"slices"
	"time"

	"synthetic/internal/sidecar/sink"
)

// A target has series of its latest changesShown changes that are not older than changeAge.
const (
	changesShown = 3
	changeAge    = 24 * time.Hour
)

// changes returns the changes that may have series, the latest first; none if they are not gathered.
func (r *Recorder) changes(e *exposition) []sink.Mark {
	if e.families[Change] == nil {
		return nil
	}
	marks := slices.DeleteFunc(r.options.Marks.All(), func(m sink.Mark) bool { return !m.IsChange() || e.now.Sub(m.At) > changeAge })
	slices.SortStableFunc(marks, func(a, b sink.Mark) int { return b.At.Compare(a.At) })
	return marks
}

// gatherChanges adds the latest changes of a target. Of changes with the same text, the latest counts. The consequence
// of a fault is left out while the fault lasts, because alerts would name it as the cause.
func gatherChanges(e *exposition, l labels, target string, changes []sink.Mark, faults []time.Time) {
	var shown []string
	for _, m := range changes {
		if len(shown) == changesShown {
			return
		}
		if m.Concerns(target) && !slices.Contains(shown, m.Text) && !slices.ContainsFunc(faults, m.IsConsequence) {
			shown = append(shown, m.Text)
			e.add(Change, l.with(LabelChange, m.Text), unixSeconds(m.At))
		}
	}
}
