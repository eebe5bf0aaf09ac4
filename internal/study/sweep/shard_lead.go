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

// Lead is the barrier on shard 0. The sweep calls its methods, an http.Server calls ServeHTTP.
type Lead struct {
	// Logger logs which shards are missing; nil logs nothing.
	Logger *slog.Logger
	hello  Hello
	token  string

	mu      sync.Mutex
	step    step
	level   int64         // number of the level's Prepare step
	peers   []*peer       // by index − 1
	changed chan struct{} // closed and replaced when a shard reports something new
}

// peer is the state of another shard; lost holds for one level.
type peer struct {
	process string
	former  map[string]bool // earlier processes of the shard
	seen    time.Time
	step    int64
	done    bool
	report  *levelReport
	leaving string
	lost    string
}

// NewLead returns the barrier of shard 0 for shards with the token. An empty token admits every
// shard. Until Open is called, shards must retry.
func NewLead(h Hello, token string) *Lead {
	l := &Lead{Logger: slog.New(slog.DiscardHandler), hello: h, token: token, changed: make(chan struct{})}
	for range h.Count - 1 {
		l.peers = append(l.peers, &peer{former: map[string]bool{}})
	}
	return l
}

// open starts a sweep with an ID.
func (l *Lead) open(sweep string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Numbers must not repeat after a restart of shard 0.
	l.step = step{Number: time.Now().UnixMilli(), Kind: stepWait, Sweep: sweep}
}

// announce sets the step of all shards.
func (l *Lead) announce(s step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Number, s.Sweep = l.step.Number+1, l.step.Sweep
	l.step = s
	if s.Kind == stepPrepare {
		l.level = s.Number
	}
}

// gather waits until all shards are present and have finished the previous step, for patience
// at most. Earlier losses are forgotten.
func (l *Lead) gather(ctx context.Context, patience time.Duration) error {
	began, absent := time.Now(), ""
	tell := began.Add(logWaitingAfter)
	ok := l.wait(ctx, patience, func() bool {
		var names []string
		for i, o := range l.peers {
			switch {
			case o.seen.IsZero():
				names = append(names, fmt.Sprintf("shard %d (never seen)", i+1))
			case !o.alive() || !o.ready(l.step.Number):
				names = append(names, fmt.Sprintf("shard %d (last seen %s ago)", i+1, time.Since(o.seen).Round(time.Second)))
			}
		}
		absent = strings.Join(names, ", ")
		if now := time.Now(); absent != "" && now.After(tell) {
			tell = now.Add(logWaitingEvery)
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
	for _, o := range l.peers {
		o.lost, o.report = "", nil
	}
	return nil
}

// await waits until every shard has finished the step or is lost. A shard that is not ready by
// limit counts as lost.
func (l *Lead) await(ctx context.Context, limit time.Duration) {
	done := l.wait(ctx, limit, func() bool {
		l.markLost()
		return !slices.ContainsFunc(l.peers, func(o *peer) bool { return o.lost == "" && !o.ready(l.step.Number) })
	})
	if done || ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.peers {
		if o.lost == "" && !o.ready(l.step.Number) {
			o.lost = fmt.Sprintf("it was not done %s after shard 0", limit.Round(time.Second))
		}
	}
}

// wait waits until holds returns true, and reports whether it did before the limit and the end
// of ctx. It calls holds under mu.
func (l *Lead) wait(ctx context.Context, limit time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	look := time.NewTicker(time.Second) // to notice silent shards
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

func (o *peer) alive() bool { return o.leaving == "" && time.Since(o.seen) < silenceLimit }

// ready reports whether the shard has finished a step.
func (o *peer) ready(step int64) bool { return o.done && o.step == step }

func (l *Lead) markLost() {
	for _, o := range l.peers {
		if o.lost == "" && !o.alive() {
			o.lost = fmt.Sprintf("no sign of life for %s", silenceLimit)
		}
	}
}

// lost returns the shards that no longer take part in the level.
func (l *Lead) lost() (all []runfile.LostShard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.markLost()
	for i, o := range l.peers {
		if o.lost != "" {
			all = append(all, runfile.LostShard{Index: i + 1, Why: o.lost})
		}
	}
	return all
}

// reports returns the last counts of the level by index, nil without counts. The place of shard
// 0 is empty.
func (l *Lead) reports() []*levelReport {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []*levelReport{nil}
	for _, o := range l.peers {
		all = append(all, o.report)
	}
	return all
}
