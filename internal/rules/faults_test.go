package rules_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	promrules "github.com/prometheus/prometheus/rules"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
	"synthetic/tools/testkit/promtest"
)

// street is a house whose probers send single turns at a steady rate. It is scraped and evaluated every 15 s, as by
// the embedded pager.
type street struct {
	*house
	gap     time.Duration // between two turns of one prober
	age     time.Duration
	waiting []arrival
	scrape  func(*prober) []promtest.Sample
}

// arrival is a turn that has been sent. Its result is known at its end.
type arrival struct {
	prober *prober
	probe.Result
}

// manner returns the result of a turn that starts now, and how long it takes.
type manner func(age time.Duration) (probe.Result, time.Duration)

func fails(o probe.Outcome, after time.Duration) manner {
	return func(time.Duration) (probe.Result, time.Duration) { return probe.Result{Outcome: o}, after }
}

func well(time.Duration) (probe.Result, time.Duration) { return ok(0, probe.First), time.Second }

func late(time.Duration) (probe.Result, time.Duration) { return slow(0, probe.First), 4 * time.Second }

// frozen is an engine that makes no token until an age of the street.
func frozen(until time.Duration) manner {
	return func(age time.Duration) (probe.Result, time.Duration) {
		r := ok(0, probe.First)
		r.TTFT = probe.Some(until - age)
		return r, until - age + time.Second
	}
}

// newStreet has a target with objectives of latency and availability, and a number of probers with a total rate.
func newStreet(t *testing.T, replicas int, perMinute float64, features ...func(*promql.EngineOpts)) *street {
	in := of("a")
	in.Jobs[0].TurnsPerMinute, in.Jobs[0].ConversationsPerMinute = perMinute, perMinute
	in.SLOs = []slo.Objective{ttft, available}
	s := &street{house: newHouse(t, in, replicas), gap: time.Duration(float64(replicas) / perMinute * float64(time.Minute))}
	file, err := generate(t, in).PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	s.Server, s.scrape = promtest.New(t, file, every, features...), s.samples
	return s
}

// lives lets time pass and returns the pages that began, each with its age in seconds. If it is quiet, only the rules that
// long windows read are evaluated.
func (s *street) lives(d time.Duration, m manner, quiet bool) (began []string) {
	for end := s.age + d; s.age < end; {
		s.age, s.now = s.age+time.Second, s.now.Add(time.Second)
		for i, p := range s.probers {
			p.beat = s.now
			if (s.age+time.Duration(i)*s.gap/time.Duration(len(s.probers)))%s.gap < time.Second {
				r, takes := m(s.age)
				r.Target, r.Workload, r.Kind = "a", "chat", probe.First
				r.Scheduled, r.Sent, r.End = s.now, s.now, s.now.Add(takes)
				s.waiting = append(s.waiting, arrival{p, r})
				p.sinks.Observe(probe.Start{Target: "a", Workload: "chat", Kind: probe.First})
			}
		}
		s.waiting = slices.DeleteFunc(s.waiting, func(a arrival) bool {
			if a.End.After(s.now) {
				return false
			}
			a.prober.sinks.Observe(a.Result)
			return true
		})
		if s.age%every != 0 {
			continue
		}
		for _, p := range s.probers {
			s.Scrape(s.now, p.instance, s.scrape(p))
		}
		if quiet {
			s.EvaluateGroups("synthetic-slo-rates", s.now, s.now)
			continue
		}
		before := s.pages()
		s.Evaluate(s.now)
		for _, page := range s.pages() {
			if !slices.Contains(before, page) {
				began = append(began, fmt.Sprintf("%s %v", page, s.age))
			}
		}
	}
	return began
}

// pages returns the names of the firing pages.
func (s *street) pages() (names []string) {
	for _, a := range s.Alerts() {
		if a.Labels.Get("severity") == "page" {
			names = append(names, a.Labels.Get("alertname")+a.Labels.Get("slo"))
		}
	}
	return names
}

// TestOneOutageOnePage: an outage is one page, at every rate and age of the prober, with one prober or two, and also if
// turns fail late. TestOneFaultOnePage has other faults.
func TestOneOutageOnePage(t *testing.T) {
	for _, perMinute := range []float64{1, 2, 6, 12, 30} {
		for _, age := range []time.Duration{0, 4 * time.Minute, 90 * time.Minute} {
			for name, kind := range map[string]manner{
				"refused": fails(probe.ConnectError, 0), "hangs": fails(probe.TimeoutFirstToken, 30*time.Second),
			} {
				for replicas := range 2 {
					t.Run(fmt.Sprintf("%v a minute at %v with %d probers %s", perMinute, age, replicas+1, name), func(t *testing.T) {
						if replicas == 0 && name == "refused" {
							t.Skip("TestOneFaultOnePage runs it")
						}
						if testing.Short() && (age > 0 || perMinute != 2 || name != "hangs" || replicas != 1) {
							t.Skip("make test-long runs it")
						}
						t.Parallel()
						s := newStreet(t, replicas+1, perMinute)
						s.lives(age, well, true)
						began := s.lives(12*time.Minute, kind, false)
						began = append(began, s.lives(12*time.Minute, well, false)...)
						if len(began) != 1 || !strings.HasPrefix(began[0], rules.AlertTargetDown) {
							t.Errorf("pages: %v", began)
						}
					})
				}
			}
		}
	}
}

// TestNextFaultPages: after the page of an outage has ended, another fault pages within 75 s.
func TestNextFaultPages(t *testing.T) {
	for name, tc := range map[string]struct {
		next manner
		slo  string
	}{"refused for load": {fails(probe.HTTP429, 0), "available"}, "slow first tokens": {late, "ttft"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreet(t, 1, 30)
			s.lives(10*time.Minute, well, true)
			s.lives(3*time.Minute, fails(probe.ConnectError, 0), false)
			s.lives(2*time.Minute, well, false)
			if firing := s.pages(); len(firing) > 0 {
				t.Fatalf("%v fire two minutes after the outage", firing)
			}
			at := s.age
			began := s.lives(75*time.Second, tc.next, false)
			began = append(began, s.lives(3*time.Minute, tc.next, false)...)
			began = append(began, s.lives(10*time.Minute, well, false)...)
			if len(began) != 1 || !strings.HasPrefix(began[0], rules.AlertSLOFastBurn+tc.slo) {
				t.Errorf("pages after %v: %v", at, began)
			}
		})
	}
}

// TestStartOfAPartialFault: a page about failures of a part of the turns has the time of the first of them.
func TestStartOfAPartialFault(t *testing.T) {
	s := newStreet(t, 1, 30)
	s.lives(10*time.Minute, well, true)
	n, began := 0, s.now
	s.lives(6*time.Minute, func(age time.Duration) (probe.Result, time.Duration) {
		if n++; n%3 == 1 {
			return fails(probe.HTTP5xx, 0)(age)
		}
		return well(age)
	}, false)
	alerts := s.Alerts()
	if len(alerts) != 1 || alerts[0].Labels.Get(labels.AlertName) != rules.AlertSLOFastBurn {
		t.Fatalf("the alerts are %v, want one about the error budget", alerts)
	}
	said := alerts[0].Annotations
	since, err := time.Parse(time.RFC3339, said.Get(rules.AnnotationSince))
	if err != nil || since.Sub(began).Abs() > 3*time.Second || !strings.Contains(said.Get("summary"), began.Format(" since 15:04 UTC")) {
		t.Errorf("the fault began at %v, and the page says %q: %s", began, said.Get(rules.AnnotationSince), said.Get("summary"))
	}
}

// TestSlowAfterAnOutage: turns that are late after an outage have neither its cause nor its start.
func TestSlowAfterAnOutage(t *testing.T) {
	s := newStreet(t, 1, 60)
	s.lives(2*time.Minute, well, false)
	s.lives(150*time.Second, fails(probe.ConnectError, 0), false)
	began := s.now.Add(time.Second)
	for range 12 {
		if len(s.lives(every, late, false)) == 0 {
			continue
		}
		alerts := s.Alerts()
		i := slices.IndexFunc(alerts, func(a *promrules.Alert) bool { return a.Labels.Get(labels.AlertName) == rules.AlertSLOFastBurn })
		if i < 0 {
			break
		}
		said := alerts[i].Annotations
		if since := said.Get(rules.AnnotationSince); since != began.Format(time.RFC3339) || !strings.Contains(said.Get("summary"), began.Format("since 15:04 UTC")) {
			t.Errorf("the fault began at %v, and the page says %q: %s", began, since, said.Get("summary"))
		}
		if cause := said.Get(rules.AnnotationCause); cause != "" || strings.Contains(said.Get("summary"), "connect_error") {
			t.Errorf("the page names the cause %q: %s", cause, said.Get("summary"))
		}
		return
	}
	t.Error("no page within three minutes")
}

// TestYoungTargetLacksNothing: a target whose first turn is about to end has no pending alert.
func TestYoungTargetLacksNothing(t *testing.T) {
	s := newStreet(t, 1, 1)
	pending := func() int {
		return len(s.Query(`count_over_time(ALERTS{alertname="`+rules.AlertTargetNoSamples+`",alertstate="pending"}[10m])`, s.now))
	}
	hangs := func(time.Duration) (probe.Result, time.Duration) { return ok(0, probe.First), time.Hour }
	if s.lives(2*time.Minute, hangs, false); pending() > 0 {
		t.Error("an alert about missing samples is pending in the first two minutes")
	}
	if s.lives(time.Minute, hangs, false); pending() == 0 {
		t.Error("no alert about missing samples is pending after three minutes without a turn")
	}
}

// TestStallWithoutPage: a stall that is shorter than 40 s does not page after it is over, however short the history is.
func TestStallWithoutPage(t *testing.T) {
	for _, age := range []time.Duration{time.Minute, 6 * time.Minute} {
		for name, stall := range map[string]manner{
			"frozen": frozen(age + 32*time.Second), "refused": fails(probe.ConnectError, 0), "busy": fails(probe.HTTP429, 0),
		} {
			t.Run(fmt.Sprint(name, " at ", age), func(t *testing.T) {
				if testing.Short() && (name != "refused" || age > time.Minute) {
					t.Skip("make test-long runs it")
				}
				t.Parallel()
				s := newStreet(t, 1, 30)
				s.lives(age, well, false)
				began := s.lives(32*time.Second, stall, false)
				if began = append(began, s.lives(8*time.Minute, well, false)...); len(began) > 0 {
					t.Errorf("pages: %v", began)
				}
			})
		}
	}
}

// TestPlannedDowntime: in a change window, and in hours without probing, nobody is paged and no error budget is spent. A
// fault that lasts longer than the window pages, and so does one at the first hour of probing.
func TestPlannedDowntime(t *testing.T) {
	open := func(s *street, d time.Duration) {
		s.probers[0].configured[0].Changes = []fleet.Change{{From: s.now.Add(2 * time.Minute), To: s.now.Add(d)}}
	}
	asleep := func(s *street, d time.Duration) {
		of := func(d time.Duration) time.Duration {
			return s.now.Add(d).Sub(time.Date(2027, 1, 11, 0, 0, 0, 0, time.UTC))
		} // a Monday
		s.probers[0].configured[0].Traffic.Hours.Spans = []workload.Span{
			{Start: of(-time.Hour), Length: time.Hour + 2*time.Minute}, {Start: of(d), Length: time.Hour}}
	}
	for name, tc := range map[string]struct {
		plan      func(*street, time.Duration)
		perMinute float64
		within    manner // nil sends nothing
		length    time.Duration
	}{
		"refused in a window":      {open, 30, fails(probe.ConnectError, 0), 12 * time.Minute},
		"slow in a window":         {open, 30, late, 12 * time.Minute},
		"asleep":                   {asleep, 30, nil, 40 * time.Minute},
		"asleep, with rare probes": {asleep, 0.2, nil, 40 * time.Minute},
	} {
		for end, after := range map[string]struct {
			manner
			want string
		}{"well": {well, ""}, "down": {fails(probe.ConnectError, 0), rules.AlertTargetDown}} {
			t.Run(name+", then "+end, func(t *testing.T) {
				if testing.Short() && name != "refused in a window" {
					t.Skip("make test-long runs it")
				}
				t.Parallel()
				s := newStreet(t, 1, tc.perMinute)
				tc.plan(s, tc.length)
				s.probers[0].restart()
				s.lives(2*time.Minute, well, false)
				judged := func() map[string]float64 { return s.query("sum(synthetic_slo_violations_total)") }
				before, gap := judged(), s.gap
				if tc.within == nil {
					s.gap = 24 * time.Hour
				}
				began := s.lives(tc.length-2*time.Minute-time.Second, tc.within, false)
				if got := judged(); len(began) > 0 || len(s.Alerts()) > 0 || !maps.Equal(got, before) {
					t.Errorf("in the window: %v began, %d alerts, %v misses", began, len(s.Alerts()), got)
				}
				s.gap = gap
				began = s.lives(max(3*time.Minute, 8*gap), after.manner, false)
				if (after.want == "") != (len(began) == 0) || len(began) > 0 && !strings.HasPrefix(began[0], after.want) {
					t.Errorf("afterwards %v began, want %s", began, after.want)
				}
			})
		}
	}
}
