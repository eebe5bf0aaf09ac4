package status

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
)

// TestServerFigures checks that the server's own figures are kept by minute, drawn if they are known, and
// gone with the target.
func TestServerFigures(t *testing.T) {
	now := noon.Add(-20 * time.Minute)
	p := newPage(Options{Now: func() time.Time { return now }})
	job := jobOf("t", "w")
	job.ServerMetrics = true
	p.Add(job)
	p.Add(jobOf("u", "w"))
	age := probe.Opt[time.Duration]{}
	read := func(target string, running, waiting, preemptions float64) {
		p.ServerRead(target, serverside.Reading{Complete: true, State: serverside.State{
			Running: probe.Some(running), Waiting: probe.Some(waiting), KVUse: probe.Some(0.5), Preemptions: probe.Some(preemptions), TokenAge: age,
		}})
	}
	read("t", 5, 0, 0)
	p.ServerRead("t", serverside.Reading{})
	now = now.Add(12 * time.Minute) // no complete reading in between
	read("t", 8, 3, 6)
	age = probe.Some(34 * time.Second)
	read("t", 6, 1, 4)
	read("u", 1, 1, 1)

	points := map[string][]float64{}
	minutes, words := p.server("t")
	for _, c := range serverCharts(minutes) {
		for _, s := range c.Series {
			for _, pt := range s.Points {
				points[c.Title+", "+s.Name] = append(points[c.Title+", "+s.Name], pt.Y)
			}
		}
	}
	none := math.NaN() // between two readings
	want := map[string][]float64{
		"server: requests, running": {5, none, 8}, "server: requests, waiting": {0, none, 3},
		"server: KV cache in use, fullest engine": {50, none, 50}, "server: preemptions a minute, preempted": {0, none, 10},
	}
	if diff := cmp.Diff(want, points, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("the charts (-want +got):\n%s", diff)
	}
	const wantWords = "2 requests wait, 6 run, its KV cache is 50 % full, its last token came 34 s ago"
	if words != wantWords {
		t.Errorf("the figures are %q, want %q", words, wantWords)
	}
	p.ServerRead("t", serverside.Reading{})
	if _, got := p.server("t"); got != "its metrics cannot be read" {
		t.Errorf("after a failed reading the figures are %q", got)
	}
	if minutes, words := p.server("u"); minutes != nil || words != "" {
		t.Errorf("the metrics of u's server are not read, and it has %v, %q", minutes, words)
	}
	p.Remove(key("t", "w"))
	if minutes, words := p.server("t"); minutes != nil || words != "" {
		t.Errorf("the target is gone, and its server has %v, %q", minutes, words)
	}
}
