package backtest

import (
	"slices"
	"time"
)

// labelTarget is the label for the target of an alert. An alert without it is about the whole
// fleet or about the prober.
const labelTarget = "target"

// page is a time during which at least one alert of a target fires without a break.
// Alertmanager groups by target, so a page is one notification.
type page struct {
	From, To time.Time
	// Target is "" for a page about the whole fleet.
	Target string
	// Alerts are the names of the alerts that fired, sorted.
	Alerts []string
}

// mergePages merges the spans of each target that overlap or touch. If alert is not "", it
// ignores all other alerts. The spans must be sorted by From; the pages are sorted, too.
func mergePages(spans []Span, alert string) []page {
	var pages []page
	last := map[string]int{} // index of the target's last page
	for _, s := range spans {
		if alert != "" && s.Alert != alert {
			continue
		}
		target := s.Labels.Get(labelTarget)
		i, known := last[target]
		if !known || s.From.After(pages[i].To) {
			last[target] = len(pages)
			pages = append(pages, page{s.From, s.To, target, []string{s.Alert}})
			continue
		}
		p := &pages[i]
		if s.To.After(p.To) {
			p.To = s.To
		}
		if at, found := slices.BinarySearch(p.Alerts, s.Alert); !found {
			p.Alerts = slices.Insert(p.Alerts, at, s.Alert)
		}
	}
	return pages
}

// sameTarget reports whether two targets are equal or one of them is "", which means all
// targets.
func sameTarget(a, b string) bool { return a == "" || b == "" || a == b }
