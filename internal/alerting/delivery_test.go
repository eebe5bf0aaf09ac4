package alerting

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
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
      - {alert: Fires, expr: test_up > 0, annotations: {summary: up}}
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
	for _, d := range b.sender.destinations {
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
			all, over := b.box.of("a"), b.periods[0].end.UTC().Format("15:04")
			if all[len(all)-1].at.Sub(all[0].at) < missedHold || !strings.HasPrefix(all[0].Annotations["summary"], "up; over since "+over) {
				b.t.Errorf("it was held for less than %v, or does not say that it is over: %q", missedHold, all[0].Annotations)
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

// TestReminders: a firing alert is repeated every minute, its end for 15 minutes with the time at which it ended.
func TestReminders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.fire("a")
		time.Sleep(10*time.Minute + time.Second)
		if n := len(b.box.of("a")); n < 10 || n > 12 {
			t.Errorf("%d messages in ten minutes", n)
		}
		b.resolve("a")
		over := time.Now()
		time.Sleep(time.Hour)
		all := b.box.of("a")
		ends := 0
		for _, p := range all {
			if !p.firing() {
				ends++
				if p.EndsAt.Before(over) || p.EndsAt.Sub(over) > 15*time.Second {
					t.Errorf("it ended at %v, and %v later the message says %v", over, p.at.Sub(over), p.EndsAt)
				}
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
		b.sender.destinations[1].http = &http.Client{Transport: other}
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
	seeds := uint64(30)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
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

// TestStartOnABadDisk: the pager starts, pages, and saves the alerts when the disk works. It keeps a file that it
// cannot read.
func TestStartOnABadDisk(t *testing.T) {
	prepared := func(prepare func(state string) error) func(*testing.T) (string, func()) {
		return func(t *testing.T) (string, func()) {
			dir := t.TempDir()
			if err := prepare(filepath.Join(dir, stateFileName)); err != nil {
				t.Fatal(err)
			}
			return dir, func() {
				if _, err := os.Stat(filepath.Join(dir, stateFileName+damagedSuffix)); err != nil {
					t.Errorf("the file is not kept: %v", err)
				}
			}
		}
	}
	for name, begin := range map[string]func(*testing.T) (dir string, end func()){
		"full": func(t *testing.T) (string, func()) {
			disk := smalldisk.New(t, "1")
			disk.Fill()
			return filepath.Join(disk.Path, "pager"), disk.Free
		},
		"read-only": func(t *testing.T) (string, func()) {
			disk := smalldisk.New(t, "1")
			disk.SetReadOnly(true)
			return disk.Path, func() { disk.SetReadOnly(false) }
		},
		"a file is in the way": func(t *testing.T) (string, func()) {
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(file, "pager"), func() {
				if err := os.Remove(file); err != nil {
					t.Error(err)
				}
			}
		},
		"damaged":    prepared(func(state string) error { return os.WriteFile(state, []byte(`{"alerts": [`), 0o600) }),
		"unreadable": prepared(func(state string) error { return os.Mkdir(state, 0o700) }),
	} {
		t.Run(name, func(t *testing.T) {
			dir, end := begin(t)
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(o *Options) { o.Dir = dir })
				b.fire("a")
				time.Sleep(time.Minute)
				if got := b.box.changes("a"); got != "+" {
					t.Errorf("messages %q", got)
				}
				end()
				time.Sleep(time.Minute)
				if saved, err := readStates(dir); err != nil || len(saved.Alerts) != 1 {
					t.Errorf("saved %+v, %v", saved, err)
				}
				b.stop()
			})
		})
	}
}

// TestAddresses: the path and the port of an Alertmanager need not be in the form of the requests.
func TestAddresses(t *testing.T) {
	for _, url := range []string{
		"http://am/", "http://am/a//b", "http://am/a/../b/", "http://am/team%20a", "http://am/a%2Fb", "http://am/50%25",
		"http://am:/x", "HTTP://AM:80", "http://[fe80::1%25eth0]:9093/", "http://am/x?y#z",
	} {
		t.Run(url, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(o *Options) { o.Alertmanagers[0].URL = url })
				b.fire("a")
				time.Sleep(time.Minute)
				b.stop()
				if got, h := b.box.changes("a"), b.Health().Alertmanagers[0]; got != "+" || h.Err != "" || h.LastOK.IsZero() {
					t.Errorf("messages %q, health %+v", got, h)
				}
			})
		})
	}
}

// TestUnknownEndpoint: a request to an address that no Alertmanager has is an error.
func TestUnknownEndpoint(t *testing.T) {
	p := mustNew(t, Options{Gatherer: newGauge(t).registry})
	defer p.Close()
	req := httptest.NewRequest(http.MethodPost, address, strings.NewReader("[]"))
	resp, err := p.post(t.Context(), nil, req)
	if err == nil {
		resp.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), address) {
		t.Errorf("got %v", err)
	}
}

// TestFailedBatch: the alerts of a failed request are sent again at the next interval although a later request of the
// same evaluation succeeds.
func TestFailedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		failed := 0
		b.box.answers(func(alerts []posted) int {
			if failed == 0 {
				failed = len(alerts)
				return http.StatusBadGateway
			}
			return http.StatusOK
		})
		const targets = 300
		for i := range targets {
			b.fire(strconv.Itoa(i))
		}
		time.Sleep(16 * time.Second)
		if h := b.Health().Alertmanagers[0]; failed == targets || h.Err == "" || h.Undelivered != failed || h.LastOK.IsZero() {
			t.Errorf("%d alerts in the failed request, health %+v", failed, h)
		}
		time.Sleep(15 * time.Second)
		for i := range targets {
			if got := b.box.changes(strconv.Itoa(i)); got != "+" {
				t.Fatalf("target %d: messages %q", i, got)
			}
		}
		time.Sleep(15 * time.Second)
		if h := b.Health().Alertmanagers[0]; h.Err != "" || h.Undelivered != 0 {
			t.Errorf("after all requests succeeded, the health is %+v", h)
		}
		b.stop()
	})
}

// TestNotifierDoesNotStart: Run ends if the notifier does not learn an Alertmanager, or at once if it is stopped.
func TestNotifierDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := func(ctx context.Context) error {
			p := mustNew(t, Options{Gatherer: newGauge(t).registry, Rules: []byte(firing)})
			p.sender.destinations = append(p.sender.destinations, &destination{http: &http.Client{}})
			return p.Run(ctx)
		}
		began := time.Now()
		if err := start(t.Context()); err == nil || !strings.Contains(err.Error(), "knows 0 of 1 Alertmanagers") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > startTimeout+time.Second {
			t.Errorf("it took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := start(ctx); err != nil {
			t.Errorf("stopped: %v", err)
		}
	})
}
