//go:build linux

package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// kept targets are always configured. Every fifth of them never fails, and the first
	// overTLS that do fail use TLS. churning targets come and go with reloads and never
	// fail.
	kept, churning, calmEvery, overTLS = 45, 5, 5, 3
	// outageLasts is the shortest outage that must cause a page: two failed turns at the
	// rate of the traffic take 8 s, the alert waits 40 s more, and the rest is for the
	// pager's interval and a busy machine. clearing is the pause at the end of a part with
	// faults.
	outageLasts, clearing = 65 * time.Second, 10 * time.Second
	minDuration           = 2 * time.Minute
	// restarts is how many rounds begin with a restart. Short runs have fewer, so that the
	// last process lives long enough.
	restarts, fewRestarts, longEnough = 4, 2, time.Hour
)

// phase is a part of the run.
type phase struct {
	Name     string
	From, To time.Duration
	// Calm is true for parts without faults, which are used to measure growth.
	Calm bool
}

// act is an action at a time since the start of the run.
type act struct {
	At   time.Duration
	Kind actKind
	// index of the deployment, the configuration or the repeated stall
	On    int
	Fault fault
}

type actKind string

const (
	actFault   actKind = "fault"
	actReload  actKind = "reload"
	actRotate  actKind = "rotate the key"
	actFreeze  actKind = "freeze for a second"
	actCrowd   actKind = "crowd of scrapers"
	actSlow    actKind = "slow readers"
	actFull    actKind = "full disk"
	actFree    actKind = "disk free again"
	actMute    actKind = "Alertmanager refuses"
	actUnmute  actKind = "Alertmanager is well"
	actKill    actKind = "kill -9 and restart"
	actRestart actKind = "end and restart"
	actStall   actKind = "stall repeatedly"
)

// schedule lists the actions of a run.
type schedule struct {
	Phases []phase
	Acts   []act // in the order of their times
	Spells []spell
}

// plan draws the schedule of a run. Calm parts, which are used to measure growth, alternate
// with parts with faults. Each of those has one outage that must cause a page. Restarts come
// first, so that the last process lives longest.
// With stalls the program is stalled in each part, in another way than in the part before.
func plan(length time.Duration, seed uint64, stalls bool) schedule {
	p := &planner{rng: rand.New(rand.NewPCG(seed, 0x50a4)), faults: outageLasts + clearing, calm: min(max(length/12, 10*time.Second), 90*time.Second)}
	if length >= 10*time.Minute || stalls {
		p.faults += 45 * time.Second
	}
	at := p.phase("start", 0, p.calm, true)
	rounds := restarts
	if length < longEnough {
		rounds = fewRestarts
	}
	for round := 0; ; round++ {
		if round < rounds {
			at = p.restart(at, round)
		}
		if at+p.faults+p.calm > length {
			break
		}
		at = p.trouble(at, round)
		at = p.phase(fmt.Sprintf("calm %d", round+1), at, at+p.calm, true)
		if at+p.faults+p.calm > length {
			break
		}
	}
	if last := &p.out.Phases[len(p.out.Phases)-1]; last.Calm {
		last.To = max(last.To, length)
	} else {
		p.phase("end", at, max(length, at+p.calm), true)
	}
	if stalls {
		p.stalls()
	}
	return p.out
}

type planner struct {
	rng          *rand.Rand
	faults, calm time.Duration
	out          schedule
}

func (p *planner) phase(name string, from, to time.Duration, calm bool) time.Duration {
	p.out.Phases = append(p.out.Phases, phase{name, from, to, calm})
	return to
}

func (p *planner) do(at time.Duration, kind actKind) { p.add(at, kind, 0, healthy) }

func (p *planner) add(at time.Duration, kind actKind, on int, f fault) {
	p.out.Acts = append(p.out.Acts, act{at, kind, on, f})
}

// restartTakes is the length of a part with a restart.
const restartTakes = 11 * time.Second

// restart kills the program in even rounds and ends it normally in odd ones. The first
// round has both.
func (p *planner) restart(at time.Duration, round int) time.Duration {
	kinds := []actKind{actKill, actRestart}
	if round > 0 {
		kinds = kinds[round%2 : round%2+1]
	}
	from := at
	for _, kind := range kinds {
		p.do(at, kind)
		at += restartTakes
	}
	return p.phase(fmt.Sprintf("restart %d", round+1), from, at, false)
}

// trouble adds a part with faults: one long outage, shorter faults of other deployments one
// after the other, and actions on the program.
func (p *planner) trouble(at time.Duration, round int) time.Duration {
	to := at + p.faults
	targets := p.failing()
	last := to - clearing
	p.spell(targets[0], outages()[p.rng.IntN(len(outages()))], at, last, true)
	begin := at
	for _, t := range targets[1:] {
		length := time.Duration(8+p.rng.IntN(12)) * time.Second
		if begin+length > last {
			begin = at + time.Duration(p.rng.IntN(5))*time.Second
		}
		f := nuisances()[p.rng.IntN(len(nuisances()))]
		if isTLS(t) {
			f = untrusted
		}
		p.spell(t, f, begin, min(begin+length, last), false)
		begin += length / 2
	}
	part := func(share float64) time.Duration { return at + time.Duration(share*float64(last-at)) }
	for i, share := range []float64{0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.98} { // the last one loads the first configuration again
		p.add(part(share), actReload, (i+1)%len(configurations()), healthy)
	}
	p.do(part(0.2), actRotate)
	p.do(part(0.3), actCrowd)
	p.do(part(0.35), actFreeze)
	p.do(part(0.6), actSlow)
	p.do(part(0.8), actFreeze)
	switch round % 3 {
	case 1:
		p.do(part(0.05), actFull)
		p.do(part(0.05)+15*time.Second, actFree)
	case 2:
		p.do(part(0.05), actMute)
		p.do(part(0.05)+15*time.Second, actUnmute)
	}
	p.sort()
	return p.phase(fmt.Sprintf("faults %d", round+1), at, to, false)
}

// stalls adds a stall to each part.
func (p *planner) stalls() {
	for i, part := range p.out.Phases {
		p.add(part.From, actStall, i%len(repeatedStalls()), healthy)
	}
	p.sort()
}

func (p *planner) sort() {
	slices.SortStableFunc(p.out.Acts, func(a, b act) int { return cmp.Compare(a.At, b.At) })
}

// failing returns some of the targets that may fail, in random order: the first, without
// TLS, for the outage, and among the others one with TLS.
func (p *planner) failing() []int {
	var plain, tls []int
	for _, i := range p.rng.Perm(kept) {
		switch {
		case i%calmEvery == 0:
		case isTLS(i):
			tls = append(tls, i)
		default:
			plain = append(plain, i)
		}
	}
	return append(plain[:9], tls[0])
}

func isTLS(i int) bool { return i%calmEvery != 0 && i <= overTLS }

func (p *planner) spell(on int, f fault, from, to time.Duration, outage bool) {
	p.add(from, actFault, on, f)
	p.add(to, actFault, on, healthy)
	p.out.Spells = append(p.out.Spells, spell{Target: targetName(on), Fault: f, From: from, To: to, FromSec: from.Seconds(), ToSec: to.Seconds(), Outage: outage})
}

func targetName(i int) string {
	if i >= kept {
		return fmt.Sprintf("churn-%d", i-kept)
	}
	return fmt.Sprintf("kept-%02d", i)
}
