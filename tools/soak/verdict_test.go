//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// quiet returns a run without any fault.
func quiet() *soak {
	s := &soak{options: options{duration: 20 * time.Minute, seed: 7}, program: &program{}}
	for i := range kept {
		s.set.fleet = append(s.set.fleet, &deployment{name: targetName(i), received: 10})
	}
	final := counts{}
	for i := range kept {
		final[targetName(i)] = tally{Started: 12, Unsent: 2}
	}
	s.program.lives = []*life{{Number: 1, How: "ended", before: make([]int, kept), final: final}}
	for i := range 600 {
		s.samples = append(s.samples, sample{At: float64(2 * i), Life: 1, Phase: "calm 1", Calm: true, RSS: 60e6, Heap: 20e6, Goroutines: 90, Open: 20, Series: 18000, Scrape: 0.1, Ready: true})
	}
	s.plan.Spells = []spell{{Target: "kept-04", Fault: killed, FromSec: 100, ToSec: 170, Outage: true}}
	s.mail = &mailbox{pages: map[string]*page{"a": {Alert: "SyntheticTargetDown", Target: "kept-04", Severity: "page", Starts: 150, Arrived: 151, Ends: 300}}}
	return s
}

// TestVerdict: each problem fails its own check and no other.
func TestVerdict(t *testing.T) {
	each := func(change func(i int, current *sample)) func(*soak) {
		return func(s *soak) {
			for i := range s.samples {
				change(i, &s.samples[i])
			}
		}
	}
	for name, tt := range map[string]struct {
		fails  string
		change func(*soak)
	}{
		"quiet":                {"", func(*soak) {}},
		"memory":               {"resident memory", func(s *soak) { s.samples[3].RSS = 300e6 }},
		"memory for a moment":  {"resident memory", func(s *soak) { s.samples[3].PeakRSS = 300e6 }},
		"a leak of heap":       {"growth of live heap, MB", each(func(i int, current *sample) { current.Heap += 4e4 * float64(i) })},
		"a leak of goroutines": {"growth of goroutines", each(func(i int, current *sample) { current.Goroutines += float64(i) / 4 })},
		"a leak of files":      {"growth of open files", each(func(i int, current *sample) { current.Open += float64(i) / 4 })},
		"a leak of series":     {"growth of series", each(func(i int, current *sample) { current.Series += 4 * float64(i) })},
		"a leak amid faults":   {"", each(func(i int, current *sample) { current.Heap += 4e4 * float64(i); current.Calm = i < 300 })},
		"one turn too many":    {"turns: client = server", func(s *soak) { s.set.fleet[7].received++ }},
		"one turn too few":     {"turns: client = server", func(s *soak) { s.set.fleet[7].received-- }},
		"an unclear turn": {"", func(s *soak) {
			s.set.fleet[7].received--
			s.program.lives[0].final["kept-07"] = tally{Started: 12, Unsent: 2, Unclear: 1}
		}},
		"a page out of nowhere":   {"no page without a fault", func(s *soak) { s.mail.pages["b"] = &page{Target: "kept-05", Severity: "page", Starts: 120} }},
		"a page before the fault": {"no page without a fault", func(s *soak) { s.mail.pages["b"] = &page{Target: "kept-04", Severity: "page", Starts: 90} }},
		"a page of the prober": {"no page without a fault", func(s *soak) {
			s.mail.pages["b"] = &page{Alert: "SyntheticProberSilent", Severity: "page", Starts: 120}
		}},
		"turned away by a crowd": {"", func(s *soak) { s.samples[9].Ready, s.samples[9].Crowded = false, true }},
		"a ticket":               {"", func(s *soak) { s.mail.pages["b"] = &page{Target: "kept-05", Severity: "ticket", Starts: 120} }},
		"no page":                {"a page for each outage", func(s *soak) { s.mail.pages = nil }},
		"a page too late":        {"a page for each outage", func(s *soak) { s.mail.pages["a"].Arrived = 200 }},
		"a page of before, whose end nobody told": {"a page for each outage", func(s *soak) {
			s.plan.Spells = append(s.plan.Spells, spell{Target: "kept-04", Fault: killed, FromSec: 700, ToSec: 800, Outage: true})
		}},
		"not ready":  {"ready while probing", func(s *soak) { s.samples[9].Ready = false }},
		"a panic":    {"no panic, no key in any output, each normal end", func(s *soak) { s.program.read("panic: oh") }},
		"an odd end": {"no panic, no key in any output, each normal end", func(s *soak) { s.program.alarm("life 1: exit status 1") }},
	} {
		t.Run(name, func(t *testing.T) {
			s := quiet()
			s.program.secret, s.program.log = &keyring{}, devNull(t)
			tt.change(s)
			var failed []string
			for _, c := range s.judge().Checks {
				if !c.OK {
					failed = append(failed, c.Name)
				}
			}
			if got := strings.Join(failed, "; "); got != tt.fails {
				t.Errorf("failed %q, want %q", got, tt.fails)
			}
		})
	}
}

func devNull(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestReport: a report has its verdict, a row for the part, and every sample.
func TestReport(t *testing.T) {
	s, dir := quiet(), t.TempDir()
	r := s.judge()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "soak.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Soak: passed", "make soak DURATION=20m0s SEED=7", "| ok | growth of goroutines |", "| calm 1, life 1 | 600 | 60 |", "540 turns", "in 98 % of the targets' time"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	var all struct{ Samples []sample }
	data, err := os.ReadFile(filepath.Join(dir, "soak.json"))
	if err != nil || json.Unmarshal(data, &all) != nil || len(all.Samples) != len(s.samples) {
		t.Errorf("%v; soak.json has %d samples of %d", err, len(all.Samples), len(s.samples))
	}
}
