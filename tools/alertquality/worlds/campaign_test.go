package worlds

import (
	"reflect"
	"testing"

	"synthetic/tools/alertquality/engine"
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
	c := Campaign{Models: []Model{Typical()}, Faults: 14, Seeds: []uint64{5001}, HealthyDays: 4, FaultyDays: 4, WarmUp: 7, Workers: 2}
	outcomes, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := engine.NewScore("typical", outcomes[0])
	if s.False.Count > 2 || s.Days != 8 {
		t.Errorf("%d false pages in %v days", s.False.Count, s.Days)
	}
	most := map[string]float64{ // minutes to a page or a ticket
		"TTFT ×3": 4, "TTFT ×2": 8, "TTFT ×1.5": 20, "TTFT ×2 rising for 10 min": 20, "TPOT ×1.5": 20, "outage": 2.5, "hang": 2.5,
	}
	for _, d := range s.Detections {
		if limit, ok := most[d.Name]; ok && min(d.ToPage, d.ToTicket) > limit*60 {
			t.Errorf("%s: page after %v s, ticket after %v s, want at most %v min", d.Name, d.ToPage, d.ToTicket, limit)
		}
	}
	if len(s.Detections) != 14 {
		t.Errorf("%d faults in four days", len(s.Detections))
	}
}

// TestSameSeedSameScores: the number of workers does not change the scores.
func TestSameSeedSameScores(t *testing.T) {
	model := Typical()
	model.ConversationsPerMinute = 1 // instead of 12
	c := Campaign{
		Models: []Model{model}, Faults: 4, Rules: rule("synthetic_consecutive_failed_turns >= 3"),
		Seeds: []uint64{1, 2}, HealthyDays: 1, FaultyDays: 1, WarmUp: 1, Workers: 1,
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
