package sweep

import (
	"cmp"
	"fmt"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// forecast is what a plan is expected to take. A closed loop has as many turns as the deployment can serve, so
// turns are assumed to take as long as the SLOs allow: then a deployment that meets them has at least as many.
type forecast struct {
	plan         fleet.Plan
	tokens       workload.Tokens // of one conversation
	turns        float64         // of one conversation
	turn         time.Duration
	conversation time.Duration
}

// sampled is how many conversations show the mean of a workload.
const sampled = 200

// Forecast describes the time and the tokens that a plan is expected to take, and the SLOs that its turns cannot decide.
func Forecast(p fleet.Plan) ([]string, error) {
	source, err := workload.NewSource(p.Workload, 0)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	f := forecast{plan: p}
	if p.Cache.Policy == fleet.Prime { // these differ from the others in a trace
		for range p.Cache.Conversations {
			source.Next()
		}
	}
	var think time.Duration
	for range sampled {
		c := source.Next()
		f.turns += float64(c.Turns) / sampled
		for turn := range c.Turns {
			f.tokens.Prompt += float64(source.EstimatePrompt(c, turn+1)) / sampled
			f.tokens.Output += float64(source.EstimateOutput(c, turn+1)) / sampled
		}
		for _, pause := range c.Think {
			think += pause / sampled
		}
	}
	f.turn = threshold(p, slo.TTFT, time.Second) + times(threshold(p, slo.TPOT, 60*time.Millisecond), f.tokens.Output/f.turns)
	f.conversation = times(f.turn, f.turns) + think
	return f.lines(), nil
}

// threshold returns the highest good value of an SLI, or the default of plans without such an SLO.
func threshold(p fleet.Plan, sli slo.SLI, missing time.Duration) time.Duration {
	for _, o := range p.SLOs {
		if o.SLI == sli {
			missing = cmp.Or(o.Threshold, missing)
		}
	}
	return missing
}

func times(d time.Duration, n float64) time.Duration { return time.Duration(float64(d) * n) }

// perSecond returns the conversations per second of a level.
func (f forecast) perSecond(level float64) float64 {
	if f.plan.OpenLoop {
		return level
	}
	return level / f.conversation.Seconds()
}

// measured returns the conversations of the measurement of a level, and its length.
func (f forecast) measured(level float64) (conversations float64, length time.Duration) {
	m := f.plan.Measure
	if m.Conversations == 0 {
		return f.perSecond(level) * m.Duration().Seconds(), m.Duration()
	}
	return float64(m.Conversations), times(time.Second, float64(m.Conversations)/f.perSecond(level))
}

// lines describes the time, the tokens, and the SLOs that the turns cannot decide.
func (f forecast) lines() []string {
	p := f.plan
	var length time.Duration
	conversations := 0.0
	for i, c := range Cells(p) {
		level := p.Levels[c.Level]
		n, d := f.measured(level)
		conversations += n + float64(p.WarmUp.Conversations) + f.perSecond(level)*p.WarmUp.Duration.Seconds()
		if length += p.WarmUp.Length() + d + f.turn; i > 0 {
			length += p.Pause
		}
	}
	faster, allowed := "", ""
	if len(p.SLOs) > 0 {
		allowed = ", as the SLOs allow"
	}
	if !p.OpenLoop {
		faster = "; a faster deployment gets more turns, and costs more"
	}
	out := []string{
		fmt.Sprintf("takes about %s, without switches and priming, if a turn takes %s%s", length.Round(time.Second), f.turn.Round(100*time.Millisecond), allowed),
		fmt.Sprintf("costs about %s, if answers are as long as they may be%s", f.tokens.Times(conversations), faster),
	}
	var undecided []string
	for _, o := range p.SLOs {
		if text := f.tooFewTurns(o); text != "" {
			undecided = append(undecided, text)
		}
	}
	if undecided == nil && len(p.SLOs) > 0 {
		return append(out, "its turns can decide every SLO at every level")
	}
	return append(out, undecided...)
}

// tooFewTurns names the levels whose turns do not decide an objective even if all are good; "" for none.
func (f forecast) tooFewTurns(o slo.Objective) string {
	needed := runs.TurnsToProve(o.Objective, f.plan.Confidence)
	var few []float64
	for _, level := range f.plan.Levels {
		conversations, _ := f.measured(level)
		if f.turnsOf(o, conversations*float64(max(f.plan.Repetitions, 1))) < needed {
			few = append(few, level)
		}
	}
	where := "every level"
	switch {
	case few == nil:
		return ""
	case len(few) < len(f.plan.Levels):
		where = KindOf(f.plan).At(few...)
	}
	return fmt.Sprintf("chance can turn the verdict on SLO %s at %s, which has fewer than the %.0f turns that it takes; measure longer", o.Name, where, needed)
}

// turnsOf returns the turns that an objective judges. Classes by size are unknown before the sweep.
func (f forecast) turnsOf(o slo.Objective, conversations float64) float64 {
	switch o.Kind() {
	case "":
		return conversations * f.turns
	case probe.First:
		return conversations
	}
	return max(f.turns-1, 0) * conversations
}
