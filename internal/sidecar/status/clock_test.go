package status

import (
	"cmp"
	"strings"
	"testing"
	"time"
	"unsafe"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

// steppedClock is a clock that an administrator sets.
type steppedClock struct {
	began time.Time
	// elapsed is the time by the monotonic clock, step how far the wall clock was set forward.
	elapsed, step time.Duration
}

// now has both readings, as time.Now has. The seconds of the wall clock are in the upper bits of the first
// word of a Time.
func (c *steppedClock) now() time.Time {
	t := c.began.Add(c.elapsed)
	*(*uint64)(unsafe.Pointer(&t)) += uint64(c.step/time.Second) << 30
	return t
}

// TestWallClockStep sets the wall clock during an incident. The ages and durations on the pages follow the
// monotonic clock, no minute is lost or doubled, and the incident ends and stays ended.
func TestWallClockStep(t *testing.T) {
	for name, step := range map[string]time.Duration{
		"an hour forward": time.Hour, "ten minutes back": -10 * time.Minute, "a day back": -24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			c := &steppedClock{began: time.Now()}
			p := New(Options{Now: c.now})
			alert := func(firing bool, age time.Duration) { // the pager's times have no monotonic reading
				change := AlertChange{Firing: firing, At: c.now().Round(0).Add(-age), Labels: map[string]string{
					"alertname": rules.AlertTargetDown, "severity": "page", "target": "t", "workload": "w",
				}}
				if !firing {
					change.Lasted = age
				}
				p.Alert(change)
			}
			probeFor := func(d time.Duration, outcome probe.Outcome) {
				for end := c.elapsed + d; c.elapsed < end; {
					c.elapsed += 10 * time.Second
					feed(p, turn(0, func(r *probe.Result) {
						r.Sent, r.End, r.Outcome = c.now().Add(-time.Second), c.now(), outcome
					}))
				}
			}
			newest := func(want string, incidents int) {
				t.Helper()
				all := p.incidentsNow()
				if got := cmp.Or(all[0].Lasted(), "for "+short(c.now().Sub(all[0].Since).Round(time.Second))); !strings.HasPrefix(got, want) || len(all) != incidents {
					t.Errorf("%v after the start, the first of %d incidents %s, want %d and %q", c.elapsed, len(all), got, incidents, want)
				}
				v, err := p.viewOf(all[0], chart.Figure)
				if err != nil || strings.Contains(v.Text, "after -") {
					t.Errorf("%v after the start: %v\n%s", c.elapsed, err, v.Text)
				}
				shown := p.jobs[key("t", "w")].minutesIn(all[0].span(c.now()))
				if since := c.elapsed - 90*time.Minute; len(shown) < int(since/time.Minute) {
					t.Errorf("%v after the step, the chart of the incident has %d minutes", since, len(shown))
				}
			}

			probeFor(time.Hour, probe.Success)
			probeFor(time.Minute, probe.HTTP5xx)
			alert(true, 0)
			probeFor(29*time.Minute, probe.HTTP5xx)
			c.step = step
			stepped := c.now()
			probeFor(5*time.Minute, probe.HTTP5xx)
			newest("for 35 min", 1)
			probeFor(5*time.Minute, probe.HTTP5xx)
			alert(false, 39*time.Minute)
			newest("lasted 40 min", 1)
			probeFor(30*time.Minute, probe.Success)
			alert(true, 0)
			newest("for 0 µs", 2)

			job := p.Snapshot().Jobs[0]
			if job.Last.Age.V != 0 || job.Recent.Turns != 91 || job.Spending.Span.V != c.elapsed-10*time.Second {
				t.Errorf("the last turn is %v old, %d turns are in the last 15 minutes, the use is that of %v", job.Last.Age, job.Recent.Turns, job.Spending.Span)
			}
			counted, previous := 0, int32(0)
			for _, m := range p.jobs[key("t", "w")].minutesIn(span{c.now().Add(-24 * time.Hour), c.now()}) {
				if m.at <= previous || m.at > minuteOf(c.now()) {
					t.Errorf("minute %d follows minute %d, it is minute %d now", m.at, previous, minuteOf(c.now()))
				}
				if previous = m.at; m.at > minuteOf(stepped) {
					counted += int(m.kinds[1].turns)
				}
			}
			if want := 40*6 - 6; counted < want || counted > want+6 {
				t.Errorf("%d turns in the minutes after the step, want %d", counted, want)
			}
		})
	}
}

// TestFullMinuteStaysOne: a full minute is not shown as the minute before because the wall clock drifts by microseconds
// from the monotonic clock.
func TestFullMinuteStaysOne(t *testing.T) {
	clock := &steppedClock{began: time.Now()}
	minute := clock.now().Round(0).Truncate(time.Minute)
	kept := onClockOf(clock.now(), minute)
	clock.elapsed, clock.step = time.Hour, -3*time.Microsecond
	if got := onClockOf(clock.now(), kept); !got.Round(0).Equal(minute) {
		t.Errorf("%s became %s", minute, got)
	}
	clock.step = time.Hour
	if got := onClockOf(clock.now(), kept); !got.Round(0).Equal(minute.Add(time.Hour)) {
		t.Errorf("%s became %s after the wall clock was set by an hour", minute, got)
	}
}
