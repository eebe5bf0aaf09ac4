package alerting

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/rules"
)

// TestScrapeBeforeEvaluation checks that a scrape is a tenth of the interval before the next evaluation of the group
// that is evaluated most often, whatever the phase of both.
func TestScrapeBeforeEvaluation(t *testing.T) {
	const interval = 15 * time.Second
	group := func(name string, every time.Duration) *rules.Group {
		return rules.NewGroup(rules.GroupOptions{Name: name, File: "rules.yml", Interval: every, Opts: &rules.ManagerOptions{}})
	}
	for _, name := range []string{"a", "b", "c", "synthetic-page"} {
		often := group(name, interval)
		groups := []*rules.Group{group("slow", 2*time.Minute), often}
		for second := range 40 {
			now := time.Date(2026, 11, 28, 4, 0, second, 0, time.UTC)
			wait := untilScrape(groups, interval, now)
			if wait < 0 || wait >= interval {
				t.Fatalf("%s at %v: waits %v", name, now, wait)
			}
			at := now.Add(wait)
			next := often.EvalTimestamp(at.UnixNano()).Add(interval)
			if lead := next.Sub(at); lead != interval/10 {
				t.Errorf("%s at %v: the scrape is %v before the evaluation", name, now, lead)
			}
		}
	}
	if wait := untilScrape(nil, interval, time.Now()); wait != 0 {
		t.Errorf("without groups it waits %v", wait)
	}
}
