package engine

import (
	"slices"
	"time"
)

// Page is a time during which at least one alert of a target fires without a break. Alertmanager groups by target,
// so a page is one notification.
type Page struct {
	Start time.Time `json:"from"`
	End   time.Time `json:"to"`
	// Alerts are the names of the alerts that fired, sorted.
	Alerts []string `json:"alerts"`
	// Target is "" for a page about the prober.
	Target string `json:"target"`
	// Incident is the name of the incident that the page belongs to; "" for a false page.
	Incident string `json:"incident"`
	// SecondCall is true for a false page within half an hour after the end of an incident that already had a page.
	SecondCall bool `json:"second_call"`
}

// mergePages merges the spans of each target that overlap or touch. The spans must be sorted by From; the pages are
// sorted, too.
func mergePages(spans []Span) []Page {
	var pages []Page
	last := map[string]int{} // index of the target's last page
	for _, s := range spans {
		target := s.Labels.Get("target")
		i, known := last[target]
		if !known || s.From.After(pages[i].End) {
			last[target] = len(pages)
			pages = append(pages, Page{Start: s.From, End: s.To, Alerts: []string{s.Alert}, Target: target})
			continue
		}
		p := &pages[i]
		if s.To.After(p.End) {
			p.End = s.To
		}
		if at, found := slices.BinarySearch(p.Alerts, s.Alert); !found {
			p.Alerts = slices.Insert(p.Alerts, at, s.Alert)
		}
	}
	return pages
}
