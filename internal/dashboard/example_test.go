package dashboard_test

import (
	"bytes"
	"flag"
	"testing"
	"time"

	"synthetic/internal/dashboard"
	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

var update = flag.Bool("update", false, "rewrite the page that lists the panels")

// example returns an input with all kinds of objectives: with and without a threshold, for one kind of turn,
// and with two windows.
func example() dashboard.Input {
	return dashboard.Input{
		SLOs: []slo.Objective{
			{Name: "ttft-first", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * 24 * time.Hour, Turns: []probe.TurnKind{probe.First}},
			{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.9, Window: 7 * 24 * time.Hour},
			{Name: "available", SLI: slo.Availability, Objective: 0.995, Window: 30 * 24 * time.Hour},
		},
	}
}

func generate(t *testing.T, in dashboard.Input) []dashboard.Dashboard {
	t.Helper()
	ds, err := dashboard.Generate(in)
	if err != nil {
		t.Fatalf("Generate: %v", err)
	}
	return ds
}

func TestGenerateIsPure(t *testing.T) {
	first, second := generate(t, example()), generate(t, example())
	for i := range first {
		if !bytes.Equal(first[i].JSON, second[i].JSON) {
			t.Errorf("%s differs between two runs", first[i].File)
		}
	}
}
