package worlds

import (
	"reflect"
	"testing"
)

// rule returns a function that returns a rule file with one page, which costs less to evaluate than the generated rules.
func rule(expr string) func(Model) ([]byte, error) {
	return func(Model) ([]byte, error) {
		return []byte("groups: [{name: g, rules: [{alert: Bad, labels: {severity: page}, expr: '" + expr + "'}]}]"), nil
	}
}

// TestAlertQuality is a small part of make alert-quality.
func TestAlertQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("replays 14 days; make test-long runs it")
	}
	c := Campaign{Models: []Model{Typical()}, Faults: Faults(), Seeds: []uint64{5001}, Days: 4, WarmUp: 7, Workers: 2}
	scores, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := scores[0]
	if s.False.Count > 2 || s.Days != 8 {
		t.Errorf("%d false pages in %v days", s.False.Count, s.Days)
	}
	most := map[string]float64{ // minutes to a page or a ticket
		"TTFT ×3": 4, "TTFT ×2": 6, "TTFT ×1.5": 15, "TTFT ×1.3": 60, "TTFT ×2 rising for 10 min": 15, "TTFT ×1.5 rising for 30 min": 45,
		"TTFT ×4 of 15 % of turns": 20, "TPOT ×1.5": 15, "outage": 2.5, "hang": 2.5,
	}
	for _, f := range s.Faults {
		if f.MedianToEither > most[f.Fault]*60 {
			t.Errorf("%s: %d of %d found, median to page or ticket %v s, want at most %v min", f.Fault, f.FoundEither, f.Incidents, f.MedianToEither, most[f.Fault])
		}
	}
	if len(s.Faults) < 6 {
		t.Errorf("only %d kinds of faults in four days", len(s.Faults))
	}
}

// TestSameSeedSameScores: the number of workers does not change the scores.
func TestSameSeedSameScores(t *testing.T) {
	model := Typical()
	model.ConversationsPerMinute = 1 // instead of 12
	c := Campaign{
		Models: []Model{model}, Faults: Faults(), Rules: rule("synthetic_consecutive_failed_turns >= 3"),
		Seeds: []uint64{1, 2}, Days: 1, WarmUp: 1, Workers: 1,
	}
	one, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Workers = 2
	if two, err := c.Run(t.Context()); err != nil || !reflect.DeepEqual(one, two) {
		t.Errorf("two runs differ, %v:\n%+v\n%+v", err, one, two)
	}
}
