package alerting

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// stuck is the time after which a test assumes a deadlock.
const stuck = 30 * time.Second

// selfCollector exports the health of the pager that gathers it. It calls before first, and exports
// nothing if that returns false.
type selfCollector struct {
	desc   *prometheus.Desc
	before func() bool
	health func() Health
}

func (c *selfCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

func (c *selfCollector) Collect(ch chan<- prometheus.Metric) {
	if c.before() {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(c.health().Evaluations))
	}
}

// selfGathering returns a pager whose registry contains its own health.
func selfGathering(t *testing.T, before func() bool) *Pager {
	t.Helper()
	self := &selfCollector{desc: prometheus.NewDesc("test_health", "Health.", nil, nil), before: before}
	g := newGauge(t)
	p := mustNew(t, Options{
		Gatherer: g.registry, Rules: []byte(reading("test_up", "test_health")),
		Instance: "here", Interval: 10 * time.Millisecond,
	})
	self.health = p.Health
	g.registry.MustRegister(self)
	g.set(1)
	return p
}

// TestReloadWhileItGathersItself: a reload in the middle of a scrape, before the scrape reads the
// health, does not wait for the scrape.
func TestReloadWhileItGathersItself(t *testing.T) {
	gathering := make(chan chan bool) // answered when Collect may continue
	p := selfGathering(t, func() bool {
		reloaded := make(chan bool)
		select {
		case gathering <- reloaded:
			return <-reloaded
		default:
			return true
		}
	})
	running(t, p)
	for round := range 5 { // the first may come before the rule manager
		var within chan bool
		select {
		case within = <-gathering:
		case <-time.After(stuck):
			t.Fatalf("round %d: the pager has stopped scraping", round)
		}
		done := make(chan error, 1)
		go func() {
			text := reading("test_up", "test_health", fmt.Sprintf("test_%d", round))
			done <- p.Reload([]byte(text))
		}()
		select {
		case err := <-done:
			within <- true
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(stuck):
			within <- false // so that the test can end
			t.Fatalf("round %d: the reload waits for the scrape", round)
		}
	}
}
