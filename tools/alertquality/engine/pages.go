package engine

import (
	"slices"
	"time"
)

// labelTarget is the label for the target of an alert. An alert without it is about the whole
// fleet or about the prober.
const labelTarget = "target"

// Page is a time during which at least one alert of a target fires without a break. Alertmanager
// groups by target, so a page is one notification.
type Page struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Alerts are the names of the alerts that fired, sorted.
	Alerts []string `json:"alerts"`
	// Target is "" for a page about the whole fleet.
	Target string `json:"target,omitempty"`
	// Incident is the name of the incident that the page belongs to; "" for a false page.
	Incident string `json:"incident,omitempty"`
	// SecondCall is true for a false page within half an hour after the end of an incident that
	// already had a page.
	SecondCall bool `json:"second_call,omitempty"`
}

func newPage(s Span) Page {
	return Page{Start: s.From.UTC(), End: s.To.UTC(), Alerts: []string{s.Alert}, Target: s.Labels.Get(labelTarget)}
}

// mergePages merges the spans of each target that overlap or touch. The spans must be sorted by
// From; the pages are sorted, too.
func mergePages(spans []Span) []Page {
	var pages []Page
	last := map[string]int{} // index of the target's last page
	for _, s := range spans {
		next := newPage(s)
		i, known := last[next.Target]
		if !known || next.Start.After(pages[i].End) {
			last[next.Target] = len(pages)
			pages = append(pages, next)
			continue
		}
		p := &pages[i]
		if next.End.After(p.End) {
			p.End = next.End
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

// firing says how long alerts fired, in hours, summed over targets.
type firing struct {
	Hours float64 `json:"hours_firing"`
	// FalseHours is the time outside all incidents and the 15 minutes after them. LongestFalse
	// is the longest such time without a break.
	FalseHours   float64 `json:"hours_firing_for_nothing"`
	LongestFalse float64 `json:"longest_hours_firing_for_nothing"`
	// LongestAlerts are the alerts that fired during LongestFalse.
	LongestAlerts []string `json:"longest_firing_for_nothing_alerts,omitempty"`
}

func (f *firing) add(pages []Page, incidents []Incident) {
	for _, p := range pages {
		f.Hours += p.End.Sub(p.Start).Hours()
		for _, part := range falseParts(p, incidents) {
			f.FalseHours += part.Hours()
			if part.Hours() > f.LongestFalse {
				f.LongestFalse, f.LongestAlerts = part.Hours(), p.Alerts
			}
		}
	}
}

// falseParts returns the parts of a page that lie outside all incidents of its target.
func falseParts(p Page, incidents []Incident) []time.Duration {
	about := incidentsOf(incidents, p.Target)
	slices.SortFunc(about, func(a, b Incident) int { return a.From.Compare(b.From) })
	var parts []time.Duration
	at := p.Start
	for _, i := range about {
		if i.From.After(at) && i.From.Before(p.End) {
			parts = append(parts, i.From.Sub(at))
		}
		if end := i.To.Add(Grace); i.From.Before(p.End) && end.After(at) {
			at = end
		}
	}
	if at.Before(p.End) {
		parts = append(parts, p.End.Sub(at))
	}
	return parts
}
