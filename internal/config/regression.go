package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/sidecar/sink"
)

// month is what the rates of pages are counted in.
const month = 30 * day24

// Bounds of a rate of pages for nothing in a month. What is less cannot be told
// from a history of four weeks, and what is more nobody promises.
const leastFalsePages, mostFalsePages = 0.01, 100

// policy resolves what a regression is, for each of so many jobs: they share
// what the whole configuration may page for nothing.
func (b *builder) policy(r fileRegression, jobs int) sink.Policy {
	const page, ticket = "regression.page_ratio", "regression.ticket_ratio"
	switch {
	case !b.Valid(page, ticket) || r.TicketRatio <= r.PageRatio:
	case b.Has(ticket):
		b.Mistake(ticket, fmt.Sprint(r.TicketRatio), fmt.Sprintf("is above %s, which is %g", page, r.PageRatio), "write a lower one, or a higher "+page)
	default:
		b.Mistake(page, fmt.Sprint(r.PageRatio), fmt.Sprintf("is below %s, which is %g unless written", ticket, r.TicketRatio), "write "+ticket+", too")
	}
	return sink.Policy{
		PageRatio: r.PageRatio, PageFor: r.PageFor, TicketRatio: r.TicketRatio,
		FalsePages: float64(r.FalsePages) / float64(max(jobs, 1)), AcceptAfter: r.AcceptAfter,
	}
}

// rate is how often something may happen in a month of 30 days: 0.5/30d.
type rate float64

func (r *rate) Parse(_, text string) *yamlform.Mistake {
	const remedy = "write a number and the time that it is for, for example 0.5/30d"
	number, window, found := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	per, bad := model.ParseDuration(strings.TrimSpace(window))
	if !found || err != nil || bad != nil || per == 0 || math.IsNaN(n) {
		return yamlform.Bad(text, "is not a rate", remedy)
	}
	monthly := n * float64(month) / float64(per)
	if monthly < leastFalsePages || monthly > mostFalsePages {
		return yamlform.Bad(text, fmt.Sprintf("is not between %g/30d and %g/30d", leastFalsePages, float64(mostFalsePages)), remedy)
	}
	*r = rate(monthly)
	return nil
}

func (*rate) Describe() (string, map[string]any) {
	return "rate", map[string]any{"type": "string", "pattern": `^[0-9.]+ */ *[0-9]+(y|w|d|h|m|s|ms)([0-9]+(w|d|h|m|s|ms))*$`}
}
