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
		ServerMetricsUp, ServerDrafted, ServerAccepted, ServerAcceptance, ServerRunning, ServerWaiting, ServerKVUse, ServerTokenAge,
		ServerPreemptions, ServerQueueSeconds, ServerQueuedRequests, ServerPromptTokens, ServerCachedTokens, ServerOutputTokens,
	} {
		if series := name + "{target=" + target + "}"; g[series] != nil {
			out[name] = g.value(t, series)
		}
	}
	return out
}

type (
	said = serverside.Speculation
	load = serverside.State
)

func TestServerReadings(t *testing.T) {
	for name, tt := range map[string]struct {
		readings []serverside.Reading
		want     map[string]float64
	}{
		"none yet": {nil, map[string]float64{}},
		"a server without speculation": {
			[]serverside.Reading{{Complete: true}}, map[string]float64{ServerMetricsUp: 1},
		},
		"counters begin at 0": {
			[]serverside.Reading{{Complete: true, Speculation: said{Counted: true}}},
			map[string]float64{ServerMetricsUp: 1, ServerDrafted: 0, ServerAccepted: 0},
		},
		"counters add up, and stay while nothing is read": {
			[]serverside.Reading{{Complete: true, Speculation: said{Counted: true, Drafted: 10, Accepted: 4}}, {Complete: true, Speculation: said{Counted: true, Drafted: 5, Accepted: 3}}, {}},
			map[string]float64{ServerMetricsUp: 0, ServerDrafted: 15, ServerAccepted: 7},
		},
		"counters never fall": {
			[]serverside.Reading{{Complete: true, Speculation: said{Counted: true, Drafted: 10, Accepted: 4}}, {Complete: true, Speculation: said{Counted: true, Drafted: -10, Accepted: -4}}},
			map[string]float64{ServerMetricsUp: 1, ServerDrafted: 10, ServerAccepted: 4},
		},
		"a gauge": {
			[]serverside.Reading{{Complete: true, Speculation: said{Acceptance: probe.Some(0.5)}}, {Complete: true, Speculation: said{Acceptance: probe.Some(0.75)}}},
			map[string]float64{ServerMetricsUp: 1, ServerAcceptance: 0.75},
		},
		"the load, and counters of a first reading": {
			[]serverside.Reading{{Complete: true, State: load{
				Running: probe.Some(16.0), Waiting: probe.Some(94.0), KVUse: probe.Some(0.98), TokenAge: probe.Some(1500 * time.Millisecond),
				Preemptions: probe.Some(0.0), QueueSeconds: probe.Some(0.0), QueuedRequests: probe.Some(0.0),
				PromptTokens: probe.Some(0.0), CachedTokens: probe.Some(0.0), OutputTokens: probe.Some(0.0),
			}}},
			map[string]float64{
				ServerMetricsUp: 1, ServerRunning: 16, ServerWaiting: 94, ServerKVUse: 0.98, ServerTokenAge: 1.5,
				ServerPreemptions: 0, ServerQueueSeconds: 0, ServerQueuedRequests: 0,
				ServerPromptTokens: 0, ServerCachedTokens: 0, ServerOutputTokens: 0,
			},
		},
		"counters of the load add up, and gauges go while no page is read": {
			[]serverside.Reading{
				{Complete: true, State: load{Running: probe.Some(16.0), Preemptions: probe.Some(97.0), OutputTokens: probe.Some(10.0)}},
				{Complete: true, State: load{Running: probe.Some(1.0), Preemptions: probe.Some(3.0), OutputTokens: probe.Some(-10.0)}},
				{},
			},
			map[string]float64{ServerMetricsUp: 0, ServerPreemptions: 100, ServerOutputTokens: 10},
		},
		"a gauge of an idle server goes": {
			[]serverside.Reading{{Complete: true, Speculation: said{Acceptance: probe.Some(0.5)}}, {Complete: true}},
			map[string]float64{ServerMetricsUp: 1},
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
	reading := serverside.Reading{Complete: true, Speculation: said{Counted: true, Drafted: 10, Accepted: 4}}
	want := map[string]float64{ServerMetricsUp: 1, ServerDrafted: 10, ServerAccepted: 4}
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
