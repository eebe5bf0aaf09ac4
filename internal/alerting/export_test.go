package alerting

import (
	"context"
)

// Hand drives a Pager that does not run step by step, so that a day can pass in minutes.
type Hand struct{ *Pager }

// Round advances the clock by an interval, scrapes, and evaluates the groups that are due.
func (h Hand) Round(ctx context.Context) {
	h.clock.base = h.clock.base.Add(h.options.Interval)
	h.round(ctx)
}

// Failures returns the errors of the last evaluations.
func (h Hand) Failures() (errs []error) {
	for _, g := range h.Groups() {
		for _, r := range g.Rules() {
			if err := r.LastError(); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// Reload puts rules into force.
func (p *Pager) Reload(text []byte) error {
	commit, err := p.Prepare(text)
	if err == nil {
		commit()
	}
	return err
}
