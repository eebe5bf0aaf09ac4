package sidecar_test

import (
	"context"
	"flag"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// stalled is a process that does not run for the time stop at the beginning of each period every. Its
// connections dial, write and return what they have read only while it runs, and it knows how late it was. It
// differs from a stopped process in two ways: its timers are not late, and there is no kernel that proves when
// the target answered. So it knows of a target what a prober knows behind a proxy.
type stalled struct {
	began       time.Time
	stop, every time.Duration
}

// monitorInterval is how long after the beginning of a stall a lag.Monitor would have run next, at most.
const monitorInterval = 25 * time.Millisecond

// wait returns when the process runs.
func (s *stalled) wait() {
	if into := time.Since(s.began) % s.every; into < s.stop {
		time.Sleep(s.stop - into)
	}
}

// Between implements sidecar.Lateness.
func (s *stalled) Between(from, to time.Time) (longest, lost time.Duration) {
	first := from.Sub(s.began) / s.every
	for begin := s.began.Add(first * s.every); begin.Before(to); begin = begin.Add(s.every) {
		start, end := begin.Add(monitorInterval), begin.Add(s.stop)
		if now := time.Now(); end.After(now) {
			end = now
		}
		if from.After(start) {
			start = from
		}
		if to.Before(end) {
			end = to
		}
		d := max(0, end.Sub(start))
		longest, lost = max(longest, d), lost+d
	}
	return longest, lost
}

// Lag implements sidecar.Lateness: a lateness counts if it has more than a twentieth of the last minute.
func (s *stalled) Lag() time.Duration {
	now := time.Now()
	longest, lost := s.Between(now.Add(-time.Minute), now)
	if lost*20 <= time.Minute {
		return 0
	}
	return longest
}

// Run implements sidecar.Lateness.
func (s *stalled) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// dial returns a dialer of the process.
func (s *stalled) dial(connect dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		s.wait()
		c, err := connect(ctx, network, addr)
		s.wait()
		if err != nil {
			return nil, err
		}
		return stalledConn{c, s}, nil
	}
}

type stalledConn struct {
	net.Conn
	process *stalled
}

func (c stalledConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.process.wait()
	return n, err
}

func (c stalledConn) Write(b []byte) (int, error) {
	c.process.wait()
	return c.Conn.Write(b)
}

// play runs the stalled sidecar with a deployment, and returns its scrapes. It must be called within a synctest bubble.
func (s *stalled) play(t *testing.T, cfg *config.Config, o simulate.Options, state string, length time.Duration) (scrapes []stage.Scrape) {
	t.Helper()
	begin, wire := time.Now(), simulate.NewPipes()
	endTarget := simulate.Serve(wire, simulate.New(o))
	prober, err := sidecar.New(sidecar.Options{DrainTimeout: time.Second, Dial: s.dial(wire.Dial), Lag: s, StateFile: state})
	if err != nil {
		t.Fatal(err)
	}
	if err := prober.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	stop := stage.Run(t, prober)
	for time.Since(begin) < length {
		time.Sleep(stage.ScrapeEvery)
		scrapes = append(scrapes, stage.Scrape{At: time.Now(), Samples: stage.Samples(t, prober)})
	}
	stop()
	endTarget()
	time.Sleep(s.stop) // connections may wait for the end of a stall
	return scrapes
}

// total adds up the series of a counter in a scrape.
func total(s stage.Scrape, name string) (sum float64) {
	for _, sample := range s.Samples {
		if sample.Labels.Get("__name__") == name {
			sum += sample.Value
		}
	}
	return sum
}

var stallHours = flag.Int("stall-hours", 2, "how many hours of virtual time TestHoursOfStalls simulates")

// TestHoursOfStalls runs the sidecar with a healthy target for hours of virtual time, in which it is
// stalled again and again, and evaluates the generated rules on its series. No alert about the target may
// fire. Stalls that cost many turns open a ticket about the prober.
func TestHoursOfStalls(t *testing.T) {
	for name, s := range map[string]*stalled{
		"1 s per 12 min":  {stop: time.Second, every: 12 * time.Minute},
		"5 s per 12 min":  {stop: 5 * time.Second, every: 12 * time.Minute},
		"60 s per 12 min": {stop: time.Minute, every: 12 * time.Minute},
		"4 s per 114 s":   {stop: 4 * time.Second, every: 114 * time.Second},
		"3.3 s per 60 s":  {stop: 3300 * time.Millisecond, every: time.Minute},
		"130 ms per s":    {stop: 130 * time.Millisecond, every: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			length := time.Duration(*stallHours) * time.Hour
			if testing.Short() {
				if name != "4 s per 114 s" {
					t.Skip("one kind of stall is enough for a quick run; make test-long runs all")
				}
				length = time.Hour
			}
			t.Parallel()
			cfg, ruleFile := stage.Rules(t, alertsConfig)
			state := filepath.Join(t.TempDir(), "state")
			var scrapes []stage.Scrape
			synctest.Test(t, func(t *testing.T) {
				stage.Remember(t, state, probe.Key{Target: "chat", Workload: "chat"}, [2]time.Duration{200 * time.Millisecond, 20 * time.Millisecond})
				s.began = time.Now().Add(-s.every / 2) // so that no stall is at the end
				scrapes = s.play(t, cfg, healthyOptions(), state, length+2*time.Minute-s.every/2)
			})
			fired := strings.Split(stage.EverFired(stage.Evaluate(t, ruleFile, scrapes)), ", ")
			t.Logf("fired: %q", fired)
			const starved = "SyntheticProberStarved"
			if often := name == "3.3 s per 60 s"; slices.Contains(fired, starved) != often {
				t.Errorf("a ticket about the prober: %v, want %v", !often, often)
			}
			fired = slices.DeleteFunc(fired, func(alert string) bool { return alert == "" || alert == starved })
			if len(fired) > 0 {
				t.Errorf("alerts about a healthy target: %q", fired)
			}
			turns := total(scrapes[len(scrapes)-1], "synthetic_turns_total")
			if least := 1500 * length.Hours(); turns < least {
				t.Errorf("%v turns, want at least %v", turns, least)
			}
		})
	}
}

// TestOutagesPageDespiteStalls: an outage pages as early as without a stall, apart from the time in which the prober was
// stopped.
func TestOutagesPageDespiteStalls(t *testing.T) {
	const healthy, soon = 2 * time.Minute, 90 * time.Second
	for name, s := range map[string]*stalled{
		"60 s":           {stop: time.Minute, every: time.Hour},
		"4 s per 114 s":  {stop: 4 * time.Second, every: 114 * time.Second},
		"3.3 s per 60 s": {stop: 3300 * time.Millisecond, every: time.Minute},
	} {
		for _, kind := range []simulate.IncidentKind{simulate.ErrorStatus, simulate.NoAnswer} {
			t.Run(name+" "+string(kind), func(t *testing.T) {
				if testing.Short() && (name != "60 s" || kind != simulate.ErrorStatus) {
					t.Skip("make test-long runs it")
				}
				t.Parallel()
				cfg, ruleFile := stage.Rules(t, alertsConfig)
				stalled, o := *s, healthyOptions()
				o.Incidents = []simulate.Incident{{Kind: kind, Share: 1, At: healthy}}
				var scrapes []stage.Scrape
				var fault time.Time
				synctest.Test(t, func(t *testing.T) {
					fault = time.Now().Add(healthy)
					stalled.began = fault.Add(-healthy.Truncate(s.every) - s.every) // a stall begins with the fault
					scrapes = stalled.play(t, cfg, o, filepath.Join(t.TempDir(), "state"), healthy+5*time.Minute)
				})
				firing := stage.Evaluate(t, ruleFile, scrapes)
				took := 5 * time.Minute
				for at, names := range firing {
					if slices.Contains(names, "SyntheticTargetDown chat chat") {
						took = min(took, at.Sub(fault))
					}
				}
				if limit := soon + s.stop; took < 0 || took > limit {
					t.Errorf("the page came after %v, want at most %v; fired: %s", took, limit, stage.EverFired(firing))
				}
			})
		}
	}
}
