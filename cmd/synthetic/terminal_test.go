package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/alerting"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/status"
	"synthetic/internal/simulate/demo"
)

// TestOneFaultIsAFewLines: ten alerts of one fault give a few lines, and one line when all
// have ended.
func TestOneFaultIsAFewLines(t *testing.T) {
	var printed []string
	n := newIncidents(func(c colour, text string) { printed = append(printed, string(c)+" "+text) })
	at := time.Unix(0, 0)
	alert := func(firing bool, name, severity, slo string) {
		c := alerting.Transition{
			Firing: firing, At: at, Annotations: map[string]string{"summary": "slow"},
			Labels: map[string]string{"alertname": name, "severity": severity, "target": "chat", "slo": slo},
		}
		if !firing {
			c.Lasted = 5 * time.Minute
		}
		n.update(c)
	}
	alert(false, "Burn", "page", "ttft") // it fired before the start
	alert(true, "Moved", "ticket", "")
	for _, slo := range []string{"ttft", "tpot", "itl"} {
		alert(true, "Burn", "page", slo)
	}
	at = at.Add(time.Minute)
	alert(true, "Regression", "page", "")
	alert(true, "Slow", "ticket", "")
	for _, slo := range []string{"ttft", "tpot", "itl"} {
		alert(false, "Burn", "page", slo)
	}
	alert(false, "Moved", "ticket", "")
	alert(false, "Slow", "ticket", "")
	alert(false, "Regression", "page", "")
	want := []string{
		"33 FIRING TICKET Moved – slow", "31 FIRING PAGE Burn – slow", "31 FIRING PAGE Regression – slow",
		"32 RESOLVED chat: Burn, Moved, Regression, after 6m",
	}
	if diff := cmp.Diff(want, printed); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// TestTerminal: the demo fits in 80 columns, does not break words, and uses colours only if
// wanted.
func TestTerminal(t *testing.T) {
	var out strings.Builder
	v := newLive(&out)
	v.width, v.paint = func() int { return 80 }, true
	for _, name := range demo.Names() {
		show, err := demo.Named(name, 1)
		if err != nil {
			t.Fatal(err)
		}
		v.plan(show)
	}
	v.say(bad, strings.Repeat("uninterrupted words ", 20))
	for line := range strings.Lines(out.String()) {
		line = strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(line)
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix("uninterrupted", word) && word != "uninterrupted" {
				t.Errorf("a word is broken in %q", line)
			}
		}
	}
	if !strings.Contains(out.String(), "\x1b[31muninterrupted") {
		t.Error("a firing alert has no colour")
	}
	out.Reset()
	v.paint = newLive(&out).paint
	v.say(bad, "what fires")
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("output that is not a terminal is coloured: %q", out.String())
	}
}

func TestSparkline(t *testing.T) {
	var points []status.Point
	for i := range 100 {
		d := status.Duration{V: time.Duration(i%8+1) * 100 * time.Millisecond, OK: i%8 != 3}
		points = append(points, status.Point{Kind: probe.First, TTFT: d}, status.Point{Kind: probe.Followup})
	}
	bars, longest := sparkline(points, probe.First)
	if want := strings.Repeat("▅▆▇█▁▂▃×", 6); bars != want || longest.String() != "800 ms" {
		t.Errorf("%s up to %v, want %s", bars, longest, want)
	}
	if bars, longest := sparkline(nil, probe.First); bars != "" || longest.OK {
		t.Errorf("a sparkline without turns is %q, %v", bars, longest)
	}
	if bars, longest := sparkline(points, probe.Followup); bars != strings.Repeat("×", sparkWidth) {
		t.Errorf("turns without a token are shown as %s, %v", bars, fmt.Sprint(longest))
	}
}
