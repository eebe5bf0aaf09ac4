package alerting

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/atomicfile"
)

// slow has an alert that waits, and one that is kept.
const slow = `
groups:
  - name: slow
    rules:
      - {alert: Waits, expr: 'test_up{target="waits"} > 0', for: 10m}
      - {alert: Kept, expr: 'test_up{target="kept"} > 0', keep_firing_for: 20m}
      - {alert: Fires, expr: 'test_up{target="fires"} > 0'}
`

// lives runs a pager in dir for a time, in virtual time.
func lives(t *testing.T, dir, ruleText string, g *gauge, box *inbox, length time.Duration, during func(p *Pager)) {
	t.Helper()
	p := mustNew(t, Options{
		Gatherer: g.registry, RuleFiles: []RuleFile{{"rules.yml", []byte(ruleText)}}, Dir: dir,
		Alertmanagers: []Alertmanager{{URL: address}}, Instance: "here",
		Now: box.now,
	})
	p.sendLoops[0].client.http = &http.Client{Transport: box}
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

// since lists what was told of an alert from the nth message on.
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

// TestRestart stops a pager in the middle of three alerts, and starts it
// again: what fired goes on, what waited waits on, what was kept is kept to
// its end.
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
		begun := box.all()
		time.Sleep(time.Minute)
		from := len(box.all())
		lives(t, dir, slow, g, box, 5*time.Minute, nil)
		if got := box.signs("Fires", from); strings.Contains(got, "-") || !strings.HasPrefix(got, "+++") {
			t.Errorf("the alert that fires was told %q after the restart", got)
		}
		if got := box.signs("Kept", from); strings.Contains(got, "-") || got == "" {
			t.Errorf("the alert that is kept was told %q after the restart", got)
		}
		// Eight minutes of ten had passed before the minute's absence.
		for _, p := range box.all() {
			t.Log(p.Labels["alertname"], p.at, p.StartsAt, p.EndsAt)
		}
		if got := box.signs("Waits", from); !strings.HasPrefix(got, "+") {
			t.Errorf("the alert that waits was told %q within five minutes of the restart", got)
		}
		for _, p := range box.all()[from:] {
			if p.Labels["alertname"] == "Fires" && !p.StartsAt.Equal(begun[0].StartsAt) {
				t.Errorf("it began at %v before the restart and at %v after it", begun[0].StartsAt, p.StartsAt)
			}
		}
		from = len(box.all())
		set("fires", 0)
		set("waits", 0)
		lives(t, dir, slow, g, box, 20*time.Minute, nil)
		for _, name := range []string{"Fires", "Kept", "Waits"} {
			if got := box.signs(name, from); !strings.Contains(got, "-") || strings.HasSuffix(got, "+") {
				t.Errorf("the end of %s was told %q", name, got)
			}
		}
	})
}

// TestRestartAfterClockStep sets the wall clock by hours before a restart: what
// fires goes on, and what waits waits on.
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
					t.Errorf("the alert that fires was told %q", got)
				}
				// It waits for ten minutes, and a minute was nobody there.
				for name, want := range map[string]time.Duration{"Fires": 14 * time.Minute, "Waits": 3 * time.Minute} {
					told := false
					for _, p := range box.all()[from:] {
						if p.Labels["alertname"] != name {
							continue
						}
						told = true
						if ago := box.now().Sub(p.StartsAt); (ago - want).Abs() > time.Minute {
							t.Errorf("%s began %v ago, want %v", name, ago, want)
						}
					}
					if !told {
						t.Errorf("%s was not told after the restart", name)
					}
				}
			})
		})
	}
}

// TestRestartWhileAway keeps what an Alertmanager does not know over a
// restart, and forgets what is long over.
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
			t.Errorf("the alert that came and went before the restart was told %q", got)
		}
		time.Sleep(3 * time.Hour)
		from := len(box.all())
		lives(t, dir, slow, g, box, time.Minute, nil)
		if got := box.signs("Fires", from); got != "" {
			t.Errorf("an alert of hours ago was told %q", got)
		}
	})
}

// TestRuleGoneAtRestart ends an alert whose rule does not exist any more.
func TestRuleGoneAtRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, g, box := t.TempDir(), newGauge(t), &inbox{}
		g.up.WithLabelValues("fires").Set(1)
		lives(t, dir, slow, g, box, time.Minute, nil)
		lives(t, dir, strings.Replace(slow, "Fires", "Renamed", 1), g, box, time.Minute, nil)
		if got := box.signs("Fires", 0); !strings.HasSuffix(got, "-") {
			t.Errorf("the alert without a rule was told %q", got)
		}
		if got := box.signs("Renamed", 0); !strings.HasPrefix(got, "+") {
			t.Errorf("its successor was told %q", got)
		}
	})
}

// TestReload keeps the state of groups that did not change.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, box := newGauge(t), &inbox{}
		g.up.WithLabelValues("waits").Set(1)
		lives(t, "", slow, g, box, 6*time.Minute, func(p *Pager) {
			more := slow + "  - name: more\n    rules:\n      - {alert: More, expr: vector(1)}\n"
			if err := p.Reload([]RuleFile{{"rules.yml", []byte(more)}}); err != nil {
				t.Error(err)
			}
			if err := p.Reload([]RuleFile{{"rules.yml", []byte("groups: [{name: x, rules: [{alert: A, expr: 'up >'}]}]")}}); err == nil || !strings.Contains(err.Error(), `rule file "rules.yml"`) {
				t.Errorf("a rule file with a mistake gives %v", err)
			}
			time.Sleep(5 * time.Minute)
		})
		for _, name := range []string{"Waits", "More"} {
			if got := box.signs(name, 0); !strings.HasPrefix(got, "+") {
				t.Errorf("%s was told %q", name, got)
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken, foreign := t.TempDir(), t.TempDir()
	lock, err := atomicfile.LockDir(taken)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := os.WriteFile(filepath.Join(foreign, "tsdb"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := t.TempDir()
	if err := os.WriteFile(filepath.Join(damaged, stateFileName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := t.TempDir()
	if err := os.WriteFile(filepath.Join(newer, stateFileName), []byte(`{"version": 9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"needs a gatherer":                 func(o *Options) { o.Gatherer = nil },
		"making the pager's directory":     func(o *Options) { o.Dir = file },
		"is in use by process":             func(o *Options) { o.Dir = taken },
		"opening the pager's storage":      func(o *Options) { o.Dir = foreign },
		"remove the file to start without": func(o *Options) { o.Dir = damaged },
		"has version 9, not 1":             func(o *Options) { o.Dir = newer },
		`alertmanager "am:9093"`:           func(o *Options) { o.Alertmanagers = []Alertmanager{{URL: "am:9093"}} },
		"without user information":         func(o *Options) { o.Alertmanagers = []Alertmanager{{URL: "http://u:hunter2@am"}} },
		"no such file": func(o *Options) {
			o.Alertmanagers = []Alertmanager{{URL: "https://am", HTTP: promconfig.HTTPClientConfig{TLSConfig: promconfig.TLSConfig{CAFile: "none"}}}}
		},
		`rule file "rules.yml"`: func(o *Options) { o.RuleFiles[0].Data = []byte("groups: 1") },
	} {
		o := Options{
			Gatherer:  prometheus.NewRegistry(),
			RuleFiles: []RuleFile{{"rules.yml", []byte(slow)}},
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

// TestDamagedLog cuts the log of samples off, as a crash of the machine does,
// and spoils it: the pager starts on what can be read, and its alerts go on.
func TestDamagedLog(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut off": func(log []byte) []byte { return log[:len(log)-10] },
		"spoiled": func(log []byte) []byte {
			for i := len(log) / 2; i < len(log)/2+100; i++ {
				log[i] = 0xff
			}
			return log
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, g, box := t.TempDir(), newGauge(t), &inbox{}
				g.up.WithLabelValues("fires").Set(1)
				lives(t, dir, slow, g, box, 5*time.Minute, nil)
				logs, err := filepath.Glob(filepath.Join(dir, "tsdb", "wal", "0*"))
				if err != nil || len(logs) == 0 {
					t.Fatalf("no log of samples: %v", err)
				}
				newest := logs[len(logs)-1]
				text, err := os.ReadFile(newest)
				if err != nil || len(text) < 1000 {
					t.Fatalf("%d bytes of %s (%v)", len(text), newest, err)
				}
				if err := os.WriteFile(newest, damage(text), 0o600); err != nil {
					t.Fatal(err)
				}
				from := len(box.all())
				lives(t, dir, slow, g, box, 5*time.Minute, nil)
				if got := box.signs("Fires", from); strings.Contains(got, "-") || got == "" {
					t.Errorf("the alert that fires was told %q", got)
				}
			})
		})
	}
}
