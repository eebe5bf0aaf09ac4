package backtest

import (
	"slices"
	"time"
)

// Firing is for how long something fired, in hours, added up over targets.
type Firing struct {
	Hours float64 `json:"hours_firing"`
	// ForNothing are the hours outside of all incidents and the 15 minutes after
	// them, Longest the longest time of them without a break.
	ForNothing float64 `json:"hours_firing_for_nothing"`
	Longest    float64 `json:"longest_hours_firing_for_nothing"`
	// LongestAlerts are those that fired for the longest.
	LongestAlerts []string `json:"longest_firing_for_nothing_alerts,omitempty"`
}

// add takes pages of a run with these incidents.
func (f *Firing) add(pages []Page, incidents []Incident) {
	for _, p := range pages {
		f.Hours += p.To.Sub(p.From).Hours()
		for _, piece := range outside(p, incidents) {
			f.ForNothing += piece.Hours()
			if piece.Hours() > f.Longest {
				f.Longest, f.LongestAlerts = piece.Hours(), p.Alerts
			}
		}
	}
}

// outside are the pieces of a page that lie outside of all incidents that it can
// be about.
func outside(p Page, incidents []Incident) []time.Duration {
	about := slices.DeleteFunc(slices.Clone(incidents), func(i Incident) bool { return !covers(p.Target, i.Target) })
	slices.SortFunc(about, func(a, b Incident) int { return a.From.Compare(b.From) })
	var pieces []time.Duration
	at := p.From
	for _, i := range about {
		if i.From.After(at) && i.From.Before(p.To) {
			pieces = append(pieces, i.From.Sub(at))
		}
		if end := i.To.Add(Grace); i.From.Before(p.To) && end.After(at) {
			at = end
		}
	}
	if at.Before(p.To) {
		pieces = append(pieces, p.To.Sub(at))
	}
	return pieces
}
