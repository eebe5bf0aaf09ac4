package config

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"synthetic/internal/probe/workload"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

// defaultWarmUp and defaultSnapshot are those of the sweeps that the engine
// was made for: a minute, and 100 s each.
const (
	defaultWarmUp    = time.Minute
	defaultSnapshot  = 100 * time.Second
	defaultSnapshots = 3
	mostConcurrency  = 1_000_000
	mostRate         = 10_000
)

// levels resolves the levels and how their load is made.
func (b *planner) levels(f fileLevels, p *sweep.Plan) {
	switch {
	case b.wrong["levels"]:
	case b.has("levels.concurrency"):
		p.Kind, p.StartRate = runfile.Concurrency, f.StartRate
		p.Levels = rising(b, "levels.concurrency", f.Concurrency, mostConcurrency)
		b.without("levels", "beside concurrency, which waits for answers", "process", "burstiness", "max_concurrency")
	case b.has("levels.rate"):
		p.Kind, p.MaxConcurrency = runfile.Rate, f.MaxConcurrency
		p.Arrival = workload.Arrival{Process: workload.Process(f.Process)}
		p.Levels = rising(b, "levels.rate", f.Rate, mostRate)
		b.without("levels", "beside rate, which is one already", "start_rate")
		if p.Arrival.Process == workload.Gamma {
			p.Arrival.Burstiness = f.Burstiness
		} else {
			b.without("levels", "with process "+f.Process, "burstiness")
		}
	case b.has("levels"):
		b.mistake("levels", "", "has neither concurrency nor rate", "write for example concurrency: [10, 20, 30]")
	}
}

// without reports keys that have no effect, and why.
func (b *planner) without(path, why string, keys ...string) {
	for _, key := range keys {
		if at := join(path, key); b.has(at) && b.fine(at) {
			b.mistake(at, "", "has no effect "+why, "remove it")
		}
	}
}

// rising checks a list of levels: above 0, each above the one before.
func rising[T int | float64](b *planner, path string, in []T, most T) []float64 {
	var out []float64
	for i, v := range in {
		at := index(path, i)
		if !b.fine(at) {
			continue
		}
		switch {
		case v <= 0:
			b.mistake(at, fmt.Sprint(v), "is not above 0", "write the load of a level")
		case v > most:
			b.mistake(at, fmt.Sprint(v), fmt.Sprintf("is above %v", most), fmt.Sprintf("write %v or less", most))
		case i > 0 && b.fine(index(path, i-1)) && v <= in[i-1]:
			b.mistake(at, fmt.Sprint(v), fmt.Sprintf("is not above %v, the level before", in[i-1]), "write the levels in rising order, each once")
		}
		out = append(out, float64(v))
	}
	return out
}

// measure resolves the measurement.
func (b *planner) measure(f fileMeasure) sweep.Measure {
	m := sweep.Measure{Snapshots: f.Snapshots, Snapshot: dur(f.Snapshot), Conversations: f.Conversations}
	if f.Conversations > 0 {
		m.Snapshots, m.Snapshot = cmp.Or(m.Snapshots, 1), 0
		if m.Snapshots > m.Conversations {
			b.mistake("measure.snapshots", strconv.Itoa(m.Snapshots), fmt.Sprintf("is more than the %d conversations", m.Conversations), "write fewer snapshots")
		}
		return m
	}
	m.Snapshots = cmp.Or(m.Snapshots, defaultSnapshots)
	m.Snapshot = cmp.Or(m.Snapshot, defaultSnapshot)
	return m
}

// warmUp resolves the warm-up, which must not run on into a measurement that
// counts conversations.
func (b *planner) warmUp(f fileWarmUp, m sweep.Measure) sweep.WarmUp {
	const at = "warm_up"
	switch {
	case f.Conversations > 0:
		return sweep.WarmUp{Conversations: f.Conversations, Rate: f.Rate, Cooldown: dur(f.Cooldown)}
	case m.Conversations > 0 && f.Duration > 0 && b.fine(at):
		b.mistake(at+".duration", f.Duration.String(), "cannot precede measure.conversations, since its own conversations would be among them", "write warm_up: {conversations: 10, rate: 0.5}, or remove it")
	}
	b.without(at, "without conversations", "rate", "cooldown")
	w := sweep.WarmUp{Duration: dur(f.Duration)}
	if !b.has(at+".duration") && m.Conversations == 0 {
		w.Duration = defaultWarmUp
	}
	return w
}

// cache resolves the cache policy.
func (b *planner) cache(f fileCache) sweep.Cache {
	c := sweep.Cache{Policy: sweep.CachePolicy(f.Policy)}
	if c.Policy == sweep.Prime {
		c.Conversations = f.Conversations
	} else {
		b.without("cache", "with policy "+f.Policy, "conversations")
	}
	return c
}

func dur(d duration) time.Duration { return time.Duration(d) }
