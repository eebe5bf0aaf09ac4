package rules_test

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/promtest"
)

// bench is an alert with the rules and series that it needs.
type bench struct {
	t      *testing.T
	file   []byte // its rules
	server *promtest.Server
	now    time.Time
	world  []series
	totals map[string]float64
	// down is true if scrapes fail, nan if all scraped values are NaN.
	down, nan bool
}

func newBench(t *testing.T, a sixfold) *bench {
	t.Helper()
	in := usual
	if a.in != nil {
		in = a.in
	}
	b := &bench{
		t: t, file: only(t, in(), a), totals: map[string]float64{},
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	b.server = promtest.New(t, b.file, time.Minute)
	b.turns(nil)
	// The process has run for some time, so that a reset is visible.
	for _, s := range b.world {
		b.totals[s.labels.String()] = 5000
	}
	return b
}

// only returns a rule file with an alert and the recording rules that it reads.
func only(t *testing.T, in rules.Input, a sixfold) []byte {
	t.Helper()
	r, err := rules.Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	var read string // the expressions of the needed rules
	needed := func(r rulefmt.Rule) bool {
		return r.Alert == a.alert && (a.scope == "" || r.Labels["scope"] == a.scope) || r.Record != "" && strings.Contains(read, r.Record)
	}
	for before := -1; before != len(read); {
		before = len(read)
		more := ""
		for _, g := range r.Groups.Groups {
			for _, rule := range g.Rules {
				if needed(rule) {
					more += rule.Expr + "\n"
				}
			}
		}
		read = more
	}
	for i, g := range r.Groups.Groups {
		r.Groups.Groups[i].Rules = slices.DeleteFunc(g.Rules, func(r rulefmt.Rule) bool { return !needed(r) })
	}
	file, err := r.PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// reads lists the metrics of the world that the alert's rules read.
func (b *bench) reads() []string {
	var names []string
	for _, s := range b.world {
		if bytes.Contains(b.file, []byte(s.name())) {
			names = append(names, s.name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// window is the range of a selector in a rule.
var window = regexp.MustCompile(`\[(\d\w*[smhdw])[\]:]`)

// outOfSight is longer than the alert's rules see samples that have ended, and than the alert then waits. It
// is the constant for alerts with long windows, and shorter for most others.
func (b *bench) outOfSight(a sixfold) time.Duration {
	longest := model.Duration(5 * time.Minute) // of a selector without a range
	for _, m := range window.FindAllSubmatch(b.file, -1) {
		d, err := model.ParseDuration(string(m[1]))
		if err != nil {
			b.t.Fatal(err)
		}
		longest = max(longest, d)
	}
	return min(time.Duration(longest)+a.fires+10*time.Minute, outOfSight)
}

// lose removes a metric, and the metrics that a prober always exports together with it.
func (b *bench) lose(metric string) {
	gone := []string{metric}
	for _, together := range [][]string{
		{metrics.SignalTurns, metrics.SignalLog2},
		{metrics.CachedPromptTokens, metrics.CacheKnownPrompt},
	} {
		if slices.Contains(together, metric) {
			gone = together
		}
	}
	b.world = slices.DeleteFunc(b.world, func(s series) bool { return slices.Contains(gone, s.name()) })
}

// turns resets the world to healthy series, with some replaced.
func (b *bench) turns(other []series) {
	b.world = healthyWorld()
	for _, s := range other {
		i := slices.IndexFunc(b.world, func(w series) bool { return labels.Equal(w.labels, s.labels) })
		if i < 0 && s.name() == metrics.FinishReasons { // a reason has no series before its first answer
			b.world = append(b.world, s)
			continue
		}
		if i < 0 {
			b.t.Fatalf("the healthy world has no %s", s.labels)
		}
		b.world[i] = s
	}
}

// reset restarts every counter.
func (b *bench) reset() { clear(b.totals) }

// minute simulates a minute: traffic, a scrape and an evaluation.
func (b *bench) minute() {
	b.now = b.now.Add(time.Minute)
	var samples []promtest.Sample
	for _, s := range b.world {
		key := s.labels.String()
		b.totals[key] += s.perMinute
		v := b.totals[key]
		switch {
		case b.nan:
			v = math.NaN()
		case s.gauge != nil:
			v = s.gauge(b.now)
		}
		samples = append(samples, promtest.Sample{Labels: s.labels, Value: v})
	}
	if b.down {
		samples = nil
	}
	b.server.Scrape(b.now, "prober-0", samples)
	b.server.Evaluate(b.now)
}

func (b *bench) firing() bool { return len(b.server.Firing()) > 0 }

// until lets time pass until the alert fires, or does not; it says whether that
// came within d.
func (b *bench) until(firing bool, d time.Duration) bool {
	for range int(d / time.Minute) {
		b.minute()
		if b.firing() == firing {
			return true
		}
	}
	return false
}

// soon wants the alert to fire within d.
func (b *bench) soon(d time.Duration) {
	b.t.Helper()
	if !b.until(true, d) {
		b.t.Fatalf("does not fire within %s", d)
	}
}

// never wants it not to fire for d.
func (b *bench) never(d time.Duration) {
	b.t.Helper()
	if begin := b.now; b.until(true, d) {
		b.t.Fatalf("fires after %s", b.now.Sub(begin))
	}
}

// always wants it to fire on for d.
func (b *bench) always(d time.Duration) {
	b.t.Helper()
	if begin := b.now; b.until(false, d) {
		b.t.Fatalf("is over after %s", b.now.Sub(begin))
	}
}

// over wants it to have ended within d.
func (b *bench) over(d time.Duration) {
	b.t.Helper()
	if !b.until(false, d) {
		b.t.Fatalf("is not over within %s", d)
	}
}

// expect wants it to fire within d, or never.
func (b *bench) expect(fires bool, d time.Duration) {
	b.t.Helper()
	if fires {
		b.soon(d)
	} else {
		b.never(d)
	}
}
