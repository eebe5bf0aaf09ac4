package rules_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/metrics"
)

// accepting is a server that drafts so many tokens a minute and accepts a share
// of them.
func accepting(drafted, share float64) func(*house) {
	return saying(serverside.Reading{Complete: true, Speculation: serverside.Speculation{Counted: true, Drafted: drafted, Accepted: drafted * share}})
}

// averaging is a server that exports only an average.
func averaging(share float64) func(*house) {
	return saying(serverside.Reading{Complete: true, Speculation: serverside.Speculation{Acceptance: probe.Some(share)}})
}

func saying(r serverside.Reading) func(*house) {
	return all(func(p *prober) { p.server = func() serverside.Reading { return r } })
}

// speculationScenarios test alerts on server metrics.
func speculationScenarios() []scenario {
	const (
		collapse   = rules.AlertAcceptanceCollapse + " a"
		unreadable = rules.AlertServerMetricsUnreadable + " a"
	)
	usually := step{do: accepting(2000, 0.6), after: 3 * time.Hour}
	out := []scenario{
		{name: "acceptance collapses and comes back", steps: []step{
			usually,
			{do: accepting(2000, 0.1), after: 10 * time.Minute},
			{after: 20 * time.Minute, want: []string{collapse}},
			{do: accepting(2000, 0.6), after: 40 * time.Minute},
		}},
		{name: "acceptance falls to two thirds", steps: []step{
			usually, {do: accepting(2000, 0.4), after: 2 * time.Hour},
		}},
		{name: "a collapse of minutes", steps: []step{
			usually, {do: accepting(2000, 0.1), after: 8 * time.Minute}, {do: accepting(2000, 0.6), after: time.Hour},
		}},
		{name: "a collapse is not absorbed within hours", steps: []step{
			usually, {do: accepting(2000, 0.2), after: 6 * time.Hour, want: []string{collapse}},
		}},
		{name: "nothing is drafted any more", steps: []step{
			usually, {do: accepting(0, 0), after: 2 * time.Hour},
		}},
		{name: "too little is drafted to tell", steps: []step{
			usually, {do: accepting(50, 0), after: 2 * time.Hour},
		}},
		{name: "acceptance that was never worth much", steps: []step{
			{do: accepting(2000, 0.09), after: 3 * time.Hour}, {do: accepting(2000, 0.06), after: 2 * time.Hour},
		}},
		{name: "a drafter that never worked", steps: []step{
			{do: accepting(2000, 0.001), after: 40 * time.Minute, want: []string{collapse}},
		}},
		{name: "low acceptance without a history", steps: []step{
			{do: accepting(2000, 0.6), after: time.Hour}, {do: accepting(2000, 0.2), after: 50 * time.Minute},
		}},
		{name: "two probers read the same server", replicas: 2, steps: []step{
			usually, {do: accepting(2000, 0.1), after: 30 * time.Minute, want: []string{collapse}},
		}},
		{name: "one of two probers cannot read it", replicas: 2, steps: []step{
			usually,
			{do: func(h *house) { h.probers[1].server = func() serverside.Reading { return serverside.Reading{} } }, after: time.Hour},
		}},
		{name: "the server's metrics cannot be read", steps: []step{
			usually,
			{do: saying(serverside.Reading{}), after: time.Hour, want: []string{unreadable}},
			{do: accepting(2000, 0.6), after: 40 * time.Minute},
		}},
		{name: "the prober restarts in a healthy hour", steps: []step{
			usually, {do: all((*prober).restart), after: time.Hour},
		}},
		{name: "the prober restarts during a collapse", steps: []step{
			usually,
			{do: accepting(2000, 0.1), after: 30 * time.Minute, want: []string{collapse}},
			{do: all((*prober).restart), after: 20 * time.Minute, want: []string{collapse}},
		}},
		{name: "an average collapses and comes back", steps: []step{
			{do: averaging(0.7), after: 3 * time.Hour},
			{do: averaging(0.1), after: 35 * time.Minute, want: []string{collapse}},
			{do: averaging(0.7), after: 50 * time.Minute},
		}},
		{name: "an average of an idle server goes", steps: []step{
			{do: averaging(0.7), after: 3 * time.Hour},
			{do: saying(serverside.Reading{Complete: true}), after: time.Hour},
		}},
		{name: "an average on which few tokens stand", in: withJobs(rules.Job{Target: "a", Workload: "chat", TurnsPerMinute: 1, ConversationsPerMinute: 1}), steps: []step{
			{do: averaging(0.7), after: 3 * time.Hour}, {do: averaging(0.01), after: time.Hour},
		}},
		{name: "an average that is no number", steps: []step{
			{do: averaging(0.7), after: 3 * time.Hour}, {do: averaging(math.NaN()), after: time.Hour},
		}},
	}
	for i := range out {
		out[i].records = "synthetic-speculation"
	}
	return out
}

// TestRecordedAcceptance checks the recorded ratio of accepted and drafted tokens, by target.
func TestRecordedAcceptance(t *testing.T) {
	h := newHouse(t, usual(), 2)
	accepting(2000, 0.6)(h)
	h.run(3 * time.Hour)
	near(t, "acceptance", h.only(rules.RecordAcceptance), 0.6, 1e-6)
	near(t, "usual acceptance", h.only(rules.RecordUsualAcceptance), 0.6, 1e-6)
	for series := range h.query(rules.RecordAcceptance) {
		if series != `{__name__="`+rules.RecordAcceptance+`", target="a"}` {
			t.Errorf("its labels are not the target alone: %s", series)
		}
	}
	accepting(0, 0)(h)
	h.run(20 * time.Minute)
	if got := h.query(rules.RecordAcceptance); len(got) > 0 {
		t.Errorf("where nothing is drafted the acceptance is %v", got)
	}
}

// TestAcceptanceIsNeverNaN, though a counter of a broken exporter may be.
func TestAcceptanceIsNeverNaN(t *testing.T) {
	h := newHouse(t, usual(), 1)
	for range 60 {
		app := h.store.Appender(t.Context())
		for _, name := range []string{metrics.ServerDrafted, metrics.ServerAccepted, metrics.ServerAcceptance} {
			series := labels.FromStrings(model.MetricNameLabel, name, "target", "n", "instance", "x")
			if _, err := app.Append(0, series, h.now.UnixMilli(), math.NaN()); err != nil {
				t.Fatal(err)
			}
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
		h.run(scrapeInterval)
	}
	if got := slices.Collect(maps.Values(h.query(rules.RecordAcceptance))); len(got) > 0 {
		t.Errorf("recorded %v of series that are no numbers", got)
	}
	if got := h.firing(); len(got) > 0 {
		t.Errorf("%v fire on them", got)
	}
}

// TestWhatACollapseSays reads the ticket with a history and without.
func TestWhatACollapseSays(t *testing.T) {
	for name, tt := range map[string]struct {
		healthy time.Duration
		want    string
	}{
		"with a history":    {3 * time.Hour, "The server accepted 2% of the tokens that its drafter proposed in the last 15m; the baseline is 60%. Rejected drafts"},
		"without a history": {0, "The server accepted 2% of the tokens that its drafter proposed in the last 15m. Rejected drafts"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, usual(), 1)
			accepting(2000, 0.6)(h)
			h.run(tt.healthy)
			accepting(2000, 0.02)(h)
			h.run(30 * time.Minute)
			alerts := h.alerts()
			if len(alerts) != 1 {
				t.Fatalf("%v fire, want one alert", h.firing())
			}
			for key, want := range map[string]string{
				"summary":       "a: only 2% of the drafted tokens are accepted",
				"description":   tt.want,
				"dashboard_url": "https://grafana.example.org/d/synthetic-target-detail?var-target=a",
			} {
				if got := alerts[0].Annotations.Get(key); got != want && (key != "description" || !strings.HasPrefix(got, want)) {
					t.Errorf("%s reads %q, want %q", key, got, want)
				}
			}
		})
	}
}
