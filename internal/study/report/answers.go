package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/stats"
)

const (
	// falseFinding bounds the probability that chance alone makes a report call the answers of any level worse.
	falseFinding = 0.01
	// mostTogether bounds how many answers of the better level count as one. It has too few wrong answers to show
	// how correlated they are; about as many answers of a conversation are wrong together.
	mostTogether = 4
	// cannotRecall is the percentage of right answers below which a model cannot recall.
	cannotRecall = 10
)

// Findings returns what a report says first about wrong answers, worst first.
func Findings(s *figures.Study) (all []string) {
	for _, f := range answerFindings(s) {
		all = append(all, f.Headline)
	}
	return all
}

// answerFinding is a finding about the answers of a series. They are wrong at level from; 0 if at any level.
type answerFinding struct {
	badge
	series string
	from   float64
}

// inCapacity reports whether the capacity of the series includes a level with wrong answers.
func (f answerFinding) inCapacity(c Compliance) bool { return c.Level != nil && *c.Level >= f.from }

func answerFindings(s *figures.Study) (all []answerFinding) {
	comparisons := len(s.Series) - 1
	for _, series := range s.Series {
		comparisons += max(len(withAnswers(series))-1, 0)
		if b, ok := foreignBadge(s, series); ok {
			all = append(all, answerFinding{badge: b, series: series.Name})
		}
	}
	for i, series := range s.Series {
		var wrong []answerFinding
		if f, ok := worseThanBaseline(s, series, comparisons); ok && i > 0 {
			wrong = append(wrong, f)
		}
		if w := findWorseAnswers(series, comparisons); len(w.levels) > 0 {
			wrong = append(wrong, answerFinding{w.badge(s, series.Name), series.Name, w.levels[0].At})
		}
		c := comply(s.Objectives, series)
		for _, f := range wrong {
			if f.inCapacity(c) && !slices.ContainsFunc(s.Objectives, judgesAnswers) {
				f.Reason += " No SLO judges them, so the capacity includes wrong answers; add the SLO `correct`."
			}
			all = append(all, f)
		}
	}
	return all
}

// withAnswers returns the levels that carried their load and whose answers were judged by reference codes. A late
// prober cannot make an answer wrong.
func withAnswers(series figures.Series) []figures.Level {
	return slices.DeleteFunc(slices.Clone(series.Levels), func(l figures.Level) bool {
		return l.NotReached != "" || l.Recall == nil || l.Recall.Judged() == 0 || !l.Figure(figures.CorrectPct).Known()
	})
}

// foreignBadge counts the answers with text of other conversations, also at unsound levels.
func foreignBadge(s *figures.Study, series figures.Series) (b badge, ok bool) {
	foreign, at := uint64(0), 0.0
	for _, l := range series.Levels {
		if l.Recall == nil || l.Recall.Foreign == 0 {
			continue
		}
		if foreign == 0 {
			at = l.At
		}
		foreign += l.Recall.Foreign
	}
	noun := "answers"
	if foreign == 1 {
		noun = "answer"
	}
	return badge{
		Word: "foreign answers", Class: classBad,
		Headline: fmt.Sprintf("%d %s of %s had text of another conversation, first at %s.", foreign, noun, series.Name, s.At(at)),
		Reason:   "They contain a reference code that only another conversation had.",
	}, foreign > 0
}

// worseAnswers are the levels of a series that have a larger share of wrong answers than the lower levels, beyond
// chance.
type worseAnswers struct {
	reference []figures.Level // with which the first of levels was compared
	levels    []figures.Level // in rising order
	onward    bool            // levels has all higher levels that were measured
	tooFew    []figures.Level // the lower levels have too few answers to compare these with
}

// findWorseAnswers compares each level with all lower ones that are not worse themselves. All comparisons of a
// report share falseFinding.
func findWorseAnswers(series figures.Series, comparisons int) (w worseAnswers) {
	var lower []figures.Level
	for _, l := range withAnswers(series) {
		switch {
		case len(lower) == 0:
		case isWorse(l, lower, comparisons):
			w.levels = append(w.levels, l)
			if w.reference == nil {
				w.reference = slices.Clone(lower)
			}
			continue
		case needsMoreAnswers(l, lower, comparisons):
			w.tooFew = append(w.tooFew, l)
		}
		lower = append(lower, l)
	}
	if len(w.levels) > 0 {
		first := slices.IndexFunc(series.Levels, func(l figures.Level) bool { return l.At == w.levels[0].At })
		w.onward = len(w.levels) == len(series.Levels)-first
	}
	return w
}

// isWorse reports whether more answers of a level are wrong than at other levels together, beyond chance.
func isWorse(l figures.Level, than []figures.Level, comparisons int) bool {
	own, others := effectiveAnswers(l, than)
	return stats.ByChance(others, own)*float64(comparisons) < falseFinding
}

// needsMoreAnswers reports whether a level would be worse if the others had as large a share of wrong answers, and many
// more answers. Others with as many answers as the level are enough.
func needsMoreAnswers(l figures.Level, others []figures.Level, comparisons int) bool {
	own, all := effectiveAnswers(l, others)
	if all.Good+all.Bad >= own.Good+own.Bad {
		return false
	}
	const more = 100
	return stats.ByChance(stats.Tally{Good: more * all.Good, Bad: more * all.Bad}, own)*float64(comparisons) < falseFinding
}

// effectiveAnswers returns the effective numbers of answers of a level and of others together. The answers of the
// level count as at least as correlated as those of the others, because its own estimate may be too low.
func effectiveAnswers(l figures.Level, others []figures.Level) (own, all stats.Tally) {
	effect := max(l.Recall.Effect, 1)
	for _, o := range others {
		effect = max(effect, o.Recall.Effect)
	}
	for _, o := range others {
		n := o.Recall.Effective(max(o.Recall.Effect, min(effect, mostTogether)))
		all.Good, all.Bad = all.Good+n.Good, all.Bad+n.Bad
	}
	return l.Recall.Effective(effect), all
}

// worseThanBaseline compares a series with the baseline at the lowest level of both.
func worseThanBaseline(s *figures.Study, series figures.Series, comparisons int) (f answerFinding, ok bool) {
	base := figures.Series{Levels: withAnswers(s.Series[0])}
	for _, l := range withAnswers(series) {
		if than, found := base.Level(l.At); found {
			return answerFinding{badge{
				Word: "wrong answers", Class: classBad,
				Headline: fmt.Sprintf("Answers of %s are wrong more often than those of %s: %s against %s at %s.",
					series.Name, s.Series[0].Name, wrongShare(l), wrongShare(than), s.At(l.At)),
				Reason: "They lack the reference code that was asked for.",
			}, series.Name, l.At}, isWorse(l, []figures.Level{than}, comparisons)
		}
	}
	return f, false
}

func (w worseAnswers) badge(s *figures.Study, name string) badge {
	first, last := w.levels[0], w.levels[len(w.levels)-1]
	var at []float64
	for _, l := range w.levels {
		at = append(at, l.At)
	}
	where := "At " + s.At(at...)
	if w.onward {
		where = fmt.Sprintf("From %s on", s.At(first.At))
	}
	shares := []string{wrongShare(first) + " at " + s.At(first.At)}
	if last.At > first.At {
		shares = append(shares, wrongShare(last)+" at "+s.At(last.At))
	}
	b := badge{
		Word: "wrong answers", Class: classBad,
		Headline: fmt.Sprintf("%s, answers of %s are wrong: %s, against %s.", where, name, strings.Join(shares, ", "), w.against(s)),
		Reason:   fmt.Sprintf("They lack the reference code that was asked for, so a part of the conversation was lost. By chance, fewer than 1 of %.0f reports have such a finding, unless wrong answers come in bursts.", 1/falseFinding),
	}
	if cached, cold := first.Figure(figures.CorrectCachedPct), first.Figure(figures.CorrectUncachedPct); cached.Known() && cold.Known() {
		b.Reason += fmt.Sprintf(" At %s, %s were wrong where the cache had the code, and %s where not.", s.At(first.At), wrongCount(cached), wrongCount(cold))
	}
	return b
}

// against returns the share of wrong answers of the reference: "0.0% (0.0–0.6) at concurrency 10".
func (w worseAnswers) against(s *figures.Study) string {
	if len(w.reference) == 1 {
		return wrongShare(w.reference[0]) + " at " + s.At(w.reference[0].At)
	}
	wrong, judged, at := uint64(0), uint64(0), []float64(nil)
	for _, l := range w.reference {
		wrong, judged, at = wrong+l.Recall.Judged()-l.Recall.Right, judged+l.Recall.Judged(), append(at, l.At)
	}
	return fmt.Sprintf("%d of %d answers at %s", wrong, judged, s.At(at...))
}

func judgesAnswers(o figures.Objective) bool { return strings.HasPrefix(o.Label, "CORRECT") }

// wrongShare returns the share of wrong answers with its interval: "6.1% (4.8–7.6)". It and the printed share of right
// answers add up to 100 %.
func wrongShare(l figures.Level) string {
	f := l.Figure(figures.CorrectPct)
	wrong := figures.Figure{Value: 100 - figures.RoundRight(f.Value), Low: 100 - f.High, High: 100 - figures.RoundRight(f.Low)}
	return figures.ErrorPct.Cell(wrong)
}

// wrongCount returns "25 of 412 answers".
func wrongCount(f figures.Figure) string {
	return fmt.Sprintf("%.0f of %d answers", math.Round(float64(f.N)*(1-f.Value/100)), f.N)
}

// answers adds the shares of right answers, by cache and by depth.
func (b *builder) answers() {
	columns := b.metricColumns(figures.CorrectPct, figures.ForeignAnswers)
	if len(columns) == 0 {
		return
	}
	columns = append(columns, column{title: "Judged answers", cell: func(l figures.Level) cell {
		return cellIf(l.Recall != nil, fmt.Sprint(l.Figure(figures.CorrectPct).N))
	}})
	s := b.section("Right Answers")
	s.paragraph("The share of the answers that have the reference code of their question.")
	s.table(b.byLevel(columns...))
	if p := b.metricPicture(figures.CorrectPct); p != nil && (b.doc.Picture == nil || b.doc.Picture.File != p.File) {
		s.picture(p)
	}
	b.subtable("Right Answers by Cache and Depth", b.byLevel(b.metricColumns(figures.RecallMetrics()...)...))
}

// recallWarnings names models that recall too seldom to show anything, and levels that cannot be compared with lower
// ones.
func recallWarnings(s *figures.Study) (out []warning) {
	for _, series := range s.Series {
		levels := withAnswers(series)
		if len(levels) > 0 && levels[0].Figure(figures.CorrectPct).High < cannotRecall {
			out = append(out, newWarning(0, "%s repeats reference codes in only %s of the answers at %s, its lowest level, so they show nothing about load: use a model that can recall, or leave recall out.",
				series.Name, figures.CorrectPct.Cell(levels[0].Figure(figures.CorrectPct)), s.At(levels[0].At)))
		}
		for _, l := range findWorseAnswers(series, len(levels)-1).tooFew {
			out = append(out, newWarning(0, "at %s, %s of the answers of %s are wrong, but there are too few answers at the lower levels to compare with: measure those for longer.",
				s.At(l.At), wrongShare(l), series.Name))
		}
	}
	return out
}
