package alerting

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// Hand drives a Pager that does not run step by step, so that a day can pass in minutes.
type Hand struct {
	*Pager
	rounds int
}

// NewHand takes the pager; its wall clock must be advanced along with it.
func NewHand(p *Pager) (*Hand, error) {
	_, err := p.startManager()
	return &Hand{Pager: p}, err
}

// Round advances the clock by an interval, scrapes, and evaluates the groups that are due.
func (h *Hand) Round(ctx context.Context, evaluate bool) error {
	h.clock.base = h.clock.base.Add(h.options.Interval)
	h.rounds++
	if err := h.feed.scrape(ctx); err != nil {
		return err
	}
	passed := time.Duration(h.rounds) * h.options.Interval
	for _, g := range h.manager.Load().RuleGroups() {
		if evaluate && passed%g.Interval() == 0 {
			g.Eval(ctx, h.clock.now())
		}
	}
	h.states.expire()
	return nil
}

// Compact does the maintenance that a running pager does every minute.
func (h *Hand) Compact(ctx context.Context) error { return h.store.compact(ctx) }

// Failures returns the errors of the last evaluations.
func (h *Hand) Failures() []error {
	var errs []error
	for _, r := range h.manager.Load().Rules() {
		if err := r.LastError(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// HeadSeries returns the number of series on the heap, including those of the rules.
func (h *Hand) HeadSeries() uint64 { return h.store.Head().NumSeries() }

// End stops the rule manager and closes the storage.
func (h *Hand) End() error {
	h.cancelRules()
	go h.manager.Load().Run()
	h.manager.Load().Stop()
	return h.Close()
}

var _ rules.GroupLoader = (*ruleLoader)(nil)

// Reload puts rules into force.
func (p *Pager) Reload(files []RuleFile) error {
	commit, err := p.Prepare(files)
	if err == nil {
		commit()
	}
	return err
}
