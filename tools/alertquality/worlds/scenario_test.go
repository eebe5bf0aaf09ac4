package worlds_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/tools/alertquality/worlds"
)

// TestRampPagesLater: a rising fault is paged later than an equal fault that begins at once.
func TestRampPagesLater(t *testing.T) {
	step := worlds.Fault{Name: "step", Kind: worlds.Slow, Size: 5, Length: 2 * time.Hour, At: []time.Duration{4 * time.Hour}}
	ramp := step
	ramp.Name, ramp.Ramp, ramp.At = "ramp", time.Hour, []time.Duration{14 * time.Hour}
	c := worlds.Campaign{
		Models: []worlds.Model{worlds.Typical()}, Faults: []worlds.Fault{ramp, step},
		Rules: oneRule(`rate(synthetic_slo_violations_total{slo="ttft"}[5m]) / rate(synthetic_slo_turns_total{slo="ttft"}[5m]) > 0.1`),
		Seeds: []uint64{1}, Days: 1, ScrapeInterval: time.Minute,
	}
	scores, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	toPage := map[string]float64{}
	for _, f := range scores[0].Faults {
		if f.Incidents != 1 || f.MedianToPage == nil {
			t.Fatalf("%s: %+v, want one incident, found", f.Fault, f)
		}
		toPage[f.Fault] = *f.MedianToPage
	}
	if toPage["step"] == 0 || toPage["ramp"] < toPage["step"]+120 {
		t.Errorf("seconds to page: %v, want those of the ramp to be later by minutes", toPage)
	}
}

func TestPlaceFaults(t *testing.T) {
	a := worlds.Fault{Name: "a", Length: time.Hour, At: []time.Duration{30 * time.Hour, 2 * time.Hour}}
	b := worlds.Fault{Name: "b", Length: time.Minute, At: []time.Duration{5 * time.Hour}}
	const day = 24 * time.Hour
	want := []worlds.Injection{
		{Fault: a, From: day + 2*time.Hour, To: day + 3*time.Hour},
		{Fault: b, From: day + 5*time.Hour, To: day + 5*time.Hour + time.Minute},
		{Fault: a, From: day + 30*time.Hour, To: day + 31*time.Hour},
	}
	if diff := cmp.Diff(want, worlds.PlaceFaults([]worlds.Fault{a, {Name: "random"}, b}, day), cmpopts.IgnoreUnexported(worlds.Fault{})); diff != "" {
		t.Errorf("injections (-want +got):\n%s", diff)
	}
}

// TestCheckFit: a fault that fits is drawn in a run with any seed.
func TestCheckFit(t *testing.T) {
	f := worlds.Fault{Name: "long", Kind: worlds.Hang, Length: 16 * time.Hour}
	const day = 24 * time.Hour
	if err := worlds.CheckFit([]worlds.Fault{f}, day); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(200) {
		if n := len(worlds.DrawInjections([]worlds.Fault{f}, time.Hour, day, rand.New(rand.NewPCG(seed, 2)))); n != 1 {
			t.Fatalf("seed %d: injected %d times", seed, n)
		}
	}
	for name, tt := range map[string]struct {
		fault worlds.Fault
		want  string
	}{
		"random": {worlds.Fault{Name: "a", Length: 16*time.Hour + time.Minute}, `fault "a" needs runs of 24h1m0s and they last 24h0m0s`},
		"fixed":  {worlds.Fault{Name: "b", Length: time.Hour, At: []time.Duration{time.Hour, 23 * time.Hour}}, `fault "b" needs runs of 24h15m0s and they last 24h0m0s`},
	} {
		if err := worlds.CheckFit([]worlds.Fault{tt.fault}, day); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

// TestSettingsOfAScenario: the report lists the changed parameters of a model, and the details
// of faults that are not built in.
func TestSettingsOfAScenario(t *testing.T) {
	own, same := worlds.Typical(), worlds.Typical()
	own.Name, own.Like, own.LevelSD, own.Daily, own.LevelTime = "own", "typical", 0.07, 0.3, 2*time.Hour
	same.Name, same.Like, same.Sigma = "same", "typical", 0.4
	creep := worlds.Fault{Name: "creep", Kind: worlds.Slow, Size: 2, Share: 0.17, Ramp: time.Hour, Length: 4 * time.Hour, At: []time.Duration{time.Hour, 8 * time.Hour}}
	other := worlds.Faults()[0]
	other.Size = 2.5
	c := worlds.Campaign{
		Models: []worlds.Model{worlds.Typical(), own, same}, Faults: []worlds.Fault{worlds.Faults()[0], creep, other},
		Seeds: []uint64{1},
	}
	want := []string{
		"quiet: 12 conversations a minute of 3 to 5 turns, σ 0.3 of single turns; a level that wanders over an hour, four bursts of at most 3 min a day",
		"own: 12 conversations a minute of 3 to 5 turns, σ 0.42 of single turns; otherwise like typical, but for level_sd 0.07, level_time 2h0m0s, daily 0.3",
		"same: 12 conversations a minute of 3 to 5 turns, σ 0.4 of single turns; otherwise like typical",
		"TTFT ×3: lasts 30m0s, found if paged within 30m0s",
		"creep: lasts 4h0m0s, found if paged within 4h0m0s; slow ×2, 17 % of turns, rising for 1h0m0s; at 1h0m0s 8h0m0s of each run",
		"TTFT ×3: lasts 30m0s, found if paged within 30m0s; slow ×2.5",
	}
	if diff := cmp.Diff(want, c.Settings()[2:]); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if strings.Contains(strings.Join(c.Settings(), "\n"), "00000") {
		t.Error("a figure has the noise of a float")
	}
}
