package slo_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

const ms = time.Millisecond

// sized returns a good turn with a TTFT and these tokens; -1 is unknown.
func sized(ttft time.Duration, prompt, cached, estimate int) probe.Result {
	known := func(n int) probe.Opt[int] { return probe.Opt[int]{V: max(n, 0), OK: n >= 0} }
	return probe.Result{
		Outcome: probe.Success, TTFT: probe.Some(ttft), End: time.Time{}.Add(ttft),
		Timing: probe.Timing{AnswerTTFT: probe.Some(ttft)},
		Tokens: probe.Tokens{PromptTokens: known(prompt), CachedTokens: known(cached), UncachedEstimate: known(estimate)},
	}
}

func TestJudgeBySize(t *testing.T) {
	line := slo.Objective{SLI: slo.TTFT, Threshold: 300 * ms, PerThousand: 60 * ms}
	short := slo.Objective{SLI: slo.TTFT, Threshold: 500 * ms, Uncached: slo.Tokens{Below: 4000}}
	long := slo.Objective{SLI: slo.Availability, Uncached: slo.Tokens{From: 32_000}}
	timeout := sized(0, -1, -1, 60_000)
	timeout.Outcome, timeout.TTFT = probe.TimeoutFirstToken, probe.Opt[time.Duration]{}
	late := sized(4000*ms, 60_000, 0, -1)
	late.Lag = 300 * ms
	duration := line
	duration.SLI = slo.TurnDuration
	for name, tc := range map[string]struct {
		o    slo.Objective
		turn probe.Result
		want slo.Judgement
	}{
		"at the line":                    {line, sized(900*ms, 50_000, 40_000, -1), slo.Good},
		"above the line":                 {line, sized(901*ms, 50_000, 40_000, -1), slo.Bad},
		"parts of a thousand":            {line, sized(330*ms, 500, 0, -1), slo.Good},
		"above a part of a thousand":     {line, sized(331*ms, 500, 0, -1), slo.Bad},
		"all cached":                     {line, sized(301*ms, 50_000, 50_000, -1), slo.Bad},
		"cache unknown":                  {line, sized(3300*ms, 50_000, -1, -1), slo.Good},
		"estimated prompt":               {line, sized(3300*ms, -1, -1, 50_000), slo.Good},
		"unknown size":                   {line, sized(ms, -1, -1, -1), slo.NotJudged},
		"the line of a duration":         {duration, sized(901*ms, 50_000, 40_000, -1), slo.Bad},
		"timeout on the line":            {line, timeout, slo.Bad},
		"the tolerance follows the line": {line, late, slo.Bad},
		"in the class":                   {short, sized(501*ms, 50_000, 46_001, -1), slo.Bad},
		"at the end of the class":        {short, sized(501*ms, 50_000, 46_000, -1), slo.NotJudged},
		"cache unknown, outside":         {short, sized(501*ms, 50_000, -1, -1), slo.NotJudged},
		"timeout outside of the class":   {short, timeout, slo.NotJudged},
		"timeout in the class":           {long, timeout, slo.Bad},
		"good in the class":              {long, sized(ms, 32_000, 0, -1), slo.Good},
		"below the class":                {long, sized(ms, 31_999, 0, -1), slo.NotJudged},
	} {
		if got := tc.o.Judge(&tc.turn); got != tc.want {
			t.Errorf("%s: judgement %d, want %d", name, got, tc.want)
		}
	}
}

// TestFlatLine checks over random turns that a line without a slope judges as a plain threshold, that a
// slope never judges more strictly, and that every turn is in one of adjoining classes.
func TestFlatLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	outcomes := probe.Outcomes()
	for range 5000 {
		r := sized(time.Duration(rng.IntN(2000))*ms, rng.IntN(100_000)-1, -1, rng.IntN(100_000))
		if r.PromptTokens.OK && rng.IntN(2) == 0 {
			r.CachedTokens = probe.Some(rng.IntN(r.PromptTokens.V + 1))
		}
		r.Outcome, r.Lag = outcomes[rng.IntN(len(outcomes))], time.Duration(rng.IntN(100))*ms
		for _, sli := range []slo.SLI{slo.TTFT, slo.AnswerTTFT, slo.TurnDuration, slo.Availability} {
			plain := slo.Objective{SLI: sli, Threshold: time.Duration(rng.IntN(2000)) * ms}
			flat, line := plain, plain
			flat.PerThousand, flat.Uncached.Below = 0, 1_000_000_000
			line.PerThousand = 30 * ms
			if plain.Judge(&r) != flat.Judge(&r) {
				t.Fatalf("%s: a flat line judges %d, a plain threshold %d: %+v", sli, flat.Judge(&r), plain.Judge(&r), r)
			}
			if plain.Judge(&r) == slo.Good && line.Judge(&r) != slo.Good {
				t.Fatalf("%s: the line judges a turn within the plain threshold as %d: %+v", sli, line.Judge(&r), r)
			}
			judged := 0
			for _, class := range []slo.Tokens{{Below: 4000}, {From: 4000, Below: 32_000}, {From: 32_000}} {
				inClass := plain
				inClass.Uncached = class
				if inClass.Judge(&r) != slo.NotJudged {
					judged++
				}
			}
			if (judged == 1) != (plain.Judge(&r) != slo.NotJudged) {
				t.Fatalf("%s: %d classes judge a turn that has the judgement %d: %+v", sli, judged, plain.Judge(&r), r)
			}
		}
	}
}

func TestSizeTexts(t *testing.T) {
	o := slo.Objective{PerThousand: 60 * ms, Uncached: slo.Tokens{From: 4000, Below: 4096}}
	got := []string{
		slo.Tokens{}.String(), slo.Tokens{Below: 4000}.String(), slo.Tokens{From: 32_000}.String(),
		o.ClassText(), o.SlopeText(), slo.Objective{}.ClassText() + slo.Objective{}.SlopeText(),
	}
	want := []string{"", "<4k", ">=32k", " with 4k-4096 uncached tokens", " + 60ms per 1k uncached tokens", ""}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("text %d is %q, want %q", i, got[i], want[i])
		}
	}
}
