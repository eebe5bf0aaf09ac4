package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
)

// serverSeries returns the values of a target's own metrics, by name.
func serverSeries(t *testing.T, r *testRecorder, target string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	g := gather(t, r)
	for _, name := range []string{
		ServerMetricsUp, ServerRunning, ServerWaiting, ServerKVUse, ServerTokenAge,
		ServerPreemptions,
	} {
		if series := name + "{target=" + target + "}"; g[series] != nil {
			out[name] = g.value(t, series)
		}
	}
	return out
}

func TestServerReadings(t *testing.T) {
	for name, tt := range map[string]struct {
		readings []serverside.Reading
		want     map[string]float64
	}{
		"none yet":                 {nil, map[string]float64{}},
		"a server without figures": {[]serverside.Reading{{Complete: true}}, map[string]float64{ServerMetricsUp: 1}},
		"the load, and the counter of a first reading": {
			[]serverside.Reading{{Complete: true, State: serverside.State{
				Running: probe.Some(16.0), Waiting: probe.Some(94.0), KVUse: probe.Some(0.98), TokenAge: probe.Some(1500 * time.Millisecond), Preemptions: probe.Some(0.0),
			}}},
			map[string]float64{ServerMetricsUp: 1, ServerRunning: 16, ServerWaiting: 94, ServerKVUse: 0.98, ServerTokenAge: 1.5, ServerPreemptions: 0},
		},
		"the counter adds up and never falls, and gauges go while no page is read": {
			[]serverside.Reading{
				{Complete: true, State: serverside.State{Running: probe.Some(16.0), Preemptions: probe.Some(97.0)}},
				{Complete: true, State: serverside.State{Running: probe.Some(1.0), Preemptions: probe.Some(3.0)}},
				{Complete: true, State: serverside.State{Preemptions: probe.Some(-10.0)}},
				{},
			},
			map[string]float64{ServerMetricsUp: 0, ServerPreemptions: 100},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestRecorder(&clock{start}, "a")
			for _, reading := range tt.readings {
				r.ServerRead("a", reading)
			}
			if diff := cmp.Diff(tt.want, serverSeries(t, r, "a")); diff != "" {
				t.Errorf("series (-want +got):\n%s", diff)
			}
		})
	}
}

// TestServersFollowReloads checks that counters continue over a reload, and disappear with the
// target or with its server metrics.
func TestServersFollowReloads(t *testing.T) {
	reading := serverside.Reading{Complete: true, State: serverside.State{Preemptions: probe.Some(4.0)}}
	want := map[string]float64{ServerMetricsUp: 1, ServerPreemptions: 4}
	r := newTestRecorder(&clock{start}, "a", "b")
	r.ServerRead("a", reading)
	r.ServerRead("b", reading)
	apply(r, jobs("a"))
	if diff := cmp.Diff(want, serverSeries(t, r, "a")); diff != "" {
		t.Errorf("after a reload (-want +got):\n%s", diff)
	}
	r.ServerRead("b", reading) // the last reading of a loop that is ending
	if got := serverSeries(t, r, "b"); len(got) > 0 {
		t.Errorf("a removed target has %v", got)
	}
	s := jobs("a")
	s[0].ServerMetrics = false
	apply(r, s)
	r.ServerRead("a", reading)
	if got := serverSeries(t, r, "a"); len(got) > 0 {
		t.Errorf("a target whose metrics are not read any more has %v", got)
	}
}
