package alerting

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// Hand moves a Pager that does not run, so that a day can pass in minutes.
type Hand struct {
	*Pager
	rounds int
}

// NewHand takes the pager; its wall clock must be advanced along with it.
func NewHand(p *Pager) (*Hand, error) {
	_, err := p.start()
	return &Hand{Pager: p}, err
}

// Round lets an interval pass, and then scrapes and evaluates the groups that
// are due.
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

// Compact does what a running pager does every minute.
func (h *Hand) Compact(ctx context.Context) error { return h.store.tidy(ctx) }

// Failures are the errors of the last evaluations.
func (h *Hand) Failures() []error {
	var errs []error
	for _, r := range h.manager.Load().Rules() {
		if err := r.LastError(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// HeadSeries counts the series on the heap, those of the rules included.
func (h *Hand) HeadSeries() uint64 { return h.store.Head().NumSeries() }

// End stops the rule manager and closes the storage.
func (h *Hand) End() error {
	h.cancelRules()
	go h.manager.Load().Run()
	h.manager.Load().Stop()
	return h.Close()
}

var _ rules.GroupLoader = (*ruleFiles)(nil)
