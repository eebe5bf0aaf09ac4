package report

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

func TestCell(t *testing.T) {
	ttft := TTFTP50
	tpot := TPOTP50
	pct := ErrorPct
	nan, inf := math.NaN(), math.Inf(1)
	for want, tt := range map[string]struct {
		m Metric
		f Figure
	}{
		"236ms":   {ttft, Plain(236)},
		"280ms":   {ttft, Plain(280.5)}, // halves to even
		"0.35ms":  {ttft, Plain(0.351)},
		"3.5ms":   {ttft, Plain(3.51)},
		"72361ms": {ttft, Plain(72360.8)},
		"58.5s":   {LatencyP50, Plain(58476.5)},
		"65ms":    {tpot, Plain(65.1)},
		"16.3%":   {pct, Plain(16.260163)},
		"n/a":     {ttft, unknown()},
		"∞":       {ttft, Figure{Value: inf, Low: inf, High: inf, N: 500}},
		"236ms ~": {TTFTP99, Figure{Value: 236, Low: nan, High: nan, N: 99, Quantile: true}},
		"100.0%":  {KVHitRatePct, Plain(100)},
		"1234":    {Completed, Plain(1234)},
		"3448.8":  {OutputTokensPerSecond, Plain(3448.800354)},
	} {
		if got := marked(tt.m.Text(tt.f.Value), tt.m.mark(tt.f)).Text; got != want {
			t.Errorf("%+v is printed as %q, want %q", tt.f, got, want)
		}
	}
}

// TestRange: an interval stands behind its figure, unless both ends are printed as equal.
func TestRange(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, tt := range map[string]struct {
		m Metric
		f Figure
	}{
		"236ms (221–247)":    {TTFTP50, Figure{Value: 236, Low: 221, High: 247, N: 500}},
		"236ms (221–∞)":      {TTFTP50, Figure{Value: 236, Low: 221, High: inf, N: 500}},
		"58.5s (9.0–61.2)":   {LatencyP50, Figure{Value: 58476, Low: 9000, High: 61234, N: 500}},
		"0.0%":               {ErrorPct, Figure{Value: 0, Low: 0, High: 0.01, N: 50000}},
		"24ms (16–?)":        {TTFTP50, Figure{Value: 24, Low: 16, High: nan, N: 2500, Quantile: true}},
		"236ms":              {TTFTP50, Plain(236)},
		"75.6% (72.0–79.0)":  {CorrectPct, Figure{Value: 75.58, Low: 72.04, High: 78.97}},
		"99.9% (99.9–100.0)": {CorrectPct, Figure{Value: 99.97, Low: 99.96, High: 99.98}}, // wrong answers never make 100 %
	} {
		if got := tt.m.Range(tt.f); got != want {
			t.Errorf("%+v is printed as %q, want %q", tt.f, got, want)
		}
	}
}

// TestMetrics: every figure has a unique key that finds it, and the quantile in its name agrees with its value.
func TestMetrics(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Metrics() {
		if m == NoMetric || seen[m.Key()] || findMetric(m.Key()) != m || m.Title() == "" {
			t.Errorf("the metric %q is called %q and read as %v", m.Key(), m.Title(), findMetric(m.Key()))
		}
		seen[m.Key()] = true
		if q := m.quantile(); q > 0 && m != percentile(m.Timing, m.Turns, 100*q) {
			t.Errorf("%s is the quantile %g", m.Key(), q)
		}
	}
	for m, want := range map[Metric]string{
		TTFTP50: "ttft_p50_ms", percentile(slo.AnswerTTFT, FirstTurns, 99): "answer_ttft_first_p99_ms",
		percentile(slo.TurnDuration, WithFailures, 95): "latency_p95_with_failures_ms", percentile(slo.ITL, FollowupTurns, 99): "itl_followup_p99_ms",
		AddedTTFTP99: "added_ttft_p99_ms", AddedGapP99: "added_gap_p99_ms",
	} {
		if m.Key() != want || !m.Reported() {
			t.Errorf("the key is %q, want %q, reported: %v", m.Key(), want, m.Reported())
		}
	}
	for _, m := range []Metric{TurnTimeMean, NoMetric} {
		if m.Reported() {
			t.Errorf("%q is reported", m.Key())
		}
	}
}

// TestObjectivesReadBack: an objective survives the data of a report, which name it by its quantile where one is equivalent.
func TestObjectivesReadBack(t *testing.T) {
	for key, o := range map[string]slo.Objective{
		"ttft_p99.9_ms":           {Name: "ttft", SLI: slo.TTFT, Threshold: 1500 * time.Millisecond, Objective: 0.999},
		"latency_followup_p95_ms": {Name: "long", SLI: slo.TurnDuration, Threshold: time.Minute, Objective: 0.95, Turns: []probe.TurnKind{probe.Followup}},
		"":                        {Name: "up", SLI: slo.Availability, Objective: 0.995},
	} {
		sized := o
		sized.PerThousand, sized.Uncached = time.Millisecond, slo.Tokens{Below: 4000}
		for key, o := range map[string]slo.Objective{key: o, "none": sized} {
			d := dataOf(o)
			text, err := json.Marshal(d)
			var read objectiveData
			got, wrong := slo.Objective{}, errors.Join(err, json.Unmarshal(text, &read))
			if wrong == nil {
				got, wrong = read.objective()
			}
			if diff := cmp.Diff(o, got); wrong != nil || diff != "" || key != "none" && d.Key != key {
				t.Errorf("%s, read with %v (-want +got):\n%s", text, wrong, diff)
			}
		}
	}
}

// TestDigits: measured numbers have at most three significant digits.
func TestDigits(t *testing.T) {
	for want, v := range map[string]float64{
		"0.0": 0.04, "0.4": 0.351, "10.0": 9.999, "58.5": 58.46, "100": 99.96, "101": 100.6, "3290": 3286.4, "1230000": 1234567, "-12.3": -12.34,
	} {
		if got := Digits(v, 1); got != want {
			t.Errorf("%g is printed as %s, want %s", v, got, want)
		}
	}
}
