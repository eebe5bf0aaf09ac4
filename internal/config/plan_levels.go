package config

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/probe/workload"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
	"synthetic/internal/yamlform"
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
	case b.Wrong("levels"):
	case b.Has("levels.concurrency"):
		p.Kind, p.StartRate = runfile.Concurrency, f.StartRate
		p.Levels = rising(b, "levels.concurrency", f.Concurrency, mostConcurrency)
		b.Useless("levels", "beside concurrency, which waits for answers", "remove it", "process", "burstiness", "max_concurrency")
	case b.Has("levels.rate"):
		p.Kind, p.MaxConcurrency = runfile.Rate, f.MaxConcurrency
		p.Arrival = workload.Arrival{Process: f.Process}
		p.Levels = rising(b, "levels.rate", f.Rate, mostRate)
		b.Useless("levels", "beside rate, which is one already", "remove it", "start_rate")
		if f.Process == workload.Gamma {
			p.Arrival.Burstiness = f.Burstiness
		} else {
			b.Useless("levels", "with process "+string(f.Process), "remove it", "burstiness")
		}
	case b.Has("levels"):
		b.Mistake("levels", "", "has neither concurrency nor rate", "write for example concurrency: [10, 20, 30]")
	}
}

// rising checks a list of levels: above 0, each above the one before.
func rising[T int | float64](b *planner, path string, in []T, most T) []float64 {
	var out []float64
	for i, v := range in {
		at := yamlform.Index(path, i)
		switch {
		case !b.Fine(at):
		case v <= 0:
			b.Mistake(at, fmt.Sprint(v), "is not above 0", "write the load of a level")
		case v > most:
			b.Mistake(at, fmt.Sprint(v), fmt.Sprintf("is above %v", most), fmt.Sprintf("write %v or less", most))
		case i > 0 && b.Fine(yamlform.Index(path, i-1)) && v <= in[i-1]:
			b.Mistake(at, fmt.Sprint(v), fmt.Sprintf("is not above %v, the level before", in[i-1]), "write the levels in rising order, each once")
		}
		out = append(out, float64(v))
	}
	return out
}

// measure completes the measurement.
func (b *planner) measure(m sweep.Measure) sweep.Measure {
	if m.Conversations == 0 {
		m.Snapshots = cmp.Or(m.Snapshots, defaultSnapshots)
		m.Snapshot = cmp.Or(m.Snapshot, defaultSnapshot)
		return m
	}
	m.Snapshots, m.Snapshot = cmp.Or(m.Snapshots, 1), 0
	if m.Snapshots > m.Conversations {
		b.Mistake("measure.snapshots", strconv.Itoa(m.Snapshots), fmt.Sprintf("is more than the %d conversations", m.Conversations), "write fewer snapshots")
	}
	return m
}

// warmUp completes the warm-up, which must not run on into a measurement that
// counts conversations.
func (b *planner) warmUp(w sweep.WarmUp, m sweep.Measure) sweep.WarmUp {
	const at = "warm_up"
	if w.Conversations > 0 {
		w.Duration = 0
		return w
	}
	if m.Conversations > 0 && w.Duration > 0 && b.Fine(at) {
		b.Mistake(at+".duration", model.Duration(w.Duration).String(), "cannot precede measure.conversations, since its own conversations would be among them", "write warm_up: {conversations: 10, rate: 0.5}, or remove it")
	}
	b.Useless(at, "without conversations", "remove it", "rate", "cooldown")
	if !b.Has(at+".duration") && m.Conversations == 0 {
		w.Duration = defaultWarmUp
	}
	return sweep.WarmUp{Duration: w.Duration}
}

// cache resolves the cache policy.
func (b *planner) cache(c sweep.Cache) sweep.Cache {
	if c.Policy != sweep.Prime {
		b.Useless("cache", "with policy "+string(c.Policy), "remove it", "conversations")
		c.Conversations = 0
	}
	return c
}
