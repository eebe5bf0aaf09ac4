package backtest

import (
	"slices"
	"time"
)

// Firing says how long alerts fired, in hours, summed over targets.
type Firing struct {
	Hours float64 `json:"hours_firing"`
	// FalseHours is the time outside all incidents and the 15 minutes after them. LongestFalse
	// is the longest such time without a break.
	FalseHours   float64 `json:"hours_firing_for_nothing"`
	LongestFalse float64 `json:"longest_hours_firing_for_nothing"`
	// LongestAlerts are the alerts that fired during LongestFalse.
	LongestAlerts []string `json:"longest_firing_for_nothing_alerts,omitempty"`
}

// add adds the pages of a run with the given incidents.
func (f *Firing) add(pages []page, incidents []Incident) {
	for _, p := range pages {
		f.Hours += p.To.Sub(p.From).Hours()
		for _, piece := range outside(p, incidents) {
			f.FalseHours += piece.Hours()
			if piece.Hours() > f.LongestFalse {
				f.LongestFalse, f.LongestAlerts = piece.Hours(), p.Alerts
			}
		}
	}
}

// outside returns the parts of a page that lie outside all incidents of its target.
func outside(p page, incidents []Incident) []time.Duration {
	about := slices.DeleteFunc(slices.Clone(incidents), func(i Incident) bool { return !sameTarget(p.Target, i.Target) })
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
