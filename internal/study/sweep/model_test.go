package sweep

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
	"synthetic/internal/turnlog"
)

const (
	warmUp, length, block = 8 * time.Second, 16 * time.Second, 4 * time.Second
	snapshots             = 2
	// tick divides all times, so their sums are exact in any order.
	tick = time.Second / 64
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func objectives() []slo.Objective {
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.9},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 70 * time.Millisecond, Objective: 0.9},
	}
}

// turn is a turn of a conversation in a slot of a level.
type turn struct {
	probe.Result
	slot         int
	conversation int
	last         bool
}

// model is a measured load with all its events: levels of one kind in sequence.
type model struct {
	kind   runfile.LevelKind
	levels []float64
	exact  bool // all times are multiples of tick
	turns  [][]turn
}

func newModel(seed uint64, kind runfile.LevelKind, exact bool) model {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := model{kind: kind, levels: []float64{8, 12}, exact: exact}
	for i, level := range m.levels {
		m.turns = append(m.turns, nil)
		for slot := range int(level) {
			at := noon().Add(time.Duration(i)*time.Minute - warmUp + time.Duration(slot)*tick)
			for end := noon().Add(time.Duration(i)*time.Minute + snapshots*length); at.Before(end); {
				at = m.converse(rng, i, slot, at)
			}
		}
	}
	return m
}

// converse adds a conversation of one to three turns, and returns its end.
func (m *model) converse(rng *rand.Rand, level, slot int, at time.Time) time.Time {
	of := func(mean time.Duration) time.Duration {
		d := time.Duration((0.5 + rng.Float64()) * float64(mean))
		if m.exact {
			d = (d + tick - 1) / tick * tick
		}
		return max(d, time.Microsecond).Truncate(time.Microsecond)
	}
	number, turns := len(m.turns[level]), 1+rng.IntN(3)
	for i := range turns {
		r := probe.Result{
			Target: "only", Workload: "chat", Kind: probe.TurnKinds()[min(i, 1)], Turn: i + 1, Conversation: fmt.Sprintf("c/%d", number),
			Outcome: probe.Success, Scheduled: at, Sent: at, PromptTokens: probe.Some(100), CachedTokens: probe.Some(rng.IntN(90)), OutputTokens: probe.Some(9), Events: 8,
		}
		if rng.IntN(30) == 0 {
			r.Outcome, r.End = probe.HTTP5xx, at.Add(of(200*time.Millisecond))
		} else {
			first, token := of(time.Duration(400+400*level)*time.Millisecond), of(40*time.Millisecond)
			r.TTFT, r.AnswerTTFT, r.TPOT, r.End = probe.Some(first), probe.Some(first), probe.Some(token), at.Add(first+8*token)
			r.Gaps, r.Lag = []time.Duration{token, token}, of(5*time.Millisecond)
		}
		m.turns[level] = append(m.turns[level], turn{r, slot, number, i == turns-1})
		at = r.End.Add(time.Microsecond)
		if m.exact {
			at = r.End.Add(tick)
		}
	}
	return at
}

// run returns the run and turn log of a process that carried a part of the load, with a clock
// that is behind by the given time.
func (m *model) run(mine func(turn) bool, behind time.Duration) (*runfile.Run, []turnlog.Turn) {
	r := &runfile.Run{
		Format: runfile.Format, Generated: noon().Add(time.Hour - behind), Title: "A sweep", Plan: runfile.Plan{SHA256: "aa"}, Seed: 7, LevelKind: m.kind,
		Variants: []string{"only"}, Confidence: 0.9, Repetitions: 1, Snapshots: snapshots, MeasurementSeconds: (snapshots * length).Seconds(),
		Deployment: []runfile.Parameter{{Name: "Model", Value: "m"}},
	}
	for _, o := range objectives() {
		r.SLOs = append(r.SLOs, runfile.ObjectiveOf(o))
	}
	var log []turnlog.Turn
	by := stats.NewJudge(r)
	for i, level := range m.levels {
		begin := noon().Add(time.Duration(i)*time.Minute - behind)
		x := runfile.Result{Variant: "only", Level: level, Repetition: 1, Seed: uint64(i), State: runfile.Complete, Started: begin.Add(-warmUp), Ended: begin.Add(snapshots*length + time.Second)}
		for j := range snapshots {
			x.Snapshots = append(x.Snapshots, snapshot(begin.Add(time.Duration(j)*length)))
		}
		var own []turn
		for _, t := range m.turns[i] {
			if mine(t) {
				t.Sent, t.Scheduled, t.End = t.Sent.Add(-behind), t.Scheduled.Add(-behind), t.End.Add(-behind)
				own = append(own, t)
			}
		}
		for _, t := range own {
			phase := count(&x, begin, t)
			line := turnlog.FromResult(&t.Result)
			line.Study = &turnlog.Study{Level: level, Rate: m.kind == runfile.Rate, Repetition: 1, Phase: phase, Conversation: t.Conversation, Index: t.Turn, AnswerTTFT: t.AnswerTTFT}
			log = append(log, line)
		}
		for j := range x.Snapshots {
			inFlightAt(&x.Snapshots[j], own)
		}
		x.Verdict = by.Conclude(r, x)
		r.Results = append(r.Results, x)
	}
	r.Capacities = []runfile.Capacity{by.Capacity("only", r)}
	return r, log
}

func snapshot(from time.Time) runfile.Snapshot {
	s := runfile.Snapshot{Started: from, Seconds: length.Seconds(), Server: []runfile.Server{{Source: "http://a/metrics", Figures: map[string]float64{runfile.ServerKVHitRatio: 0.5, runfile.ServerGPUPower: 900}}}}
	for range int(length / block) {
		s.Blocks = append(s.Blocks, runfile.Block{Seconds: block.Seconds()})
	}
	return s
}

// count adds a turn to its block.
func count(x *runfile.Result, begin time.Time, t turn) turnlog.Phase {
	if i := t.Sent.Sub(begin); i >= 0 && i < snapshots*length {
		s := &x.Snapshots[i/length]
		s.Blocks[i%length/block].TurnsStarted++
		if t.Turn == 1 {
			s.ConversationStarts++
			s.ConversationsDue++
		}
	}
	switch i := t.End.Sub(begin); {
	case i < 0:
		return turnlog.WarmUp
	case i >= snapshots*length:
		if x.Tail == nil {
			x.Tail = &runfile.Block{}
		}
		x.Tail.Observe(&t.Result, objectives())
		return turnlog.Tail
	default:
		x.Snapshots[i/length].Blocks[i%length/block].Observe(&t.Result, objectives())
		return turnlog.Measured
	}
}

// inFlightAt counts at every moment at which the number rises.
func inFlightAt(s *runfile.Snapshot, turns []turn) {
	begun := map[int]time.Time{}
	var flight, held time.Duration
	most, end := 0, 0
	within := func(from, to time.Time) time.Duration {
		return max(runfile.Earlier(to, s.End()).Sub(runfile.Later(from, s.Started)), 0)
	}
	at := func(now time.Time) (n int) {
		for _, t := range turns {
			if !t.Sent.After(now) && t.End.After(now) {
				n++
			}
		}
		return n
	}
	most = at(s.Started)
	for _, t := range turns {
		flight += within(t.Sent, t.End)
		if t.Turn == 1 {
			begun[t.conversation] = t.Sent
		}
		if t.last {
			held += within(begun[t.conversation], t.End.Add(tick)) // the next turn follows at once
		}
		if within(t.Sent, t.Sent.Add(1)) > 0 {
			most = max(most, at(t.Sent))
		}
	}
	end = at(s.End().Add(-1))
	mean, conversations := flight.Seconds()/s.Seconds, held.Seconds()/s.Seconds
	s.InFlightMean, s.ConversationsMean, s.InFlightMax, s.InFlightEnd = &mean, &conversations, &most, &end
}

// split returns the same load carried by several processes. behind has their clock offsets;
// shard assigns conversations.
func (m *model) split(behind []time.Duration, shard func(turn) int) (runs []*runfile.Run, logs [][]turnlog.Turn) {
	for i, by := range behind {
		run, log := m.run(func(t turn) bool { return shard(t) == i }, by)
		runs, logs = append(runs, run), append(logs, log)
	}
	return runs, logs
}

func reader(turns []turnlog.Turn) turnlog.Next {
	return func() (*turnlog.Turn, error) {
		if len(turns) == 0 {
			return nil, io.EOF
		}
		t := turns[0]
		turns = turns[1:]
		return &t, nil
	}
}
