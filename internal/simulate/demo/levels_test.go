package demo

import (
	"fmt"
	"math"
	"testing"
	"time"

	"synthetic/internal/simulate"
)

// change is what reports 001 and 000 measured at a level, before and after the
// drafter was switched on: medians of TTFT and TPOT in milliseconds.
type change struct {
	level                 int
	ttftBefore, ttftAfter float64
	tpotBefore, tpotAfter float64
	// part is what got worse, the more of the two; "" where both did alike, and no
	// part is named.
	part string
	// late says that turns wait longer than their deadline, which is an outage where
	// all of them do.
	late bool
}

// ownTurns are how many turns of the demo's are in flight by Little's law: two a
// second, of 80 tokens. They become ten when tokens take half as long again. With
// other clients' conversations they make a level.
func (c change) ownTurns() int {
	return max(10, int(math.Round(2*(c.ttftBefore+80*c.tpotBefore)/1000)))
}

// changes are the levels that both reports have. Above them 001 has nothing,
// for its deployment takes 128 sequences at once.
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

// drafted is the trial of a level: the deployment of report 001 becomes that of
// report 000.
func (c change) drafted() trial {
	target := Busy("demo", "phase0", c.level-c.ownTurns())
	target.Options.Load.WarmUp = 20 * time.Minute // near its limits a deployment takes that long to settle
	target.Options.Rollouts = []simulate.Rollout{{At: pause, Cluster: *mustPreset("eagle3").Cluster}}
	lasts, wanted := 6*time.Minute, jumps(c.part)
	if max(c.ttftAfter/c.ttftBefore, c.tpotAfter/c.tpotBefore) < 2 {
		lasts, wanted = 35*time.Minute, rises(c.part)
	}
	if c.late {
		wanted = want{alert: "SyntheticTargetDown|SyntheticRegression", severity: "page", within: outageBound}
	}
	return trial{
		name: fmt.Sprint(c.level), target: target, learns: true, lasts: lasts,
		wants: []want{wanted},
	}
}

// TestDrafterOffIsNoRegression goes the other way: turns become faster. Only the
// burst while the new cache is cold may be seen, as a ticket.
func TestDrafterOffIsNoRegression(t *testing.T) {
	if *quality == "" {
		t.Skip("takes long: make demo-quality")
	}
	target := Busy("demo", "eagle3", 10)
	target.Options.Rollouts = []simulate.Rollout{{At: pause, Cluster: *mustPreset("phase0").Cluster}}
	c := trial{name: "drafter off", target: target, learns: true, lasts: 35 * time.Minute}
	p := c.play(t, c.usual(t), 1)
	if tpot := p.ratios(2*pause, c.lasts)["first tpot"]; !(tpot < 0.95) {
		t.Errorf("the time per token is %v times what it was, which is no improvement", tpot)
	}
	for _, g := range p.pages(t) {
		if g.severity == "page" {
			t.Errorf("an improvement pages: %s", g)
		}
	}
}
