package sweep

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/study/runfile"
)

// Lead is shard 0's side. Its methods are called by the sweep; ServeHTTP by an
// http.Server.
type Lead struct {
	// Logger is told who is waited for; it discards by default.
	Logger *slog.Logger
	hello  Hello
	token  string

	mu     sync.Mutex
	step   Step
	level  int64    // the number of the level's Prepare
	others []*other // by index − 1
	// changed is closed and replaced whenever a shard says something new.
	changed chan struct{}
}

// other is what is known of another shard; lost holds for a level.
type other struct {
	process string
	former  map[string]bool // processes whose place it took
	seen    time.Time
	step    int64
	done    bool
	report  *Report
	leaving string
	lost    string
}

// NewLead returns the barrier of shard 0, which lets in who knows the token; an
// empty one lets everybody in. Until Open, shards are asked to come back.
func NewLead(h Hello, token string) *Lead {
	l := &Lead{Logger: slog.New(slog.DiscardHandler), hello: h, token: token, changed: make(chan struct{})}
	for range h.Count - 1 {
		l.others = append(l.others, &other{former: map[string]bool{}})
	}
	return l
}

// Open begins a sweep of that ID.
func (l *Lead) Open(sweep string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// None of a shard 0 that was here before.
	l.step = Step{Number: time.Now().UnixMilli(), Kind: Wait, Sweep: sweep}
}

// Announce makes a step the one that all are to be at.
func (l *Lead) Announce(s Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Number, s.Sweep = l.step.Number+1, l.step.Sweep
	l.step = s
	if s.Kind == Prepare {
		l.level = s.Number
	}
}

// Gather waits until all shards are there and done with what was before, as long
// as patience lasts. Losses are forgotten.
func (l *Lead) Gather(ctx context.Context, patience time.Duration) error {
	began, absent := time.Now(), ""
	tell := began.Add(patient)
	ok := l.wait(ctx, patience, func() bool {
		var names []string
		for i, o := range l.others {
			switch {
			case o.seen.IsZero():
				names = append(names, fmt.Sprintf("shard %d (never seen)", i+1))
			case !o.alive() || o.step != l.step.Number || !o.done:
				names = append(names, fmt.Sprintf("shard %d (last seen %s ago)", i+1, time.Since(o.seen).Round(time.Second)))
			}
		}
		absent = strings.Join(names, ", ")
		if now := time.Now(); absent != "" && now.After(tell) {
			tell = now.Add(shardWhyEvery)
			l.Logger.Warn("Waiting for other shards", "shards", absent, "at_most", patience)
		}
		return absent == ""
	})
	if !ok {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s did not come within %s: start it with the same plan and --shards=%d, and all with --resume", absent, time.Since(began).Round(time.Second), l.hello.Count)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.others {
		o.lost, o.report = "", nil
	}
	return nil
}

// Await waits until every shard is done with the step, or lost. Who is not by the
// limit is far behind, and lost.
func (l *Lead) Await(ctx context.Context, limit time.Duration) {
	done := l.wait(ctx, limit, func() bool {
		l.mourn()
		return !slices.ContainsFunc(l.others, func(o *other) bool { return o.lost == "" && (o.step != l.step.Number || !o.done) })
	})
	if done || ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.others {
		if o.lost == "" && (o.step != l.step.Number || !o.done) {
			o.lost = fmt.Sprintf("it was not done %s after shard 0", limit.Round(time.Second))
		}
	}
}

// wait waits until a condition, looked at under mu, holds, and says whether it did
// before the limit and the end of ctx.
func (l *Lead) wait(ctx context.Context, limit time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	look := time.NewTicker(time.Second) // for those who say nothing
	defer look.Stop()
	for {
		l.mu.Lock()
		held, changed := holds(), l.changed
		l.mu.Unlock()
		if held {
			return true
		}
		select {
		case <-changed:
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
}

func (o *other) alive() bool { return o.leaving == "" && time.Since(o.seen) < Silence }

// mourn finds the shards that were lost since the last look. The caller holds mu.
func (l *Lead) mourn() {
	for _, o := range l.others {
		if o.lost == "" && !o.alive() {
			o.lost = fmt.Sprintf("no sign of life for %s", Silence)
		}
	}
}

// Lost are the shards that do not carry their parts of the level any more.
func (l *Lead) Lost() (all []runfile.LostShard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mourn()
	for i, o := range l.others {
		if o.lost != "" {
			all = append(all, runfile.LostShard{Index: i + 1, Why: o.lost})
		}
	}
	return all
}

// Reports are the last counts of the level by index, nil where there are none;
// shard 0's own place is empty.
func (l *Lead) Reports() []*Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []*Report{nil}
	for _, o := range l.others {
		all = append(all, o.report)
	}
	return all
}
