package alerting

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/rules"
)

// TestScrapeBeforeEvaluation checks that a scrape is a tenth of the interval before the next evaluation of the group
// that is evaluated once between two scrapes, whatever the phase of both.
func TestScrapeBeforeEvaluation(t *testing.T) {
	const interval = 15 * time.Second
	group := func(name string, every time.Duration, alerts ...rules.Rule) *rules.Group {
		return rules.NewGroup(rules.GroupOptions{Name: name, File: "synthetic", Interval: every, Rules: alerts, Opts: &rules.ManagerOptions{}})
	}
	alert := rules.NewAlertingRule("Up", nil, 0, 0, labels.EmptyLabels(), labels.EmptyLabels(), labels.EmptyLabels(), "", false, nil)
	for _, name := range []string{"a", "b", "c", "synthetic-page"} {
		once := group(name, interval, alert)
		groups := []*rules.Group{group("records", interval/3), group("slow", 2*time.Minute, alert), once}
		for second := range 40 {
			now := time.Date(2026, 11, 28, 4, 0, second, 0, time.UTC)
			wait := untilScrape(groups, interval, now)
			if wait < 0 || wait >= interval {
				t.Fatalf("%s at %v: waits %v", name, now, wait)
			}
			at := now.Add(wait)
			next := once.EvalTimestamp(at.UnixNano()).Add(interval)
			if lead := next.Sub(at); lead != interval/10 {
				t.Errorf("%s at %v: the scrape is %v before the evaluation", name, now, lead)
			}
		}
	}
	// The generated groups read each other's records, and their phases follow each other within two seconds.
	generated := []*rules.Group{group("synthetic-burn-pages", interval, alert), group("synthetic-incident", interval, alert), group("synthetic-slo", interval)}
	now := time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC)
	scrape := now.Add(untilScrape(generated, interval, now))
	for _, g := range generated {
		if age := (g.EvalTimestamp(now.UnixNano()).Sub(scrape)%interval + interval) % interval; age > interval/3 {
			t.Errorf("%s is evaluated %v after the scrape", g.Name(), age)
		}
	}
	if wait := untilScrape(nil, interval, time.Now()); wait != 0 {
		t.Errorf("without groups it waits %v", wait)
	}
}

// TestUrgentEvaluation: while it is urgent, an alert fires within a third of the interval, whenever its cause begins.
func TestUrgentEvaluation(t *testing.T) {
	const ruleText = `
groups:
  - name: page
    rules:
      - {alert: Up, expr: test_up > 0}
`
	synctest.Test(t, func(t *testing.T) {
		g, box := newGauge(t), &inbox{}
		urgent := atomic.Bool{}
		p := mustNew(t, Options{
			Gatherer: g.registry, RuleFiles: []RuleFile{{"rules.yml", []byte(ruleText)}}, Alertmanagers: []Alertmanager{{URL: address}},
			Now: box.now, Urgent: urgent.Load,
		})
		p.sendLoops[0].client.http = &http.Client{Transport: box}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		time.Sleep(time.Minute)
		// takes returns the longest time from a cause to its message, for causes in each second of the interval.
		takes := func() (longest time.Duration) {
			for range 15 {
				time.Sleep(61 * time.Second)
				before, began := len(box.all()), time.Now()
				g.set(1)
				time.Sleep(20 * time.Second)
				longest = max(longest, box.all()[before].at.Sub(began))
				g.set(0)
			}
			return longest
		}
		if calm := takes(); calm < 14*time.Second || calm > 17*time.Second {
			t.Errorf("an alert takes %v", calm)
		}
		urgent.Store(true)
		if longest := takes(); longest > 5*time.Second {
			t.Errorf("while it is urgent, an alert takes %v", longest)
		}
		if h := p.Health(); h.Missed != 0 || h.Failures != 0 {
			t.Errorf("%d evaluations were missed, %d failed", h.Missed, h.Failures)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
