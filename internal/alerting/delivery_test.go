package alerting

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/tools/testkit/smalldisk"
)

// firing has one alert for each gauge that is up.
const firing = `
groups:
  - name: firing
    rules:
      - {alert: Fires, expr: test_up > 0}
`

// bench runs a pager in virtual time. The test starts and ends alerts, one for each target.
type bench struct {
	*gauge
	*Pager
	t       *testing.T
	box     *inbox
	periods []*period
	stop    func()
}

// period is a firing period of an alert.
type period struct {
	target    string
	from, end time.Time
}

func newBench(t *testing.T, change func(*Options)) *bench {
	t.Helper()
	b := &bench{gauge: newGauge(t), t: t, box: &inbox{}}
	o := Options{
		Gatherer: b.registry, Rules: []byte(firing), Instance: "here",
		Alertmanagers: []Alertmanager{{URL: address}},
	}
	if change != nil {
		change(&o)
	}
	b.Pager = mustNew(t, o)
	for _, d := range b.destinations {
		d.http = &http.Client{Transport: b.box}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	b.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the pager ended with %v", err)
		}
	}
	time.Sleep(time.Minute)
	return b
}

// fire starts a new firing period, unless the alert fires.
func (b *bench) fire(target string) {
	for _, p := range b.periods {
		if p.target == target && p.end.IsZero() {
			return
		}
	}
	b.up.WithLabelValues(target).Set(1)
	b.periods = append(b.periods, &period{target: target, from: time.Now()})
}

func (b *bench) resolve(target string) {
	b.up.WithLabelValues(target).Set(0)
	for _, p := range b.periods {
		if p.target == target && p.end.IsZero() {
			p.end = time.Now()
		}
	}
}

// of returns the messages about a target.
func (b *inbox) of(target string) (out []posted) {
	for _, p := range b.all() {
		if p.Labels["target"] == target {
			out = append(out, p)
		}
	}
	return out
}

// changes lists what an Alertmanager tells people about a target: + for its start, - for its end.
func (b *inbox) changes(target string) string {
	var signs strings.Builder
	for _, p := range b.of(target) {
		sign := "-"
		if p.firing() {
			sign = "+"
		}
		if !strings.HasSuffix(signs.String(), sign) {
			signs.WriteString(sign)
		}
	}
	return signs.String()
}

func TestDelivery(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func(b *bench)
		want string
	}{
		{"fires and resolves", func(b *bench) {
			b.fire("a")
			time.Sleep(30 * time.Second)
			b.resolve("a")
			time.Sleep(16 * time.Second)
		}, "+-"},
		{"fires while the Alertmanager is away", func(b *bench) {
			b.box.answers(always(http.StatusBadGateway))
			b.fire("a")
			time.Sleep(10 * time.Minute)
			b.box.answers(nil)
			time.Sleep(16 * time.Second)
		}, "+"},
		{"comes and goes while the Alertmanager hangs", func(b *bench) {
			b.box.answers(always(0))
			b.fire("a")
			time.Sleep(3 * time.Minute)
			b.resolve("a")
			time.Sleep(30 * time.Minute)
			b.box.answers(nil)
			time.Sleep(8 * time.Minute)
			if all := b.box.of("a"); all[len(all)-1].at.Sub(all[0].at) < missedHold {
				b.t.Errorf("it was held for less than %v", missedHold)
			}
		}, "+-"},
		{"came and went too long ago", func(b *bench) {
			b.box.answers(always(http.StatusInternalServerError))
			b.fire("a")
			time.Sleep(time.Minute)
			b.resolve("a")
			time.Sleep(90 * time.Minute)
			b.box.answers(nil)
			time.Sleep(10 * time.Minute)
		}, ""},
		{"resolves while the Alertmanager is away", func(b *bench) {
			b.fire("a")
			time.Sleep(30 * time.Second)
			b.box.answers(always(http.StatusServiceUnavailable))
			b.resolve("a")
			time.Sleep(20 * time.Minute)
			b.box.answers(nil)
			time.Sleep(16 * time.Second)
		}, "+-"},
		{"a second period comes and goes while the Alertmanager is away", func(b *bench) {
			b.fire("a")
			time.Sleep(30 * time.Second)
			b.resolve("a")
			time.Sleep(30 * time.Second)
			b.box.answers(always(http.StatusUnauthorized))
			b.fire("a")
			time.Sleep(time.Minute)
			b.resolve("a")
			time.Sleep(time.Minute)
			b.box.answers(nil)
			time.Sleep(30 * time.Second)
		}, "+-+"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				tc.run(b)
				b.stop()
				if got := b.box.changes("a"); got != tc.want {
					t.Errorf("messages %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// TestReminders: a firing alert is repeated every minute, its end for 15 minutes.
func TestReminders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.fire("a")
		time.Sleep(10*time.Minute + time.Second)
		if n := len(b.box.of("a")); n < 10 || n > 12 {
			t.Errorf("%d messages in ten minutes", n)
		}
		b.resolve("a")
		time.Sleep(time.Hour)
		all := b.box.of("a")
		ends := 0
		for _, p := range all {
			if !p.firing() {
				ends++
			}
		}
		if ends < 15 || ends > 17 {
			t.Errorf("its end was sent %d times", ends)
		}
		if n := len(b.states.byID); n != 0 {
			t.Errorf("%d alerts are kept after their end", n)
		}
		b.stop()
	})
}

// TestTwoAlertmanagers: one Alertmanager gets the alerts while the other is away; the other gets those that still fire.
func TestTwoAlertmanagers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *Options) { o.Alertmanagers = append(o.Alertmanagers, Alertmanager{URL: "http://other"}) })
		other := &inbox{}
		b.destinations[1].http = &http.Client{Transport: other}
		other.answers(always(http.StatusBadGateway))
		b.fire("a")
		time.Sleep(time.Minute)
		b.fire("b")
		b.resolve("a")
		time.Sleep(time.Minute)
		if got := b.box.changes("a") + b.box.changes("b"); got != "+-+" {
			t.Errorf("the first got %q", got)
		}
		if h := b.Health().Alertmanagers; h[0].Err != "" || h[0].Undelivered != 0 || h[1].Err != "it answers Bad Gateway" || h[1].Undelivered == 0 {
			t.Errorf("the health is %+v", h)
		}
		other.answers(nil)
		time.Sleep(time.Minute)
		if got := other.changes("b"); got != "+" {
			t.Errorf("the second got %q", got)
		}
		b.stop()
	})
}

// TestStopDelivers: a stopping pager does not wait long for an Alertmanager that hangs.
func TestStopDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.box.answers(always(0))
		b.fire("a")
		time.Sleep(2 * time.Minute)
		began := time.Now()
		b.stop()
		if took := time.Since(began); took > drainTimeout+time.Second {
			t.Errorf("stopping took %v although an Alertmanager hangs", took)
		}
	})
}

// TestNoAlertIsLost starts and ends alerts at random while an Alertmanager fails at random. Every alert
// must be sent as firing, long enough for a notification if it had ended by then, and no alert may
// fire forever.
func TestNoAlertIsLost(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomOutages(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func randomOutages(t *testing.T, rnd *rand.Rand) {
	b := newBench(t, nil)
	targets := []string{"a", "b", "c", "d", "e"}
	failures := []func([]posted) int{always(0), always(http.StatusInternalServerError), always(http.StatusTooManyRequests), nil, nil}
	for range 40 {
		target := targets[rnd.IntN(len(targets))]
		switch rnd.IntN(4) {
		case 0, 1:
			b.fire(target)
		case 2:
			b.resolve(target)
		case 3:
			b.box.answers(failures[rnd.IntN(len(failures))])
		}
		time.Sleep(time.Duration(rnd.IntN(6*60)) * time.Second)
	}
	b.box.answers(nil)
	time.Sleep(2 * time.Minute)
	for _, target := range targets {
		b.resolve(target)
	}
	time.Sleep(30 * time.Minute)
	b.stop()
	for i, p := range b.periods {
		b.check(p, b.periods[i+1:])
	}
	if n := len(b.states.byID); n != 0 {
		t.Errorf("the states still hold %d alerts, half an hour after the last one", n)
	}
}

// check checks that a firing period was sent.
func (b *bench) check(p *period, later []*period) {
	all := b.box.of(p.target)
	if len(all) == 0 || all[len(all)-1].firing() {
		b.t.Fatalf("%s: the last message is not its end", p.target)
	}
	if p.end.Sub(p.from) < 20*time.Second {
		return // possibly between two evaluations
	}
	next := time.Now()
	for _, l := range later {
		if l.target == p.target {
			next = l.from
			break
		}
	}
	answered := false // within the time in which an ended alert is still sent
	for i, m := range all {
		if m.firing() && m.at.After(p.from) {
			if m.at.Before(p.end) || m.at.After(next) {
				return
			}
			for _, end := range all[i:] {
				if !end.firing() && end.at.Before(next) && end.at.Sub(m.at) < missedHold {
					b.t.Errorf("%s had ended when it was sent, and was held only for %v", p.target, end.at.Sub(m.at))
				}
			}
			return
		}
		answered = answered || m.at.After(p.end) && m.at.Sub(p.end) < missedWithin
	}
	if answered {
		b.t.Errorf("%s fired from %v to %v and was never sent", p.target, p.from, p.end)
	}
}

// TestFullDisk: neither a full disk, nor one that is read-only or missing, keeps the pager from paging. With space
// again, the alerts are saved.
func TestFullDisk(t *testing.T) {
	disk := smalldisk.New(t, "1")
	for name, step := range map[string]struct{ begin, end func(dir string) }{
		"full":      {func(string) { disk.Fill() }, func(string) { disk.Free() }},
		"read-only": {func(string) { disk.SetReadOnly(true) }, func(string) { disk.SetReadOnly(false) }},
		"missing": {func(dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		}, func(string) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(disk.Path, name)
				b := newBench(t, func(o *Options) { o.Dir = dir })
				time.Sleep(time.Minute)
				step.begin(dir)
				b.fire("a")
				time.Sleep(time.Minute)
				b.resolve("a")
				b.fire("b")
				time.Sleep(time.Minute)
				if got := b.box.changes("a") + b.box.changes("b"); got != "+-+" {
					t.Errorf("messages %q", got)
				}
				step.end(dir)
				time.Sleep(time.Minute)
				if saved, err := readStates(dir); err != nil || len(saved.Alerts) != 2 {
					t.Errorf("saved %+v, %v", saved, err)
				}
				b.stop()
			})
		})
	}
}

// TestStartOnAFullDisk: the pager starts, pages, and saves the alerts when there is space.
func TestStartOnAFullDisk(t *testing.T) {
	disk := smalldisk.New(t, "1")
	synctest.Test(t, func(t *testing.T) {
		disk.Fill()
		dir := filepath.Join(disk.Path, "pager")
		b := newBench(t, func(o *Options) { o.Dir = dir })
		b.fire("a")
		time.Sleep(time.Minute)
		if got := b.box.changes("a"); got != "+" {
			t.Errorf("messages %q", got)
		}
		disk.Free()
		time.Sleep(time.Minute)
		if saved, err := readStates(dir); err != nil || len(saved.Alerts) != 1 {
			t.Errorf("saved %+v, %v", saved, err)
		}
		b.stop()
	})
}
