package sidecar

import (
	"fmt"
	"sync"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/sink"
)

// fingerprints is a sink that marks lasting changes of the system_fingerprint of answers.
type fingerprints struct {
	marks *sink.Marks

	mu   sync.Mutex
	jobs map[probe.Key]*serverside.Steady
}

// Add implements sink.Sink.
func (f *fingerprints) Add(j sink.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.jobs == nil {
		f.jobs = map[probe.Key]*serverside.Steady{}
	}
	if f.jobs[j.Key()] == nil {
		f.jobs[j.Key()] = &serverside.Steady{}
	}
}

// Remove implements sink.Sink.
func (f *fingerprints) Remove(k probe.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.jobs, k)
}

// Observe implements sink.Sink. It reads the first turn of each conversation, because a router may send all turns
// of a conversation to one replica.
func (f *fingerprints) Observe(e probe.Event) {
	r, ok := e.(probe.Result)
	if !ok || r.Kind != probe.First {
		return
	}
	f.mu.Lock()
	job := f.jobs[r.Key()]
	if job == nil {
		f.mu.Unlock()
		return
	}
	previous, since, changed := job.Changed(r.Fingerprint, r.Sent)
	f.mu.Unlock()
	if changed {
		f.marks.Add(sink.Mark{
			At: since, Source: sink.MarkFingerprint, Target: r.Target,
			Text: fmt.Sprintf("system_fingerprint %s → %s", previous, r.Fingerprint),
		})
	}
}
