package backtest

import (
	"slices"
	"time"
)

// labelTarget says which deployment an alert is about. An alert without it is
// about the whole fleet, or about the prober.
const labelTarget = "target"

// Page is a time in which at least one alert of a pager fired for a target,
// without a break. Alertmanager groups by target, so one page is one call.
type Page struct {
	From, To time.Time
	// Target is "" for a page about the whole fleet.
	Target string
	// Alerts are the names of those that fired, sorted.
	Alerts []string
}

// Pages merges the spans of each target that overlap or touch. If alert is not
// "", only spans of that alert count. The spans, and the pages, are in order of
// From.
func Pages(spans []Span, alert string) []Page {
	var pages []Page
	last := map[string]int{} // by target
	for _, s := range spans {
		if alert != "" && s.Alert != alert {
			continue
		}
		target := s.Labels.Get(labelTarget)
		i, known := last[target]
		if !known || s.From.After(pages[i].To) {
			last[target] = len(pages)
			pages = append(pages, Page{s.From, s.To, target, []string{s.Alert}})
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

// covers reports whether what is about one target, "" for all of them, is about
// another, too.
func covers(a, b string) bool { return a == "" || b == "" || a == b }
