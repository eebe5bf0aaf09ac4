package figures

import (
	"cmp"
	"math"
	"slices"

	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

// Figures of sessions, which are whole conversations.
const (
	SessionsEnded       Metric = "sessions_ended"
	SessionsCut         Metric = "sessions_cut"
	SessionP50          Metric = "session_p50_ms"
	SessionP95          Metric = "session_p95_ms"
	SessionFailedPct    Metric = "session_failed_pct"
	SessionTurns        Metric = "session_turns_mean"
	SessionPrompt       Metric = "session_prompt_tokens_mean"
	SessionOutput       Metric = "session_output_tokens_mean"
	SessionCachedPct    Metric = "session_cached_pct"
	SessionFirstToken   Metric = "session_first_token_pct"
	SessionAnswerPct    Metric = "session_answer_pct"
	SessionBetweenTurns Metric = "session_between_turns_pct"
	// SessionGoodput is absent without an objective on sessions.
	SessionGoodput Metric = "sessions_within_slo_per_min"
)

// SessionMetrics returns the figures of sessions, in the order of columns.
func SessionMetrics() (all []Metric) {
	for _, d := range sessionDescriptions() {
		all = append(all, d.metric)
	}
	return all
}

func sessionDescriptions() []description {
	return []description{
		{SessionsEnded, "Sessions", "", 0, Neither},
		{SessionsCut, "Cut sessions", "", 0, Neither},
		{SessionP50, "Session p50", "ms", 0, LowerIsBetter},
		{SessionP95, "Session p95", "ms", 0, LowerIsBetter},
		{SessionFailedPct, "Failed sessions", "%", 1, LowerIsBetter},
		{SessionGoodput, "Sessions/min within their SLO", "", 2, HigherIsBetter},
		{SessionTurns, "Turns per session", "", 1, Neither},
		{SessionPrompt, "Prompt tokens per session", "", 0, Neither},
		{SessionOutput, "Output tokens per session", "", 0, Neither},
		{SessionCachedPct, "Cached prompt tokens", "%", 1, HigherIsBetter},
		{SessionFirstToken, "Time to first tokens", "%", 1, Neither},
		{SessionAnswerPct, "Time in answers", "%", 1, Neither},
		{SessionBetweenTurns, "Time between turns", "%", 1, Neither},
	}
}

// addSessions adds the figures of the conversations that were sent in the first half of the measurement: each could last
// as long as the other half before it was cut. A cut one lasts longer than every other one, so that a quantile among the
// cut ones is unknown.
func (l *Level) addSessions(run *runfile.Run, results []runfile.Result) {
	durations, blocks := make([]stats.Series, len(results)), make([][]runfile.Block, len(results))
	ended, cut := uint64(0), uint64(0)
	for i, r := range results {
		blocks[i] = sessionBlocks(run, r)
		for _, b := range blocks[i] {
			d := runfile.Distribution{Values: &runfile.Sample{}}
			if c := b.Conversations; c != nil {
				d.Merge(c.Duration)
				d.Failures = c.Cut
				ended, cut = ended+c.Ended, cut+c.Cut
			}
			durations[i] = append(durations[i], d)
		}
	}
	if ended+cut == 0 {
		return
	}
	l.Figures[SessionsEnded], l.Figures[SessionsCut] = Plain(float64(ended)), Plain(float64(cut))
	for m, q := range map[Metric]float64{SessionP50: 0.50, SessionP95: 0.95} {
		if e := stats.EstimateQuantile(q, durations, true); !math.IsInf(e.Value, 0) {
			l.addTiming(m, e)
		}
	}
	type sums = *runfile.Conversations
	count := func(c sums) float64 { return float64(c.Ended) }
	time := func(c sums) float64 { return c.FirstTokenSeconds + c.AnswerSeconds + c.BetweenSeconds }
	for m, ratio := range map[Metric]struct {
		scale       float64
		part, whole func(sums) float64
	}{
		SessionFailedPct:    {100, func(c sums) float64 { return float64(c.Duration.Failures) }, count},
		SessionTurns:        {1, func(c sums) float64 { return float64(c.Turns) }, count},
		SessionPrompt:       {1, func(c sums) float64 { return float64(c.Tokens.Prompt) }, count},
		SessionOutput:       {1, func(c sums) float64 { return float64(c.Tokens.Output) }, count},
		SessionCachedPct:    {100, func(c sums) float64 { return known(c.Tokens.Cached) }, func(c sums) float64 { return known(c.Tokens.CachedOf) }},
		SessionFirstToken:   {100, func(c sums) float64 { return c.FirstTokenSeconds }, time},
		SessionAnswerPct:    {100, func(c sums) float64 { return c.AnswerSeconds }, time},
		SessionBetweenTurns: {100, func(c sums) float64 { return c.BetweenSeconds }, time},
	} {
		all := make([][]stats.Pair, len(blocks))
		for i := range blocks {
			for _, b := range blocks[i] {
				var p stats.Pair
				if c := b.Conversations; c != nil {
					p = stats.Pair{Part: ratio.part(c), Whole: ratio.whole(c)}
				}
				all[i] = append(all[i], p)
			}
		}
		if stats.Total(all).Whole > 0 {
			f := ratioFigure(all).times(ratio.scale)
			f.N = ended
			if ratio.scale == 100 {
				f.High = min(f.High, 100)
			}
			l.Figures[m] = f
		}
	}
}

// addSessionGoodput adds the rate of sessions that met every objective on sessions. These differ in their thresholds
// only, so that the sessions that met the smallest one met all. The time is that in which sessions were sent that were
// judged: of a timed level, it ends a threshold before its end.
func (l *Level) addSessionGoodput(run *runfile.Run, results []runfile.Result, objectives []runfile.Objective) {
	objectives = slices.DeleteFunc(slices.Clone(objectives), func(o runfile.Objective) bool { return o.SLI != slo.Session })
	if len(objectives) == 0 {
		return
	}
	strictest := slices.MinFunc(objectives, func(a, b runfile.Objective) int { return cmp.Compare(a.ThresholdSeconds, b.ThresholdSeconds) })
	all := make([][]stats.Pair, len(results))
	for i, r := range results {
		left := seconds(r)
		if !allSessionsEnded(run, r) {
			left -= strictest.ThresholdSeconds
		}
		for _, b := range r.Blocks() {
			if left <= 0 {
				break
			}
			all[i] = append(all[i], stats.Pair{Part: 60 * float64(b.SLOs[strictest.Name].Good), Whole: min(b.Seconds, left)})
			left -= b.Seconds
		}
	}
	if stats.Total(all).Whole > 0 {
		l.Figures[SessionGoodput] = ratioFigure(all)
	}
}

// sessionBlocks returns the blocks in the first half of a measurement, or all if no session was cut. The block in the
// middle belongs to the first half.
func sessionBlocks(run *runfile.Run, r runfile.Result) []runfile.Block {
	all := r.Blocks()
	if allSessionsEnded(run, r) {
		return all
	}
	half, from := seconds(r)/2, 0.0
	for i, b := range all {
		if from+b.Seconds/2 > half*(1+1e-9) {
			return all[:i]
		}
		from += b.Seconds
	}
	return all
}

// allSessionsEnded reports whether no session was cut, because the level measured a number of conversations.
func allSessionsEnded(run *runfile.Run, r runfile.Result) bool {
	return run.MeasurementSeconds == 0 && r.State == runfile.Complete
}

// seconds returns the measured time.
func seconds(r runfile.Result) (sum float64) {
	for _, b := range r.Blocks() {
		sum += b.Seconds
	}
	return sum
}

func known(n *uint64) float64 {
	if n == nil {
		return 0
	}
	return float64(*n)
}
