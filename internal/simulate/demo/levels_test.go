package demo

import (
	"fmt"
	"math"
	"testing"
	"time"

	"synthetic/internal/simulate"
)

// change holds the medians of TTFT and TPOT, in milliseconds, that reports 001 and 000 measured at a
// level, before and after the drafter was switched on.
type change struct {
	level                 int
	ttftBefore, ttftAfter float64
	tpotBefore, tpotAfter float64
	// part is the part that became slower; "" if both became equally slower, and no part is named.
	part string
	// late says that turns wait longer than their deadline. If all of them do, it is an outage.
	late bool
}

// ownTurns returns how many turns of the demo are in flight by Little's law: two per second, of 80
// tokens. There are ten of them when tokens take 1.5 times as long. Together with the conversations
// of other clients they make up the level.
func (c change) ownTurns() int {
	return max(10, int(math.Round(2*(c.ttftBefore+80*c.tpotBefore)/1000)))
}

// changes returns the levels that both reports have. Report 001 ends there, because its deployment
// has a batch of 128 sequences.
func changes() []change {
	return []change{
		{50, 174, 236, 44, 65.1, "decode", false},
		{60, 186, 258.3, 47, 70.1, "", false},
		{70, 206, 6518.8, 56, 73.6, "queue_prefill", false},
		{80, 222, 14697.6, 59, 73.4, "queue_prefill", true},
		{90, 231, 25804.1, 67, 75.7, "queue_prefill", true},
		{100, 258, 34258.4, 79, 71.0, "queue_prefill", true},
		{110, 2214, 41930.1, 83, 70, "queue_prefill", true},
		{120, 297, 49041, 84, 70, "queue_prefill", true},
	}
}

// trial returns the trial of a level: the deployment changes from report 001 to report 000.
func (c change) trial() trial {
	target := busyTarget("demo", "phase0", c.level-c.ownTurns())
	target.Options.Load.WarmUp = 20 * time.Minute // a deployment near its limits needs that long to become stationary
	target.Options.Rollouts = []simulate.Rollout{{At: pause, Cluster: *mustPreset("eagle3").Cluster}}
	length, wanted := 6*time.Minute, regressionPage(c.part)
	if max(c.ttftAfter/c.ttftBefore, c.tpotAfter/c.tpotBefore) < 2 {
		length, wanted = 35*time.Minute, smallRegression(c.part)
	}
	if c.late {
		wanted = want{alert: "SyntheticTargetDown|SyntheticRegression", severity: "page", within: outageBound}
	}
	return trial{
		name: fmt.Sprint(c.level), target: target, learnsBaseline: true, length: length,
		wants: []want{wanted},
	}
}

// TestDrafterOffIsNoRegression switches the drafter off, so turns become faster. Only the slow turns
// while the new cache is cold may cause an alert, and only a ticket.
func TestDrafterOffIsNoRegression(t *testing.T) {
	if *quality == "" {
		t.Skip("takes long: make demo-quality")
	}
	target := busyTarget("demo", "eagle3", 10)
	target.Options.Rollouts = []simulate.Rollout{{At: pause, Cluster: *mustPreset("phase0").Cluster}}
	c := trial{name: "drafter off", target: target, learnsBaseline: true, length: 35 * time.Minute}
	p := c.play(t, c.baselines(t), 1)
	if tpot := p.ratios(2*pause, c.length)["first tpot"]; !(tpot < 0.95) {
		t.Errorf("the time per token is %v times the baseline, want an improvement", tpot)
	}
	for _, g := range p.pages(t) {
		if g.severity == "page" {
			t.Errorf("a page for an improvement: %s", g)
		}
	}
}
