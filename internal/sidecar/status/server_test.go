package status

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/serverside"
)

// TestServerFigures checks that the server's own figures are kept by minute, drawn if they are known, and
// gone with the target.
func TestServerFigures(t *testing.T) {
	now := noon.Add(-3 * time.Minute)
	p := New(Options{Now: func() time.Time { return now }})
	job := jobOf("t", "w")
	job.ServerMetrics = true
	p.Add(job)
	p.Add(jobOf("u", "w"))
	read := func(target string, running, waiting, queueSeconds, queued float64) {
		p.ServerRead(target, serverside.Reading{Complete: true, State: serverside.State{
			Running: probe.Some(running), Waiting: probe.Some(waiting), KVUse: probe.Some(0.5),
			QueueSeconds: probe.Some(queueSeconds), QueuedRequests: probe.Some(queued), OutputTokens: probe.Some(300.0),
		}})
	}
	read("t", 5, 0, 0, 0)
	now = now.Add(2 * time.Minute) // no reading in between
	read("t", 8, 3, 6, 2)
	read("t", 6, 1, 4, 3)
	read("u", 1, 1, 1, 1)
	p.ServerRead("t", serverside.Reading{})

	all := span{noon.Add(-time.Hour), noon}
	points := map[string][]float64{}
	for _, c := range serverCharts(p.serverMinutes("t", all)) {
		for _, s := range c.Series {
			for _, pt := range s.Points {
				points[c.Title+", "+s.Name] = append(points[c.Title+", "+s.Name], pt.Y)
			}
		}
	}
	none := math.NaN() // between two readings, and since the last one
	want := map[string][]float64{
		"server: requests, running": {5, none, 8, none}, "server: requests, waiting": {0, none, 3, none},
		"server: KV cache in use, fullest engine":     {50, none, 50, none},
		"server: time in the queue, mean, queue time": {none, none, 2, none},
		"server: tokens a second, output":             {5, none, none, none},
	}
	if diff := cmp.Diff(want, points, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("the charts (-want +got):\n%s", diff)
	}
	if got := p.serverMinutes("u", all); got != nil {
		t.Errorf("the metrics of u's server are not read, and it has %v", got)
	}
	if drawn, err := charts(chart.Figure, nil, p.serverMinutes("t", all), nil); err != nil || len(drawn) != 4 {
		t.Errorf("%d charts are drawn, want 4: %v", len(drawn), err)
	}
	p.Remove(key("t", "w"))
	if got := p.serverMinutes("t", all); got != nil {
		t.Errorf("the target is gone, and its server has %v", got)
	}
}
