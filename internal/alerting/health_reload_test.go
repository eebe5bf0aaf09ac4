package alerting

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// stuck is after how long a test takes something for a deadlock.
const stuck = 30 * time.Second

// selfCollector exports the health of the pager that gathers it. Within each
// gathering before is called first; on false nothing is exported.
type selfCollector struct {
	desc   *prometheus.Desc
	before func() bool
	health func() Health
}

func (c *selfCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

func (c *selfCollector) Collect(ch chan<- prometheus.Metric) {
	if c.before() {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(c.health().Series))
	}
}

// selfGathering is a pager whose registry holds its own health.
func selfGathering(t *testing.T, before func() bool) *Pager {
	t.Helper()
	self := &selfCollector{desc: prometheus.NewDesc("test_health", "Health.", nil, nil), before: before}
	g := newGauge(t)
	p := mustNew(t, Options{
		Gatherer: g.registry, RuleFiles: []RuleFile{{"rules.yml", []byte(reading("test_up", "test_health"))}},
		Instance: "here", Interval: 10 * time.Millisecond,
	})
	self.health = p.Health
	g.registry.MustRegister(self)
	g.set(1)
	return p
}

// TestReloadWhileItGathersItself: a reload in the middle of a gathering, before
// the health is asked for, waits for nothing, and nothing waits for it.
func TestReloadWhileItGathersItself(t *testing.T) {
	gathering := make(chan chan bool) // answered when Collect may go on
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
			t.Fatalf("round %d: the pager gathers no more", round)
		}
		done := make(chan error, 1)
		go func() {
			text := reading("test_up", "test_health", fmt.Sprintf("test_%d", round))
			done <- p.Reload([]RuleFile{{"rules.yml", []byte(text)}})
		}()
		select {
		case err := <-done:
			within <- true
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(stuck):
			within <- false // so that the test can end
			t.Fatalf("round %d: the reload waits for the gathering", round)
		}
	}
}

// TestGathersItselfWhileReloading: nor does the health wait for a reload, however
// long that takes.
func TestGathersItselfWhileReloading(t *testing.T) {
	asked := make(chan struct{}, 1)
	p := selfGathering(t, func() bool { asked <- struct{}{}; return true })
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	p.mu.Lock() // as a reload does
	defer p.mu.Unlock()
	scraped := make(chan error, 1)
	go func() { scraped <- p.feed.scrape(t.Context()) }()
	select {
	case err := <-scraped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(stuck):
		t.Fatal("the gathering waits for the reload")
	}
	<-asked
	if got := p.Health().Series; got != 2 {
		t.Errorf("%d series are stored, want the gauge and the health", got)
	}
}
