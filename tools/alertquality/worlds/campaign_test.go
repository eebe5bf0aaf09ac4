package worlds_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"synthetic/internal/rules"
	"synthetic/tools/alertquality/engine"
	"synthetic/tools/alertquality/worlds"
)

// generated returns a function that generates the rules for deployments.
func generated(t *testing.T) func([]worlds.Deployment) ([]engine.RuleFile, error) {
	t.Helper()
	return func(all []worlds.Deployment) ([]engine.RuleFile, error) {
		in := rules.Input{SLOs: engine.Objectives()}
		for _, d := range all {
			in.Jobs = append(in.Jobs, d.RulesJob())
		}
		return engine.RuleFiles(&in, nil, false, pages())
	}
}

func pages() engine.RuleOptions {
	return engine.RuleOptions{Interval: 30 * time.Second, Severities: []string{"page"}, Tickets: []string{"ticket"}}
}

const consecutiveFailures = "synthetic_consecutive_failed_turns >= 3"

// oneRule returns a function that returns a rule file with one page, which costs much less to evaluate
// than the generated rules.
func oneRule(expr string) func([]worlds.Deployment) ([]engine.RuleFile, error) {
	text := "groups: [{name: g, rules: [{alert: Bad, labels: {severity: page}, expr: '" + expr + "'}]}]"
	return func([]worlds.Deployment) ([]engine.RuleFile, error) {
		return []engine.RuleFile{{Name: "own", Text: []byte(text), RuleOptions: pages()}}, nil
	}
}

// TestAlertQuality is a small part of make alert-quality: one seed with three days without
// faults and three with faults.
func TestAlertQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("replays 22 days; make test-long runs it")
	}
	c := worlds.Campaign{
		Models: []worlds.Model{worlds.Typical()}, Faults: worlds.Faults(),
		Rules: generated(t), SLOs: engine.Objectives(),
		Seeds: []uint64{5001}, Days: 4, WarmUp: 7, Workers: 2, ScrapeInterval: 30 * time.Second,
	}
	scores, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set := scores[0]
	if set.HealthyPages > 1 || set.HealthyDays != 4 {
		t.Errorf("%d pages on %v healthy days", set.HealthyPages, set.HealthyDays)
	}
	most := map[string]float64{ // minutes to a page or a ticket
		"TTFT ×3": 4, "TTFT ×2": 6, "TTFT ×1.5": 15, "TTFT ×1.3": 60, "TTFT ×2 rising for 10 min": 15, "TTFT ×1.5 rising for 30 min": 45,
		"TTFT ×4 of 15 % of turns": 20, "TPOT ×1.5": 15, "outage": 2.5, "hang": 2.5,
	}
	for _, f := range set.Faults {
		if f.MedianToEither == nil {
			t.Errorf("%s: %d of %d found", f.Fault, f.FoundEither, f.Incidents)
		} else if *f.MedianToEither > most[f.Fault]*60 {
			t.Errorf("%s: median to page or ticket %v s of %d, want at most %v min", f.Fault, *f.MedianToEither, f.Incidents, most[f.Fault])
		}
	}
	if len(set.Faults) < 6 {
		t.Errorf("only %d kinds of faults in four days", len(set.Faults))
	}
	checkReport(t, engine.Report{Settings: c.Settings(), Scores: scores})
}

// checkReport writes the report in each form and checks it.
func checkReport(t *testing.T, r engine.Report) {
	t.Helper()
	files, err := r.Files()
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v; want tables and figures", len(files), err)
	}
	md, js := string(files[0].Data), files[1].Data
	for _, want := range []string{"seeds 5001 to 5001", "### quiet", "| TTFT ×3 |", "| synthetic | SyntheticRegression |"} {
		if !strings.Contains(md, want) {
			t.Errorf("the tables have no %q:\n%s", want, md)
		}
	}
	var back engine.Report
	if err := json.Unmarshal(js, &back); err != nil || len(back.Scores) != len(r.Scores) {
		t.Errorf("the JSON gives %d scores, %v", len(back.Scores), err)
	}
}

// TestSameSeedSameScores: the number of workers does not change the scores.
func TestSameSeedSameScores(t *testing.T) {
	model := worlds.Typical()
	model.ConversationsPerMinute = 1 // instead of 12
	c := worlds.Campaign{
		Models: []worlds.Model{model}, Faults: worlds.Faults(), Rules: oneRule(consecutiveFailures),
		Seeds: []uint64{1, 2}, Days: 1, WarmUp: 1, ScrapeInterval: time.Minute,
	}
	var texts [2]string
	for i := range texts {
		c.Workers = i + 1
		scores, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(scores)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	if texts[0] != texts[1] {
		t.Errorf("two runs differ:\n%s\n%s", texts[0], texts[1])
	}
}
