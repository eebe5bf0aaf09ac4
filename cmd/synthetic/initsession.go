package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

const (
	// sessionTrialTime and sessionTrialTurns bound all conversations of a trial.
	sessionTrialTime, sessionTrialTurns = 6 * time.Second, 21
	// sessionTurns is the length of a conversation with a session id. A router that chooses one of two
	// workers at random keeps two conversations of three turns with a probability of 1/16.
	sessionTurns = 3
	// defaultPreset has the header of target.DefaultSession.
	defaultPreset = "vllm-router"
)

var errSessionTrial = errors.New("a turn of the trial failed, or there were too many")

// sessionFinding says whether the router in front of a target uses the session id.
type sessionFinding struct {
	// Text is one sentence without a period; "" if nothing was found.
	Text string
	// Preset is the preset that keeps conversations on one worker, or "".
	Preset string
}

// followups counts follow-up turns. moved of the named ones changed the worker. cold of the counted ones
// found less than half of their prompt in the cache.
type followups struct{ turns, named, moved, counted, cold int }

func (f *followups) count(r probe.Result) {
	f.turns++
	if r.Moved.OK {
		f.named++
	}
	if r.Moved.V {
		f.moved++
	}
	if r.PromptTokens.OK && r.CachedTokens.OK {
		f.counted++
		if 2*r.CachedTokens.V < r.PromptTokens.V {
			f.cold++
		}
	}
}

// sessionTrial holds conversations to learn whether a router uses a session id.
type sessionTrial struct {
	target  target.Target
	spec    workload.Spec
	source  *workload.Source
	learned probe.Learned
	taken   int       // turns
	without followups // of the conversations without a session id
}

// askRouter fills Session. A failed turn ends the trial without a finding.
func (n *findings) askRouter(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sessionTrialTime)
	defer cancel()
	s := &sessionTrial{target: n.Target, spec: workload.Spec{
		Name: "init", TurnsMin: 1, TurnsMax: 1, PromptTokens: 300, MaxOutputTokens: 8,
		Timeouts: workload.Timeouts{FirstToken: sessionTrialTime, Stall: sessionTrialTime, Total: sessionTrialTime},
	}}
	var err error
	if s.source, err = workload.NewSource(s.spec, uint64(time.Now().UnixNano())); err != nil {
		return
	}
	defer s.source.Close()
	if s.without, err = s.hold(ctx, 2, 2, target.NoSession); err != nil || s.without.moved+s.without.cold == 0 {
		return
	}
	if found, err := s.tryHeaders(ctx); err == nil {
		n.Session = found
	}
}

// tryHeaders tries the default header, then the presets of routers. The first conversation for the presets
// has the ids of all, so that a router without sessions costs few requests.
func (s *sessionTrial) tryHeaders(ctx context.Context) (sessionFinding, error) {
	with, err := s.hold(ctx, 2, sessionTurns, defaultPreset)
	if err != nil {
		return sessionFinding{}, err
	}
	if !s.left(with) {
		change, otherwise := "went to another worker", "they stayed"
		if s.without.moved == 0 {
			change, otherwise = "were not in the cache", "they were"
		}
		return sessionFinding{fmt.Sprintf("the follow-ups of %s without a session id %s; with X-Session-ID %s: routing by session works",
			count(max(s.without.moved, s.without.cold), "conversation"), change, otherwise), defaultPreset}, nil
	}
	if s.without.moved == 0 || with.moved == 0 { // the cache alone does not show that a header is ignored
		return sessionFinding{}, nil
	}
	presets := []string{"llm-d", "dynamo", "litellm", "fireworks"}
	if with, err = s.hold(ctx, 1, sessionTurns, presets...); err != nil {
		return sessionFinding{}, err
	}
	if s.left(with) {
		return sessionFinding{Text: "no session header was recognised: follow-ups went to another worker with X-Session-ID and with the presets llm-d, dynamo, litellm and fireworks; docs/how-to/sessions.md has more"}, nil
	}
	for _, p := range presets {
		if with, err = s.hold(ctx, 2, sessionTurns, p); err != nil {
			return sessionFinding{}, err
		}
		if !s.left(with) {
			return sessionFinding{"follow-ups went to another worker with X-Session-ID, and stayed with the preset " + p, p}, nil
		}
	}
	return sessionFinding{}, nil
}

// left reports whether a follow-up with a session id left its worker, or may have done so. Where answers name
// no worker, the cache shows it.
func (s *sessionTrial) left(with followups) bool {
	stayed := s.without.moved > 0 && with.named == with.turns || s.without.cold > 0 && with.cold == 0 && with.counted == with.turns
	return with.moved > 0 || !stayed
}

// hold holds conversations one after the other and counts their follow-ups. It ends at the first follow-up
// that left its worker although it had a session id. Each conversation has the session ids of all presets. The
// error says that a turn failed or is missing.
func (s *sessionTrial) hold(ctx context.Context, conversations, turns int, presets ...string) (f followups, err error) {
	for range conversations {
		if s.taken+turns > sessionTrialTurns {
			return f, errSessionTrial
		}
		t := s.target
		t.Session, _ = target.SessionPreset(presets[0])
		t.Headers = map[string]string{}
		for _, name := range presets[1:] {
			p, _ := target.SessionPreset(name)
			t.Headers[p.Header] = rand.Text()
		}
		prober, err := probe.New(probe.Options{Target: t, Workload: s.spec, Learned: &s.learned})
		if err != nil {
			return f, err
		}
		o := &followupSink{trial: s, counted: &f, stop: make(chan struct{})}
		sum := prober.Converse(ctx, probe.Plan{Conversation: s.plan(turns), Scheduled: time.Now(), Model: t.Model, Stop: o.stop}, o)
		prober.Close()
		if o.stopped {
			break
		}
		if sum.Outcome != probe.Success || sum.Turns < turns {
			return f, errSessionTrial
		}
	}
	return f, nil
}

// plan returns a conversation with an opening of its own. Its history has fixed answers, because a reasoning
// model may use its few tokens before it answers.
func (s *sessionTrial) plan(turns int) workload.Conversation {
	c := s.source.Next()
	c.Turns, c.Answer = turns, "Understood."
	return c
}

// followupSink counts the follow-ups of one conversation, and closes stop to end it.
type followupSink struct {
	trial   *sessionTrial
	counted *followups
	stop    chan struct{}
	stopped bool
}

func (o *followupSink) Observe(e probe.Event) {
	r, ok := e.(probe.Result)
	if !ok {
		return
	}
	o.trial.taken++
	if r.Outcome != probe.Success || r.Kind != probe.Followup {
		return
	}
	o.counted.count(r)
	if o.stopped = o.trial.without.turns > 0 && o.trial.left(*o.counted); o.stopped {
		close(o.stop)
	}
}
