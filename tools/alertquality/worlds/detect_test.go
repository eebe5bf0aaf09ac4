package worlds

import (
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// minutes returns the state of each minute from a text in which x means true.
func minutes(text string) (out []bool) {
	for _, c := range text {
		out = append(out, c == 'x')
	}
	return out
}

func TestStretches(t *testing.T) {
	for text, want := range map[string][]stretch{
		"":                 nil,
		"..":               nil,
		".xx.":             {{1, 3}},
		"x.........x":      {{0, 11}},
		"x..........x":     {{0, 1}, {11, 12}},
		"xx..xx....x.....": {{0, 11}},
	} {
		if got := stretches(minutes(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestFalseTickets: a ticket is false if it begins outside all faults and no page hides it.
func TestFalseTickets(t *testing.T) {
	const hour = 60
	at := func(from, to int) []bool {
		out := make([]bool, 6*hour)
		for i := from; i < to; i++ {
			out[i] = true
		}
		return out
	}
	fault := []Injection{{Fault{Name: "slow"}, time.Hour, 2 * time.Hour}}
	for name, tt := range map[string]struct {
		tickets, pages []bool
		want           int
	}{
		"alone":              {at(200, 240), at(0, 0), 1},
		"in the fault":       {at(70, 240), at(0, 0), 0},
		"just after":         {at(130, 240), at(0, 0), 0},
		"hidden by a page":   {at(200, 240), at(195, 230), 0},
		"longer than a page": {at(200, 300), at(195, 230), 1},
	} {
		w := watchedJob{options: SimulationOptions{Start: epoch()}, judged: epoch(), deployment: Deployment{Injections: fault}, tickets: tt.tickets, pages: tt.pages}
		if got := w.falseTickets(); got != tt.want {
			t.Errorf("%s: %d false tickets, want %d", name, got, tt.want)
		}
	}
}

// TestStateOf: any signal pages, opens a ticket or is blind; promises are added.
func TestStateOf(t *testing.T) {
	var views baseline.Views
	if got := stateOf(&views); got != (jobState{}) {
		t.Errorf("without a history: %+v", got)
	}
	views[0][1].Page, views[1][0].Ticket = 1, 1.5
	views[0][0].Expected, views[1][1].Expected = probe.Some(0.25), probe.Some(0.5)
	views[1][1].Detectable[1] = probe.Some(2.1)
	if got := stateOf(&views); got != (jobState{page: true, ticket: true, promised: probe.Some(0.75)}) {
		t.Errorf("with less than a day: %+v", got)
	}
	views[1][1].History = day
	if !stateOf(&views).blind {
		t.Error("a rise to 2.1 times is all that is detected, and the job is not blind")
	}
}

// TestDetect finds large faults of a quiet world, alone and in a fleet.
func TestDetect(t *testing.T) {
	c := Campaign{
		Models: []Model{Quiet()}, Faults: Faults()[:1], Policy: sink.DefaultPolicy(), Seeds: []uint64{3}, Days: 3, WarmUp: 2, Workers: 2,
	}
	c.Models[0].ConversationsPerMinute = 3
	alone, err := c.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(alone) != 1 || alone[0].Days != 6 || alone[0].Jobs != 1 || len(alone[0].Faults) != 1 {
		t.Fatalf("%+v", alone)
	}
	if f := alone[0].Faults[0]; f.Incidents < 5 || f.Recall < 0.9 || *f.MedianToPage > 300 {
		t.Errorf("%+v", f)
	}
	if d := alone[0]; d.Promised == nil || d.Warming != 0 || d.PagesPerWeek > 7 {
		t.Errorf("%+v", d)
	}
	c.Fleet, c.Faults = 2, nil
	fleet, err := c.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(fleet) != 2 || fleet[0].Days != 6 || fleet[0].Jobs != 2 || fleet[1].Model != "quiet" || fleet[0].Turns < alone[0].Turns*9/10 {
		t.Errorf("%+v", fleet)
	}
}
