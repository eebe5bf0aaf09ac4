package rules_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	promrules "github.com/prometheus/prometheus/rules"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// TestRegressionIsAPageOrATicket: there is no ticket while a regression pages or soon after.
func TestRegressionIsAPageOrATicket(t *testing.T) {
	s := newScene(t, of("a"))
	s.score("x", metrics.TicketScore, "a", "ttft", 1)
	wantAlerts(t, "a ticket", s.pass(time.Minute), rules.AlertRegression+" a ticket")
	s.score("x", metrics.TicketScore, "a", "ttft", 0)
	s.pass(20 * time.Minute)
	s.score("x", metrics.TicketScore, "a", "ttft", 2)
	s.score("x", metrics.PageScore, "a", "ttft", 1)
	wantAlerts(t, "a page", s.pass(5*time.Minute), rules.AlertRegression+" a page")
	s.score("x", metrics.PageScore, "a", "ttft", 0)
	wantAlerts(t, "after the page", s.pass(25*time.Minute))
	wantAlerts(t, "when the page is long over", s.pass(10*time.Minute), rules.AlertRegression+" a ticket")
}

// TestReplicasAreAveraged: a regression that one of two probers sees does not page, unless the other prober
// has measured nothing for 15 minutes.
func TestReplicasAreAveraged(t *testing.T) {
	s := newScene(t, of("a"))
	s.set("y", metrics.BuildInfo, 1)
	s.job("y", "a")
	s.score("x", metrics.PageScore, "a", "ttft", 1.4)
	s.score("y", metrics.PageScore, "a", "ttft", 0.2)
	ratio := func(instance string, v float64) {
		s.set(instance, metrics.RegressionRatio, v, "target", "a", "workload", "chat", "signal", "ttft")
	}
	ratio("x", 2)
	ratio("y", 1)
	wantAlerts(t, "one of two", s.pass(5*time.Minute))
	ratio("y", math.NaN())
	wantAlerts(t, "the other has just stopped measuring", s.pass(14*time.Minute))
	wantAlerts(t, "the other measures nothing", s.pass(2*time.Minute), rules.AlertRegression+" a page")
	ratio("x", math.NaN())
	wantAlerts(t, "none measures", s.pass(20*time.Minute))
}

// TestFleet: a fault of many targets is one page, at least as early as any other, until all have recovered.
// Single targets that do not recover page later.
func TestFleet(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	in := of(names...)
	s := newScene(t, in)
	s.fail(5, "a")
	wantAlerts(t, "one of four", s.pass(2*time.Minute), rules.AlertTargetDown+" a page")
	s.fail(0, "a")
	s.pass(20 * time.Minute)

	s.fail(3, names[:3]...)
	s.score("x", metrics.PageScore, "d", "ttft", 0.9)
	s.score("x", metrics.RegressionRatio, "d", "ttft", 2.5)
	wantAlerts(t, "no page yet", s.pass(2*time.Minute))
	s.fail(5, "a")
	wantAlerts(t, "a page, and the others near", s.pass(2*time.Minute), rules.AlertFleetRegression+" page")
	text := s.said(rules.AlertFleetRegression)
	if got, want := text.Get("summary"), "4 targets share a fault"; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
	if got := text.Get("description"); !strings.Contains(got, "d/chat (2.5 times)") {
		t.Errorf("the description does not list the slow target: %q", got)
	}
	s.fail(20, names...)
	wantAlerts(t, "all are down", s.pass(20*time.Minute))
	s.fail(0, names...)
	s.score("x", metrics.PageScore, "d", "ttft", 0)
	wantAlerts(t, "recovery, and half an hour after", s.pass(30*time.Minute))
	wantAlerts(t, "at the end", s.firing())
}

// TestOutageAfterFleet: a target that recovered from a shared fault pages at once when it fails again, and
// the page about the shared fault has ended.
func TestOutageAfterFleet(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	s := newScene(t, of(names...))
	s.fail(9, names[:3]...)
	wantAlerts(t, "three of four", s.pass(3*time.Minute), rules.AlertFleetRegression+" page")
	s.fail(0, names...)
	for _, name := range names[:3] { // the windows of the regression still contain the outage
		s.score("x", metrics.PageScore, name, "ttft", 1.5)
	}
	s.pass(time.Minute + every)
	s.fail(5, "a")
	wantAlerts(t, "one again, a minute after the recovery", s.pass(time.Minute), rules.AlertTargetDown+" a page")
	s.pass(time.Minute)
	wantAlerts(t, "at the end", s.firing(), rules.AlertTargetDown+" a page")
}

// TestOutageSaysItsStartAtOnce: the first notification about an outage has its start.
func TestOutageSaysItsStartAtOnce(t *testing.T) {
	s := newScene(t, of("a"))
	s.pass(time.Minute)
	s.fail(9, "a")
	s.set("x", metrics.Failing, 45, "target", "a", "workload", "chat")
	wantAlerts(t, "an outage", s.pass(every), rules.AlertTargetDown+" a page")
	if since := s.now.Add(-45 * time.Second).Format("since 15:04 UTC"); !strings.Contains(s.said(rules.AlertTargetDown).Get("summary"), since) {
		t.Errorf("the summary is %q, want %q in it", s.said(rules.AlertTargetDown).Get("summary"), since)
	}
}

// TestRecoveredTargetsShareNothing: targets that have recovered from a shared fault still miss their objective in its
// windows. Two new outages are no shared fault with them, and page by themselves.
func TestRecoveredTargetsShareNothing(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	in := of(names...)
	in.SLOs = []slo.Objective{available}
	s := newScene(t, in)
	s.set("x", metrics.SLOObjective, available.Objective, "slo", available.Name)
	failing := map[string]float64{} // seconds
	ended, missed := 0.0, map[string]float64{}
	pass := func(steps int) (began []string) {
		for range steps {
			ended += 8
			for _, name := range names {
				l := []string{"target", name, "workload", "chat"}
				if _, bad := failing[name]; bad {
					failing[name] += every.Seconds()
					missed[name] += 8
				}
				s.set("x", metrics.ConsecutiveFailed, failing[name]/2, l...)
				s.set("x", metrics.Failing, failing[name], l...)
				s.set("x", metrics.Turns, ended, append(l, "turn", "first", "outcome", "success")...)
				judged := append(l, "turn", "first", "slo", available.Name)
				s.set("x", metrics.SLOTurns, ended, judged...)
				s.set("x", metrics.SLOViolations, missed[name], judged...)
			}
			began = append(began, s.pass(every)...)
		}
		return began
	}
	wantAlerts(t, "all succeed", pass(20))
	failing["a"], failing["b"], failing["c"] = 0, 0, 0
	wantAlerts(t, "three of four", pass(3), rules.AlertFleetRegression+" page")
	clear(failing)
	wantAlerts(t, "they recover", pass(3))
	failing["a"], failing["d"] = 0, 0
	wantAlerts(t, "two others", pass(4), rules.AlertTargetDown+" a page", rules.AlertTargetDown+" d page")
}

// TestFleetLeavesTheRest: targets that do not recover from a shared fault page when it has ended.
func TestFleetLeavesTheRest(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	s := newScene(t, of(names...))
	s.fail(9, names...)
	wantAlerts(t, "all", s.pass(3*time.Minute), rules.AlertFleetRegression+" page")
	s.fail(0, names[2:]...)
	wantAlerts(t, "two recovered", s.pass(3*time.Minute), rules.AlertTargetDown+" a page", rules.AlertTargetDown+" b page")
	wantAlerts(t, "at the end", s.firing(), rules.AlertTargetDown+" a page", rules.AlertTargetDown+" b page")
}

// TestFleetOutlivesARestart: the page about a shared fault is one page, also if the prober restarts and
// counts failures from 1 again.
func TestFleetOutlivesARestart(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	s := newScene(t, of(names...))
	s.fail(9, names...)
	wantAlerts(t, "all", s.pass(3*time.Minute), rules.AlertFleetRegression+" page")
	s.drop(metrics.ConsecutiveFailed)
	wantAlerts(t, "no turn since the restart", s.pass(2*time.Minute))
	for n := range 8 {
		s.fail(float64(n+1), names...)
		wantAlerts(t, fmt.Sprint("failed turn ", n+1), s.pass(45*time.Second))
	}
	wantAlerts(t, "at the end", s.firing(), rules.AlertFleetRegression+" page")
}

// TestOwnFaultsAreNotShared: targets whose own pages are older than two minutes take no part in a shared
// fault. Together they are none, and when others share one, their pages go on.
func TestOwnFaultsAreNotShared(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	s := newScene(t, of(names...))
	down := func(name string) string { return rules.AlertTargetDown + " " + name + " page" }
	const slow = rules.AlertRegression + " b page"
	s.fail(9, "a")
	wantAlerts(t, "one", s.pass(8*time.Minute), down("a"))
	s.score("x", metrics.PageScore, "b", "ttft", 2)
	wantAlerts(t, "a slow one", s.pass(8*time.Minute), slow)
	s.fail(9, "c")
	wantAlerts(t, "a third", s.pass(8*time.Minute), down("c"))
	s.fail(9, names[4:7]...)
	wantAlerts(t, "three at once", s.pass(8*time.Minute), rules.AlertFleetRegression+" page")
	s.fail(0, names[4:]...)
	s.pass(4 * time.Minute)
	wantAlerts(t, "after the shared fault", s.firing(), slow, down("a"), down("c"))
	s.fail(9, "e")
	wantAlerts(t, "one of the three again", s.pass(4*time.Minute), down("e"))
}

// TestOutageIsOverAfterAGoodTurn: a failed turn a few minutes after an outage does not page.
func TestOutageIsOverAfterAGoodTurn(t *testing.T) {
	s := newScene(t, of("a"))
	s.fail(9, "a")
	wantAlerts(t, "down", s.pass(3*time.Minute), rules.AlertTargetDown+" a page")
	s.fail(0, "a")
	s.pass(3 * time.Minute)
	s.fail(1, "a")
	wantAlerts(t, "a failed turn", s.pass(time.Minute))
}

// TestFleetIsAShareOfMany: in a large fleet, a shared fault needs a share of the targets, not three.
func TestFleetIsAShareOfMany(t *testing.T) {
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint("t", i))
	}
	s := newScene(t, of(names...))
	s.fail(9, names[:5]...)
	if got := s.pass(3 * time.Minute); len(got) != 5 {
		t.Errorf("five of twenty: %v fire", got)
	}
	s.fail(0, names[:5]...)
	s.pass(20 * time.Minute)
	s.fail(9, names[:6]...)
	wantAlerts(t, "six of twenty", s.pass(3*time.Minute), rules.AlertFleetRegression+" page")
}

// TestRemovedTargetIsSilent: the alert of a removed target ends with the next evaluation, but not the alert
// of a target whose prober is lost.
func TestRemovedTargetIsSilent(t *testing.T) {
	for name, drop := range map[string]string{"removed": `target="a"`, "its prober is gone": "x|"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, of("a", "b"))
			s.set("y", metrics.BuildInfo, 1)
			s.job("y", "b")
			s.fail(9, "a")
			wantAlerts(t, "down", s.pass(3*time.Minute), rules.AlertTargetDown+" a page")
			s.drop(drop)
			s.pass(every)
			want := []string{rules.AlertTargetDown + " a page"}
			if name == "removed" {
				want = nil
			}
			wantAlerts(t, "after the next evaluation", s.firing(), want...)
		})
	}
}

// TestRegressionText checks the whole text of a regression page: why it pages, by all that is known.
func TestRegressionText(t *testing.T) {
	const since, past = ", and it has been slower since 2027-01-15 07:50 UTC", "By its own past of up to four weeks it pages from 1.60 times"
	const accept = "synthetic accept --target=a --since=2027-01-15T07:50:00Z"
	nan := math.NaN()
	slower := func(usual, since, limit string) string {
		return "Over five minutes ttft is 3.10 times the usual of this time of the week" + usual + since + ". " + limit
	}
	usual := " (200ms for first turns, 100ms for followup turns)"
	for name, tc := range map[string]struct {
		ttft, tpot float64
		without    string // a series that is not exported, or unknown
		want       string
	}{
		"prefill": {3.1, 1.2, "", slower(usual, since, past+", and reached 2.56 times. ") +
			"Over five minutes tpot is 1.20 times the usual of this time of the week (40ms for first turns). Likely part: queue_prefill (+0.4 s per turn). "},
		"decode": {1.05, 2.5, "", "Over five minutes tpot is 2.50 times the usual of this time of the week (40ms for first turns). Likely part: decode (+2 s per turn). "},
		"nobody can tell": {1.5, 1.4, metrics.RegressionLimit, "Over five minutes ttft is 1.50 times the usual of this time of the week" + usual + since +
			". Over five minutes tpot is 1.40 times the usual of this time of the week (40ms for first turns). "},
		"nothing known of it": {nan, nan, "", ""},
		"no usual":            {3.1, 1, metrics.Baseline, slower("", since, past+", and reached 2.56 times. ") + "Likely part: queue_prefill (+0.4 s per turn). "},
		"no start":            {3.1, 1, metrics.RegressionSince, slower(usual, "", past+", and reached 2.56 times. ") + "Likely part: queue_prefill (+0.4 s per turn). "},
		"no limit":            {3.1, 1, metrics.RegressionLimit, slower(usual, since, "") + "Likely part: queue_prefill (+0.4 s per turn). "},
		"no part":             {3.1, 1, metrics.Excess, slower(usual, since, past+", and reached 2.56 times. ")},
	} {
		for _, missing := range []string{"absent", "NaN"} {
			t.Run(name+" "+missing, func(t *testing.T) {
				s := newScene(t, of("a"))
				set := func(name string, v float64, pairs ...string) {
					if name == tc.without && missing == "absent" {
						return
					} else if name == tc.without {
						v = nan
					}
					s.set("x", name, v, append([]string{"target", "a", "workload", "chat"}, pairs...)...)
				}
				set(metrics.PageScore, 2, "signal", "ttft")
				set(metrics.RegressionSince, float64(s.now.Add(-10*time.Minute).Unix()), "signal", "ttft")
				set(metrics.RegressionSince, 0, "signal", "tpot")
				set(metrics.RegressionLimit, 1.6, "signal", "ttft")
				set(metrics.RegressionRatio, tc.ttft, "signal", "ttft")
				set(metrics.RegressionRatio, tc.tpot, "signal", "tpot")
				set(metrics.Baseline, 0.1, "signal", "ttft", "turn", "followup")
				set(metrics.Baseline, 0.2, "signal", "ttft", "turn", "first")
				set(metrics.Baseline, 0.04, "signal", "tpot", "turn", "first")
				for part, v := range map[string]float64{"queue_prefill": 0.4, "connect": -0.01, "decode": 2} {
					set(metrics.Excess, v, "turn", "first", "part", part)
				}
				s.pass(time.Minute)
				_, part, _ := strings.Cut(tc.want, "Likely part: ")
				part, _, _ = strings.Cut(part, " ")
				want := tc.want + "First step: " + rules.StepOf(rules.AlertRegression, part) + " If the new level is intended (synthetic run needs --web.enable-lifecycle): " + accept
				if tc.without == metrics.RegressionSince {
					want = strings.TrimSuffix(want, " --since=2027-01-15T07:50:00Z")
				}
				if got := s.said(rules.AlertRegression).Get("description"); got != want {
					t.Errorf("the page reads\n%q, want\n%q", got, want)
				}
			})
		}
	}
}

// TestOneOutageIsOnePage: an outage causes only one page until long after the repair, with a Prometheus that
// has samples of a day and with a new one, and without inhibition by an Alertmanager.
func TestOneOutageIsOnePage(t *testing.T) {
	objectives := []slo.Objective{ttft, available, {Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: 30 * day}}
	for name, history := range map[string]time.Duration{"young": 2 * time.Hour, "a day old": day} {
		for _, long := range []time.Duration{20 * time.Minute, time.Hour} {
			t.Run(fmt.Sprint(name, " ", long), func(t *testing.T) {
				if testing.Short() {
					t.Skip("TestOneOutageOnePage is enough for a quick run; make test-long runs this")
				}
				t.Parallel()
				h := newHouse(t, withSLOs(objectives...)(), 1)
				h.scrapes(history)
				h.run(10 * time.Minute)
				behaving(failing(probe.ConnectError))(h)
				began := h.began(long)
				behaving(ok)(h)
				began = append(began, h.began(2*time.Hour)...)
				wantAlerts(t, "from the outage on", began, rules.AlertTargetDown+" a chat")
			})
		}
	}
}

// began waits, and returns the alerts that begin to fire meanwhile.
func (h *house) began(d time.Duration) []string {
	var began []string
	for range int(d / scrapeInterval) {
		before := h.firing()
		h.run(scrapeInterval)
		for _, a := range h.firing() {
			if !slices.Contains(before, a) {
				began = append(began, a)
			}
		}
	}
	return began
}

// TestBurnPagesAtOnce: a page about a burn rate fires at the evaluation that sees the fifth bad turn. It reads the
// incidents, which read the burn rates, so the order of the groups decides how late it is.
func TestBurnPagesAtOnce(t *testing.T) {
	s := newScene(t, usual())
	l := []string{"target", "a", "workload", "chat", "slo", ttft.Name}
	turns, missed := 0.0, 0.0
	pass := func(ended, bad float64) []string {
		turns, missed = turns+ended, missed+bad
		s.set("x", metrics.SLOObjective, ttft.Objective, l...)
		s.set("x", metrics.SLOTurns, turns, l...)
		s.set("x", metrics.SLOViolations, missed, l...)
		return s.pass(every)
	}
	for range 20 {
		wantAlerts(t, "all turns are good", pass(1, 0))
	}
	wantAlerts(t, "four bad turns", pass(4, 4))
	wantAlerts(t, "a fifth", pass(1, 1), rules.AlertSLOFastBurn+" a page")
}

// TestBurnHoldsItsRegressionBack: a regression about which a missed objective pages already has neither a page nor a
// ticket of its own. It pages if it goes on after that page.
func TestBurnHoldsItsRegressionBack(t *testing.T) {
	s := newScene(t, usual())
	turns, missed := 0.0, 0.0
	pass := func(d time.Duration, bad float64) (began []string) {
		for range int(d / every) {
			turns, missed = turns+4, missed+bad
			s.turns(ttft, "a", turns, missed)
			began = append(began, s.pass(every)...)
		}
		return began
	}
	wantAlerts(t, "all turns are good", pass(5*time.Minute, 0))
	wantAlerts(t, "all turns are late", pass(time.Minute, 4), rules.AlertSLOFastBurn+" a page")
	s.score("x", metrics.PageScore, "a", "ttft", 1.4)
	s.score("x", metrics.TicketScore, "a", "ttft", 2)
	wantAlerts(t, "the regression is detected", pass(15*time.Minute, 4))
	wantAlerts(t, "slower turns within the objective", pass(9*time.Minute, 0))
	wantAlerts(t, "for longer", pass(8*time.Minute, 0), rules.AlertRegression+" a page")
}

// TestLongBurnHidesNoRegression: a regression that begins long after an objective is missed has a page of its own, and
// the page about the objective goes on.
func TestLongBurnHidesNoRegression(t *testing.T) {
	s := newScene(t, usual())
	turns, missed := 0.0, 0.0
	pass := func(d time.Duration) (began []string) {
		for range int(d / every) {
			turns, missed = turns+4, missed+4
			s.turns(ttft, "a", turns, missed)
			began = append(began, s.pass(every)...)
		}
		return began
	}
	regresses := func() {
		s.score("x", metrics.PageScore, "a", "tpot", 1.4)
		s.score("x", metrics.RegressionSince, "a", "tpot", float64(s.now.Unix()))
	}
	pass(2 * time.Minute)
	s.set("x", metrics.SLOMissingSince, float64(s.now.Unix()-60), "target", "a", "workload", "chat", "slo", ttft.Name)
	regresses()
	pass(20 * time.Minute)
	wantAlerts(t, "a regression that began with the misses", s.firing(), rules.AlertSLOFastBurn+" a page")
	regresses()
	wantAlerts(t, "a later one", pass(20*time.Minute), rules.AlertRegression+" a page")
	wantAlerts(t, "both", s.firing(), rules.AlertRegression+" a page", rules.AlertSLOFastBurn+" a page")
}

// TestBurnPagesFollowIncidents checks that the pager evaluates the pages about burn rates within two seconds after the
// incidents that they read.
func TestBurnPagesFollowIncidents(t *testing.T) {
	groups := map[string]string{} // by alert
	for _, g := range generate(t, usual()).Groups.Groups {
		for _, r := range g.Rules {
			groups[r.Alert] = g.Name
		}
	}
	for _, interval := range []time.Duration{5 * time.Second, 15 * time.Second, time.Minute} {
		phase := func(alert string) time.Duration {
			g := promrules.NewGroup(promrules.GroupOptions{Name: groups[alert], File: "synthetic", Interval: interval, Opts: &promrules.ManagerOptions{}})
			return time.Duration(g.EvalTimestamp(time.Unix(1_800_000_000, 0).UnixNano()).UnixNano()) % interval
		}
		if after := (phase(rules.AlertSLOFastBurn) - phase(rules.AlertTargetDown) + interval) % interval; after > 2*time.Second {
			t.Errorf("every %s: the pages are evaluated %s after the incidents", interval, after)
		}
	}
}

// TestOldBurnStartsNoSharedFault: a target that has missed an objective for long does not make three targets
// that are near a page a shared fault.
func TestOldBurnStartsNoSharedFault(t *testing.T) {
	if testing.Short() {
		t.Skip("evaluates an hour and a half every 15 s; make test-long runs it")
	}
	in := of("a", "b", "c", "d", "e", "f")
	in.SLOs = []slo.Objective{ttft}
	s := newScene(t, in)
	l := []string{"target", "f", "workload", "chat", "slo", "ttft"}
	n := 0.0
	pass := func(d time.Duration) (began []string) {
		for range int(d / every) {
			n++
			s.set("x", metrics.SLOObjective, 0.99, l...)
			s.set("x", metrics.SLOTurns, 10*n, l...)
			s.set("x", metrics.SLOViolations, 5*n, l...)
			began = append(began, s.pass(every)...)
		}
		return began
	}
	if got := pass(90 * time.Minute); !slices.Contains(got, rules.AlertSLOFastBurn+" f page") {
		t.Fatalf("%v fire, want the burn of one target", got)
	}
	s.fail(3, "a", "b", "c")
	wantAlerts(t, "three are near a page", pass(5*time.Minute))
}

// TestSharedFaultEndsDespiteSlowTurns: the page about a shared fault ends soon after the repair, although one
// turn in forty is slow. Turns that failed stay in the windows of the objectives for minutes.
func TestSharedFaultEndsDespiteSlowTurns(t *testing.T) {
	names := []string{"a", "b", "c"}
	in := of(names...)
	in.SLOs = []slo.Objective{ttft}
	s := newScene(t, in)
	const perScrape = 10 // turns
	turns, missed := 0.0, 0.0
	pass := func(d time.Duration, bad float64) {
		for range int(d / every) {
			turns, missed = turns+perScrape, missed+bad
			for _, name := range names {
				l := []string{"target", name, "workload", "chat", "slo", "ttft"}
				s.set("x", metrics.SLOObjective, 0.99, l...)
				s.set("x", metrics.SLOTurns, turns, l...)
				s.set("x", metrics.SLOViolations, missed, l...)
			}
			s.pass(every)
		}
	}
	s.fail(0, names...)
	pass(10*time.Minute, 0)
	s.fail(9, names...)
	pass(2*time.Minute, perScrape)
	wantAlerts(t, "all fail", s.firing(), rules.AlertFleetRegression+" page")
	s.fail(0, names...)
	pass(4*time.Minute, perScrape/40.)
	wantAlerts(t, "all are well, but for single slow turns", s.firing())
}

// TestDownNamesTheReasonOfNow: the page about an outage names its own reason, also if more turns failed for another one
// a minute and a half before.
func TestDownNamesTheReasonOfNow(t *testing.T) {
	s := newScene(t, of("a"))
	l := []string{"target", "a", "workload", "chat"}
	pass := func(d time.Duration, hung, refused float64) {
		for range int(d / every) {
			s.set("x", metrics.TurnFailures, hung, append(l, "turn", "first", "reason", "timeout_first_token")...)
			s.set("x", metrics.TurnFailures, refused, append(l, "turn", "first", "reason", "connect_error")...)
			s.pass(every)
		}
	}
	pass(5*time.Minute, 0, 0)
	pass(90*time.Second, 9, 0)
	s.set("x", metrics.ConsecutiveFailed, 5, l...)
	pass(every, 9, 2)
	pass(every, 9, 4)
	if got := s.said(rules.AlertTargetDown).Get("summary"); !strings.HasPrefix(got, "a/chat: turns fail (connect_error)") {
		t.Errorf("the page says %q", got)
	}
}

// TestBurnNamesTheReasonOfNow: the page about a burn rate names the reason of the last minute, also if more turns of its
// window failed for another one.
func TestBurnNamesTheReasonOfNow(t *testing.T) {
	in := of("a")
	in.SLOs = []slo.Objective{available}
	s := newScene(t, in)
	job := []string{"target", "a", "workload", "chat"}
	ended, refused, hung := 0., 0., 0.
	pass := func(d time.Duration, refusals, hangs float64) {
		for range int(d / every) {
			ended, refused, hung = ended+8, refused+refusals, hung+hangs
			s.turns(available, "a", ended, refused+hung)
			s.set("x", metrics.Turns, ended, append(job, "turn", "first", "outcome", "success")...)
			s.set("x", "synthetic_conversation_failures_total", refused+hung, job...)
			s.set("x", metrics.TurnFailures, refused, append(job, "turn", "first", "reason", "http_429")...)
			s.set("x", metrics.TurnFailures, hung, append(job, "turn", "first", "reason", "timeout_first_token")...)
			s.pass(every)
		}
	}
	pass(5*time.Minute, 0, 0)
	pass(3*time.Minute, 8, 0)
	pass(108*time.Second, 0, 4)
	if got := s.said(rules.AlertSLOFastBurn).Get("summary"); !strings.Contains(got, "of turns fail (timeout_first_token)") {
		t.Errorf("the page says %q", got)
	}
}

// TestSlownessAfterAnOutage: what is slow from the end of an outage on is part of it. What becomes slow three minutes later
// is another fault, and pages at once.
func TestSlownessAfterAnOutage(t *testing.T) {
	for name, tt := range map[string]struct {
		later time.Duration
		want  []string
	}{
		"part of it":    {0, nil},
		"another fault": {3 * time.Minute, []string{rules.AlertRegression + " a page"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, of("a"))
			s.fail(9, "a")
			wantAlerts(t, "down", s.pass(3*time.Minute), rules.AlertTargetDown+" a page")
			s.fail(0, "a")
			s.pass(tt.later)
			s.score("x", metrics.PageScore, "a", "ttft", 2)
			s.set("x", metrics.RegressionSince, float64(s.now.Unix()), "target", "a", "workload", "chat", "signal", "ttft")
			s.pass(time.Minute)
			got := slices.DeleteFunc(s.firing(), func(a string) bool { return strings.HasPrefix(a, rules.AlertTargetDown) })
			wantAlerts(t, "a minute after turns became slower", got, tt.want...)
		})
	}
}
