package alerting

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/atomicfile"
)

// slow has a pending alert, one with keep_firing_for, and one that fires.
const slow = `
groups:
  - name: slow
    rules:
      - {alert: Waits, expr: 'test_up{target="waits"} > 0', for: 10m}
      - {alert: Kept, expr: 'test_up{target="kept"} > 0', keep_firing_for: 20m}
      - {alert: Fires, expr: 'test_up{target="fires"} > 0'}
`

// lives runs a pager in dir for some time, in virtual time.
func lives(t *testing.T, dir, ruleText string, g *gauge, box *inbox, length time.Duration, during func(p *Pager)) {
	t.Helper()
	p := mustNew(t, Options{
		Gatherer: g.registry, Rules: []byte(ruleText), Dir: dir,
		Alertmanagers: []Alertmanager{{URL: address}}, Instance: "here",
		Now: box.now,
	})
	p.sender.destinations[0].http = &http.Client{Transport: box}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	time.Sleep(length)
	if during != nil {
		during(p)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// signs lists the messages about an alert from the nth message on: + for firing, - for its end.
func (b *inbox) signs(name string, from int) string {
	var signs strings.Builder
	for _, p := range b.all()[from:] {
		switch {
		case p.Labels["alertname"] != name:
		case p.firing():
			signs.WriteByte('+')
		default:
			signs.WriteByte('-')
		}
	}
	return signs.String()
}

// TestRestart restarts a pager in the middle of three alerts: the firing one continues, the pending
// one continues to wait, and the one that is kept firing lasts until its end.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, g, box := t.TempDir(), newGauge(t), &inbox{}
		set := func(target string, v float64) { g.up.WithLabelValues(target).Set(v) }
		set("waits", 1)
		set("fires", 1)
		set("kept", 1)
		lives(t, dir, slow, g, box, 6*time.Minute, func(*Pager) {
			set("kept", 0)
			time.Sleep(2 * time.Minute)
		})
		early := box.all()
		time.Sleep(time.Minute)
		from := len(box.all())
		lives(t, dir, slow, g, box, 5*time.Minute, nil)
		if got := box.signs("Fires", from); strings.Contains(got, "-") || !strings.HasPrefix(got, "+++") {
			t.Errorf("messages about the firing alert after the restart: %q", got)
		}
		if got := box.signs("Kept", from); strings.Contains(got, "-") || got == "" {
			t.Errorf("messages about the kept alert after the restart: %q", got)
		}
		// Eight of its ten minutes had passed before the downtime of one minute.
		for _, p := range box.all() {
			t.Log(p.Labels["alertname"], p.at, p.StartsAt, p.EndsAt)
		}
		if got := box.signs("Waits", from); !strings.HasPrefix(got, "+") {
			t.Errorf("messages about the pending alert within five minutes of the restart: %q", got)
		}
		for _, p := range box.all()[from:] {
			if p.Labels["alertname"] == "Fires" && !p.StartsAt.Equal(early[0].StartsAt) {
				t.Errorf("it began at %v before the restart and at %v after it", early[0].StartsAt, p.StartsAt)
			}
		}
		from = len(box.all())
		set("fires", 0)
		set("waits", 0)
		lives(t, dir, slow, g, box, 20*time.Minute, nil)
		for _, name := range []string{"Fires", "Kept", "Waits"} {
			if got := box.signs(name, from); !strings.Contains(got, "-") || strings.HasSuffix(got, "+") {
				t.Errorf("messages with the end of %s: %q", name, got)
			}
		}
	})
}

// TestRestartAfterClockStep steps the wall clock by hours before a restart: the firing alert
// continues, and the pending one continues to wait.
func TestRestartAfterClockStep(t *testing.T) {
	for name, by := range map[string]time.Duration{"forwards": 3 * time.Hour, "backwards": -3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var step atomic.Int64
				dir, g := t.TempDir(), newGauge(t)
				box := &inbox{wall: func() time.Time { return time.Now().Add(time.Duration(step.Load())) }}
				for _, target := range []string{"waits", "fires"} {
					g.up.WithLabelValues(target).Set(1)
				}
				lives(t, dir, slow, g, box, 5*time.Minute, func(*Pager) {
					step.Store(int64(by))
					time.Sleep(3 * time.Minute)
				})
				from := len(box.all())
				time.Sleep(time.Minute)
				lives(t, dir, slow, g, box, 5*time.Minute, nil)
				if got := box.signs("Fires", 0); strings.Contains(got, "-") {
					t.Errorf("messages about the firing alert: %q", got)
				}
				// The alert waits for ten minutes, and the downtime is one minute.
				for name, want := range map[string]time.Duration{"Fires": 14 * time.Minute, "Waits": 3 * time.Minute} {
					received := false
					for _, p := range box.all()[from:] {
						if p.Labels["alertname"] != name {
							continue
						}
						received = true
						if ago := box.now().Sub(p.StartsAt); (ago - want).Abs() > time.Minute {
							t.Errorf("%s began %v ago, want %v", name, ago, want)
						}
					}
					if !received {
						t.Errorf("there is no message about %s after the restart", name)
					}
				}
			})
		})
	}
}

// TestRestartWhileAway: after a restart, an Alertmanager still receives an alert that it missed, but
// not one that ended hours ago.
func TestRestartWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, g, box := t.TempDir(), newGauge(t), &inbox{}
		box.answers(always(http.StatusBadGateway))
		g.up.WithLabelValues("fires").Set(1)
		lives(t, dir, slow, g, box, 2*time.Minute, func(*Pager) {
			g.up.WithLabelValues("fires").Set(0)
			time.Sleep(time.Minute)
		})
		box.answers(nil)
		lives(t, dir, slow, g, box, 8*time.Minute, nil)
		if got := box.signs("Fires", 0); !strings.HasPrefix(got, "+") || strings.TrimLeft(got, "+") == "" {
			t.Errorf("messages about the alert that started and ended before the restart: %q", got)
		}
		time.Sleep(3 * time.Hour)
		from := len(box.all())
		lives(t, dir, slow, g, box, time.Minute, nil)
		if got := box.signs("Fires", from); got != "" {
			t.Errorf("messages about an alert that ended hours ago: %q", got)
		}
	})
}

// TestRuleGoneAtRestart: an alert whose rule no longer exists ends.
func TestRuleGoneAtRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, g, box := t.TempDir(), newGauge(t), &inbox{}
		g.up.WithLabelValues("fires").Set(1)
		lives(t, dir, slow, g, box, time.Minute, nil)
		lives(t, dir, strings.Replace(slow, "Fires", "Renamed", 1), g, box, time.Minute, nil)
		if got := box.signs("Fires", 0); !strings.HasSuffix(got, "-") {
			t.Errorf("messages about the alert without a rule: %q", got)
		}
		if got := box.signs("Renamed", 0); !strings.HasPrefix(got, "+") {
			t.Errorf("messages about its successor: %q", got)
		}
	})
}

// TestReload: unchanged groups keep their state.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, box := newGauge(t), &inbox{}
		g.up.WithLabelValues("waits").Set(1)
		lives(t, "", slow, g, box, 6*time.Minute, func(p *Pager) {
			more := slow + "  - name: more\n    rules:\n      - {alert: More, expr: vector(1)}\n"
			if err := p.Reload([]byte(more)); err != nil {
				t.Error(err)
			}
			if err := p.Reload([]byte("groups: [{name: x, rules: [{alert: A, expr: 'up >'}]}]")); err == nil || !strings.Contains(err.Error(), "the alert rules") {
				t.Errorf("a rule file with a mistake gives %v", err)
			}
			time.Sleep(5 * time.Minute)
		})
		for _, name := range []string{"Waits", "More"} {
			if got := box.signs(name, 0); !strings.HasPrefix(got, "+") {
				t.Errorf("messages about %s: %q", name, got)
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	taken := t.TempDir()
	lock, err := atomicfile.LockDir(taken)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	for want, change := range map[string]func(*Options){
		"is in use by process":     func(o *Options) { o.Dir = taken },
		`alertmanager "am:9093"`:   func(o *Options) { o.Alertmanagers = []Alertmanager{{URL: "am:9093"}} },
		"without user information": func(o *Options) { o.Alertmanagers = []Alertmanager{{URL: "http://u:hunter2@am"}} },
		"no such file": func(o *Options) {
			o.Alertmanagers = []Alertmanager{{URL: "https://am", HTTP: promconfig.HTTPClientConfig{TLSConfig: promconfig.TLSConfig{CAFile: "none"}}}}
		},
		"the alert rules": func(o *Options) { o.Rules = []byte("groups: 1") },
	} {
		o := Options{
			Gatherer: prometheus.NewRegistry(),
			Rules:    []byte(slow),
		}
		change(&o)
		p, err := New(o)
		if err == nil {
			t.Errorf("no error, want %q", want)
			_ = p.Close()
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
}
