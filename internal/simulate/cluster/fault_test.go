package cluster

import (
	"testing"
	"time"
)

// lastEvent returns the last event of a single request of 10 + 3 tokens, sent at 100 ms.
func lastEvent(t *testing.T, c Config, faults ...Fault) Event {
	t.Helper()
	c.Faults = faults
	r := newRun(t, c)
	r.submit(100*ms, Request{ID: 1, Prompt: 10, Output: 3})
	r.advance(time.Minute)
	return r.last(1)
}

func TestFaults(t *testing.T) {
	c := small()
	c.Frontend = Frontend{RequestDelay: 5 * ms, ResponseDelay: 5 * ms}
	for _, x := range []struct {
		name   string
		faults []Fault
		kind   Kind
		at     time.Duration
	}{
		{"none", nil, Done, 143 * ms},
		{"slow decode", []Fault{{Kind: SlowDecode, Factor: 2}}, Done, 100*ms + 10*ms + 21*ms + 44*ms},
		{"slow prefill", []Fault{{Kind: SlowPrefill, Factor: 6}}, Done, 148 * ms},
		{"two faults at once", []Fault{{Kind: SlowPrefill, Factor: 3}, {Kind: SlowPrefill, Factor: 2}}, Done, 148 * ms},
		{"ended earlier", []Fault{{Kind: SlowDecode, Factor: 9, For: 50 * ms}}, Done, 143 * ms},
		{"starts later", []Fault{{Kind: SlowDecode, Factor: 9, At: time.Second}}, Done, 143 * ms},
		{"of another worker", []Fault{{Kind: SlowDecode, Factor: 9, Workers: []int{1}}}, Done, 143 * ms},
		{"hang", []Fault{{Kind: Hang, At: 120 * ms, For: time.Second}}, Done, 1136 * ms},
		{"worker lost while it runs", []Fault{{Kind: WorkerLoss, At: 120 * ms, For: time.Second}}, Failed, 125 * ms},
		{"worker lost before", []Fault{{Kind: WorkerLoss, For: time.Second}}, Unavailable, 105 * ms},
	} {
		c.Workers = 1
		if len(x.faults) > 0 && x.faults[0].Workers != nil {
			c.Workers = 2 // the first request goes to worker 0
		}
		if e := lastEvent(t, c, x.faults...); e.Kind != x.kind || e.At != x.at {
			t.Errorf("%s: %v at %v (worker %d), want %v at %v", x.name, e.Kind, e.At, e.Worker, x.kind, x.at)
		}
	}
}

func TestRouterSkipsLostWorker(t *testing.T) {
	c := small()
	c.Workers = 3
	c.Faults = []Fault{{Kind: WorkerLoss, Workers: []int{1}, For: time.Second}}
	r := newRun(t, c)
	for id := range uint64(30) {
		r.submit(0, Request{ID: id, Prompt: 10, Output: 2})
	}
	r.advance(time.Second)
	for id := range uint64(30) {
		if e := r.last(id); e.Kind != Done || e.Worker == 1 {
			t.Errorf("request %d: %v at worker %d", id, e.Kind, e.Worker)
		}
	}
	r.submit(2*time.Second, Request{ID: 99, Prompt: 10, Output: 1})
	r.submit(2*time.Second, Request{ID: 98, Prompt: 10, Output: 1})
	r.submit(2*time.Second, Request{ID: 97, Prompt: 10, Output: 1})
	r.advance(3 * time.Second)
	returned := false
	for id := uint64(97); id <= 99; id++ {
		returned = returned || r.last(id).Worker == 1
	}
	if !returned {
		t.Error("the worker gets no requests after the end of its loss")
	}
}
