package alerting

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bench runs a send loop in virtual time. The test starts and ends alerts, and bench reports them
// at each interval as the rule manager does.
type bench struct {
	t      *testing.T
	box    *inbox
	states *alertStates
	clock  *clock
	alerts []ruleAlert
	stop   func()
}

func newBench(t *testing.T) *bench { return newBenchAt(t, time.Now) }

// newBenchAt returns a bench with its own wall clock.
func newBenchAt(t *testing.T, wall func() time.Time) *bench {
	b := &bench{t: t, box: &inbox{}, clock: newClock(wall, savedStates{})}
	var c *sendLoop
	b.states, c = newDesk(b.clock, b.box, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(ctx)
	}()
	b.stop = func() {
		cancel()
		<-done
	}
	return b
}

// fire starts a new firing period of an alert, unless it fires.
func (b *bench) fire(name string) {
	for _, a := range b.alerts {
		if a.name == name && a.resolved.IsZero() {
			return
		}
	}
	b.alerts = append(b.alerts, ruleAlert{name: name, fired: b.clock.now()})
}

// resolve ends the firing period of an alert.
func (b *bench) resolve(name string) {
	for i := range b.alerts {
		if b.alerts[i].name == name && b.alerts[i].resolved.IsZero() {
			b.alerts[i].resolved = b.clock.now()
		}
	}
}

// pass waits, with an evaluation at each interval.
func (b *bench) pass(d time.Duration) {
	for ; d > 0; d -= evaluateEvery {
		b.evaluate()
		time.Sleep(min(d, evaluateEvery))
		b.states.expire()
		synctest.Wait()
	}
}

func (b *bench) evaluate() {
	now := b.clock.now()
	// A rule has one alert for each set of labels: the latest firing period.
	latest := map[string]ruleAlert{}
	for _, a := range b.alerts {
		latest[a.name] = a
	}
	for _, a := range latest {
		if a.resolved.IsZero() || now.Sub(a.resolved) < 15*time.Minute {
			b.states.notify(b.t.Context(), "", a.at(now))
		}
	}
	synctest.Wait()
}

// messages lists the messages about an alert, + for firing and - for its end, with their times.
func (b *bench) messages(name string) (signs string, at []time.Time) {
	for _, p := range b.box.all() {
		if p.Labels["alertname"] != name {
			continue
		}
		if p.firing() {
			signs += "+"
		} else {
			signs += "-"
		}
		at = append(at, p.at)
	}
	return signs, at
}

func TestDelivery(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func(b *bench)
		want string
	}{
		{"fires and resolves", func(b *bench) {
			b.fire("a")
			b.pass(30 * time.Second)
			b.resolve("a")
			b.pass(15 * time.Second)
		}, "+-"},
		{"is reminded", func(b *bench) {
			b.fire("a")
			b.pass(5*time.Minute + time.Second)
		}, "++++++"},
		{"its end is repeated for 15 minutes", func(b *bench) {
			b.fire("a")
			b.pass(30 * time.Second)
			b.resolve("a")
			b.pass(time.Hour)
		}, "+---------------"},
		{"fires while away", func(b *bench) {
			b.box.answers(always(http.StatusBadGateway))
			b.fire("a")
			b.pass(10 * time.Minute)
			b.box.answers(nil)
			b.pass(45 * time.Second)
		}, "+"},
		{"comes and goes while away: held for six minutes", func(b *bench) {
			b.box.answers(always(0))
			b.fire("a")
			b.pass(3 * time.Minute)
			b.resolve("a")
			b.pass(30 * time.Minute)
			b.box.answers(nil)
			b.pass(7 * time.Minute)
		}, "++++++-"},
		{"came and went too long ago", func(b *bench) {
			b.box.answers(always(http.StatusInternalServerError))
			b.fire("a")
			b.pass(time.Minute)
			b.resolve("a")
			b.pass(90 * time.Minute)
			b.box.answers(nil)
			b.pass(10 * time.Minute)
		}, ""},
		{"resolves while away", func(b *bench) {
			b.fire("a")
			b.pass(30 * time.Second)
			b.box.answers(always(http.StatusServiceUnavailable))
			b.resolve("a")
			b.pass(20 * time.Minute)
			b.box.answers(nil)
			b.pass(45 * time.Second)
		}, "+-"},
		{"fires anew after its end", func(b *bench) {
			b.fire("a")
			b.pass(30 * time.Second)
			b.resolve("a")
			b.pass(30 * time.Second)
			b.fire("a")
			b.pass(30 * time.Second)
		}, "+-+"},
		{"a second firing period starts and ends while away", func(b *bench) {
			b.fire("a")
			b.pass(30 * time.Second)
			b.resolve("a")
			b.pass(30 * time.Second)
			b.box.answers(always(http.StatusUnauthorized))
			b.fire("a")
			b.pass(time.Minute)
			b.resolve("a")
			b.pass(time.Minute)
			b.box.answers(nil)
			b.pass(30 * time.Second)
		}, "+-+"},
		{"its rule is gone", func(b *bench) {
			b.fire("a")
			b.pass(15 * time.Second)
			b.alerts = nil
			b.pass(75 * time.Second)
		}, "++-"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				tc.run(b)
				b.stop()
				if got, _ := b.messages("a"); got != tc.want {
					t.Errorf("messages %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// TestRefusedAlert: an alert that the Alertmanager rejects does not block others.
func TestRefusedAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.box.answers(func(alerts []posted) int {
			for _, a := range alerts {
				if a.Labels["alertname"] == "bad" {
					return http.StatusBadRequest
				}
			}
			return http.StatusOK
		})
		b.fire("bad")
		b.fire("good")
		b.pass(30 * time.Second)
		b.stop()
		if got, _ := b.messages("good"); got != "+" {
			t.Errorf("messages about the good alert: %q, want one", got)
		}
		if b.box.requests > 5 {
			t.Errorf("%d requests for two alerts", b.box.requests)
		}
	})
}

// TestStopDelivers: a stopping loop sends the last changes, but not for long.
func TestStopDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.box.answers(always(http.StatusBadGateway))
		b.fire("a")
		b.pass(5 * time.Minute)
		b.box.answers(nil)
		b.stop()
		if got, _ := b.messages("a"); got != "+" {
			t.Errorf("messages at the end: %q, want it to fire", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.box.answers(always(0))
		b.fire("a")
		b.pass(time.Minute)
		began := time.Now()
		b.stop()
		if took := time.Since(began); took > drainTimeout {
			t.Errorf("stopping took %v although an Alertmanager hangs", took)
		}
	})
}

// TestNoAlertIsLost starts and ends alerts at random while an Alertmanager fails at random. Every alert
// must be sent as firing, long enough for a notification if it had ended by then, and no alert may
// fire forever.
func TestNoAlertIsLost(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomOutages(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func randomOutages(t *testing.T, rnd *rand.Rand) {
	b := newBench(t)
	names := []string{"a", "b", "c", "d", "e"}
	failures := []func([]posted) int{always(0), always(http.StatusInternalServerError), always(http.StatusTooManyRequests), nil, nil}
	for range 40 {
		name := names[rnd.IntN(len(names))]
		switch rnd.IntN(4) {
		case 0, 1:
			b.fire(name)
		case 2:
			b.resolve(name)
		case 3:
			b.box.answers(failures[rnd.IntN(len(failures))])
		}
		b.pass(time.Duration(rnd.IntN(6*60)) * time.Second)
	}
	b.box.answers(nil)
	b.pass(time.Minute)
	for _, name := range names {
		b.resolve(name)
	}
	b.pass(30 * time.Minute)
	b.stop()
	for _, a := range b.alerts {
		b.check(a)
	}
	if n := len(b.states.byID); n != 0 {
		t.Errorf("the states still hold %d alerts, half an hour after the last one", n)
	}
}

// check checks that a firing period was sent.
func (b *bench) check(a ruleAlert) {
	signs, at := b.messages(a.name)
	if signs == "" || signs[len(signs)-1] != '-' {
		b.t.Fatalf("%s: the last message is not its end: %q", a.name, signs)
	}
	if a.resolved.Sub(a.fired) < evaluateEvery {
		return // possibly between two evaluations
	}
	first := -1
	for i := range at {
		if signs[i] == '+' && !at[i].Before(a.fired) {
			first = i
			break
		}
	}
	if first < 0 {
		if b.missed(a) {
			return
		}
		b.t.Errorf("%s fired from %v to %v and was never sent", a.name, a.fired, a.resolved)
		return
	}
	if at[first].After(a.resolved) && !b.firedAgain(a, at[first]) {
		for i := first; i < len(at); i++ {
			if signs[i] == '-' && at[i].Sub(at[first]) < missedHold-reminderInterval {
				b.t.Errorf("%s had ended when it was sent, and was held only for %v", a.name, at[i].Sub(at[first]))
			}
			if signs[i] == '-' {
				break
			}
		}
	}
}

// firedAgain reports whether a later firing period of the same alert had begun by a time. A message at
// that time was about the later one.
func (b *bench) firedAgain(a ruleAlert, by time.Time) bool {
	for _, later := range b.alerts {
		if later.name == a.name && later.fired.After(a.fired) && !later.fired.After(by) {
			return true
		}
	}
	return false
}

// missed reports whether the Alertmanager failed for so long after the end of a firing period that it
// is no longer sent.
func (b *bench) missed(a ruleAlert) bool {
	for _, p := range b.box.all() {
		if p.at.After(a.resolved) && p.at.Sub(a.resolved) < missedWithin {
			return false
		}
	}
	return true
}

// TestClockStepIsSentAtOnce: after a step of the wall clock, an Alertmanager on the same machine would
// end an alert too late or too early. It receives the new time within one round.
func TestClockStepIsSentAtOnce(t *testing.T) {
	for name, by := range map[string]time.Duration{"forwards": time.Hour, "backwards": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var step atomic.Int64
				wall := func() time.Time { return time.Now().Add(time.Duration(step.Load())) }
				b := newBenchAt(t, wall)
				defer b.stop()
				b.fire("a")
				b.pass(10*time.Minute + 20*time.Second) // between two reminders
				before := b.box.all()
				step.Store(int64(by))
				b.pass(reminderInterval)
				after := b.box.all()[len(before):]
				if len(after) != 1 {
					t.Fatalf("%d messages within a round of the step, want 1", len(after))
				}
				a := after[0]
				if left := a.EndsAt.Sub(wall()); left <= 0 || left > validFor {
					t.Errorf("the alert ends %v from now, want up to %v", left, validFor)
				}
				if moved := a.StartsAt.Sub(before[0].StartsAt); (moved - by).Abs() > time.Second {
					t.Errorf("its start moved by %v with a step of %v", moved, by)
				}
				b.pass(3 * time.Minute)
				if n := len(b.box.all()) - len(before); n != 4 {
					t.Errorf("%d messages until three minutes later, want 4", n)
				}
			})
		})
	}
}
