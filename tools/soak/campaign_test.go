//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCampaign runs six cells of the campaign.
func TestCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two minutes; make test-long runs it")
	}
	binary := filepath.Join(t.TempDir(), "synthetic")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, "synthetic/cmd/synthetic").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	failed, err := campaign(t.Context(), options{binary: binary, each: 85 * time.Second, cells: "HTTP-500/4 s per*,HTTP-500/130*,HTTP-500/quota 5*,HTTP-hang/4 s per*,HTTP-hang/130*,HTTP-hang/quota 5*"})
	if failed || err != nil {
		t.Errorf("failed: %v, %v; the table above says why", failed, err)
	}
}

// TestCellFails checks what makes a cell fail.
func TestCellFails(t *testing.T) {
	onset := time.Now()
	result := func(f fault, failed, own int, lost float64) cell {
		return cell{fault: f, turnCounts: turnCounts{failed: failed, own: own}, lost: lost}
	}
	trialOf := func(s stall, c cell, pages ...page) *trial {
		return &trial{stall: s, faults: []fault{c.fault}, onset: onset, pages: pages, lasted: 4 * time.Minute,
			logged: map[string]*turnCounts{string(c.fault): &c.turnCounts, "sound-01": {all: 9}}, program: &program{},
			counts: counts{string(c.fault): {Violations: float64(c.failed) - c.lost}}, sound: &deployment{}}
	}
	down := func(target string, after float64) page {
		return page{Alert: "SyntheticTargetDown", Severity: "page", Target: target, Arrived: onset.Add(time.Duration(after * float64(time.Second)))}
	}
	control := trialOf(stall{name: "none"}, result(broken, 100, 0, 0), down("HTTP-500", 60))
	once := stall{name: "5 s once", stop: 5 * time.Second}
	for name, tc := range map[string]struct {
		cell  cell
		pages []page
		want  string // "" if the cell passes
	}{
		"like the control":        {result(broken, 99, 1, 0), []page{down("HTTP-500", 60)}, ""},
		"one of few":              {result(broken, 20, 1, 0), []page{down("HTTP-500", 60)}, ""},
		"late by the stop":        {result(broken, 100, 0, 0), []page{down("HTTP-500", 94)}, ""},
		"late":                    {result(broken, 100, 0, 0), []page{down("HTTP-500", 96)}, "the page came after 1m36s; at most 1m35s is allowed"},
		"no page":                 {result(broken, 100, 0, 0), nil, "no page in 4m0s"},
		"only a ticket":           {result(broken, 100, 0, 0), []page{{Target: "HTTP-500", Severity: "ticket", Arrived: onset.Add(time.Minute)}}, "no page"},
		"false blame":             {result(broken, 98, 2, 0), []page{down("HTTP-500", 60)}, "2 of 100 failed turns count as the program's own"},
		"a lost violation":        {result(broken, 100, 0, 1), []page{down("HTTP-500", 60)}, "the turn log has 100 failures, the objective 99 violations"},
		"a page without a reason": {result(broken, 100, 0, 0), []page{down("HTTP-500", 60), down("sound-01", 70)}, "page about a healthy target"},
		"slow without a page":     {result(slowThrice, 0, 5, 0), nil, ""},
	} {
		got := trialOf(once, tc.cell, tc.pages...).failures(control)
		passed := tc.want == "" && len(got) == 0
		if !passed && (len(got) != 1 || tc.want == "" || !strings.Contains(got[0], tc.want)) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	late := trialOf(stall{name: "none"}, result(broken, 100, 0, 0), down("HTTP-500", 96))
	if got := late.failures(late); len(got) != 1 || !strings.Contains(got[0], "the page came after 1m36s; at most 1m30s is allowed") {
		t.Errorf("control: %q", got)
	}
	bad := trialOf(once, result(broken, 100, 0, 0), down("HTTP-500", 60))
	bad.program.alarm("log: panic: oh")
	delete(bad.logged, "sound-01")
	if got, want := bad.failures(control), []string{"5 s once: log: panic: oh", "5 s once: healthy targets have no turns"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSelection checks which cells a pattern selects.
func TestSelection(t *testing.T) {
	trials, err := newTrials(options{cells: "HTTP-h*/quota 1*, HTTP-500/4 s per 114 s"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, trial := range trials {
		for _, f := range trial.faults {
			got = append(got, string(f)+"/"+trial.name)
		}
	}
	want := []string{"HTTP-500/none", "HTTP-hang/none", "HTTP-500/4 s per 114 s", "HTTP-hang/quota 10 %", "HTTP-hang/quota 1 %"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, bad := range []string{"HTTP 500/none", "[/*"} {
		if _, err := newTrials(options{cells: bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestStopped checks for how long a stall stops the program.
func TestStopped(t *testing.T) {
	repeated := stall{stop: 4 * time.Second, every: time.Minute}
	for _, tc := range []struct {
		stall    stall
		in, want time.Duration
	}{
		{stall{}, time.Hour, 0}, {stall{quota: 1}, time.Hour, 0},
		{stall{stop: time.Second}, 500 * time.Millisecond, 500 * time.Millisecond}, {stall{stop: time.Second}, time.Hour, time.Second},
		{repeated, time.Second, time.Second}, {repeated, 59 * time.Second, 4 * time.Second}, {repeated, 2*time.Minute + time.Second, 9 * time.Second},
	} {
		if got := tc.stall.stopped(tc.in); got != tc.want {
			t.Errorf("%+v in %v: %v, want %v", tc.stall, tc.in, got, tc.want)
		}
	}
}
