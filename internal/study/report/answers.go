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
	for _, b := range answerBadges(s) {
		all = append(all, b.Headline)
	}
	return all
}

func answerBadges(s *figures.Study) (all []badge) {
	comparisons := len(s.Series) - 1
	for _, series := range s.Series {
		comparisons += max(len(withAnswers(series))-1, 0)
		if b, ok := foreignBadge(s, series); ok {
			all = append(all, b)
		}
	}
	for i, series := range s.Series {
		if b, ok := worseThanBaseline(s, series, comparisons); ok && i > 0 {
			all = append(all, b)
		}
		if w := findWorseAnswers(series, comparisons); len(w.levels) > 0 {
			all = append(all, w.badge(s, series.Name))
		}
	}
	return all
}

// withAnswers returns the sound levels whose answers were judged by reference codes.
func withAnswers(series figures.Series) []figures.Level {
	return slices.DeleteFunc(sound(series).Levels, func(l figures.Level) bool {
		return l.Recall == nil || l.Recall.Judged() == 0 || !l.Figure(figures.CorrectPct).Known()
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
		Headline: fmt.Sprintf("%d %s of %s had text of another conversation, first at %s %g.", foreign, noun, series.Name, s.LevelName(), at),
		Reason:   "They contain a reference code that only another conversation had.",
	}, foreign > 0
}

// worseAnswers are the levels of a series that have a larger share of wrong answers than its lowest level, beyond
// chance.
type worseAnswers struct {
	lowest figures.Level
	levels []figures.Level // in rising order
	onward bool            // all higher levels have a larger share, too
}

// findWorseAnswers compares levels with the lowest one. All comparisons of a report share falseFinding.
func findWorseAnswers(series figures.Series, comparisons int) (w worseAnswers) {
	levels := withAnswers(series)
	if len(levels) == 0 {
		return w
	}
	w.lowest, w.onward = levels[0], true
	for _, l := range levels[1:] {
		if isWorse(l, w.lowest, comparisons) {
			w.levels = append(w.levels, l)
		} else if len(w.levels) > 0 && l.Value(figures.CorrectPct) >= w.lowest.Value(figures.CorrectPct) {
			w.onward = false
		}
	}
	return w
}

// isWorse reports whether more answers of a level are wrong than at another one, beyond chance.
func isWorse(l, than figures.Level, comparisons int) bool {
	effect := max(l.Recall.Effect, 1)
	p := stats.ByChance(than.Recall.Effective(max(than.Recall.Effect, min(effect, mostTogether))), l.Recall.Effective(effect))
	return p*float64(comparisons) < falseFinding
}

// worseThanBaseline compares a series with the baseline at the lowest level of both.
func worseThanBaseline(s *figures.Study, series figures.Series, comparisons int) (b badge, ok bool) {
	base := figures.Series{Levels: withAnswers(s.Series[0])}
	for _, l := range withAnswers(series) {
		if than, found := base.Level(l.At); found {
			return badge{
				Word: "wrong answers", Class: classBad,
				Headline: fmt.Sprintf("Answers of %s are wrong more often than those of %s: %s against %s at %s %g.",
					series.Name, s.Series[0].Name, wrongShare(l), wrongShare(than), s.LevelName(), l.At),
				Reason: "They lack the reference code that was asked for.",
			}, isWorse(l, than, comparisons)
		}
	}
	return b, false
}

func (w worseAnswers) badge(s *figures.Study, name string) badge {
	first, last := w.levels[0], w.levels[len(w.levels)-1]
	var at []float64
	for _, l := range w.levels {
		at = append(at, l.At)
	}
	where := fmt.Sprintf("At %s %s", s.LevelName(), listLevels(at))
	if w.onward {
		where = fmt.Sprintf("From %s %g on", s.LevelName(), first.At)
	}
	shares := []string{wrongShare(first) + " at " + formatLevel(first.At)}
	if last.At > first.At {
		shares = append(shares, wrongShare(last)+" at "+formatLevel(last.At))
	}
	b := badge{
		Word: "wrong answers", Class: classBad,
		Headline: fmt.Sprintf("%s, answers of %s are wrong: %s, against %s at %g.", where, name, strings.Join(shares, ", "), wrongShare(w.lowest), w.lowest.At),
		Reason:   fmt.Sprintf("They lack the reference code that was asked for, so a part of the conversation was lost. By chance, fewer than 1 of %.0f reports have such a finding, unless wrong answers come in bursts.", 1/falseFinding),
	}
	if cached, cold := first.Figure(figures.CorrectCachedPct), first.Figure(figures.CorrectUncachedPct); cached.Known() && cold.Known() {
		b.Reason += fmt.Sprintf(" At %g, %s were wrong where the cache had the code, and %s where not.", first.At, wrongCount(cached), wrongCount(cold))
	}
	if !slices.ContainsFunc(s.Objectives, judgesAnswers) {
		b.Reason += " No SLO judges them, so the capacity includes wrong answers; add the SLO `correct`."
	}
	return b
}

func judgesAnswers(o figures.Objective) bool { return strings.HasPrefix(o.Label, "CORRECT") }

// wrongShare returns the share of wrong answers with its interval: "6.1% (4.8–7.6)".
func wrongShare(l figures.Level) string {
	f := l.Figure(figures.CorrectPct)
	wrong := figures.Figure{Value: 100 - f.Value, Low: 100 - f.High, High: 100 - f.Low}
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

// recallWarnings names models that recall too seldom to show anything.
func recallWarnings(s *figures.Study) (out []warning) {
	for _, series := range s.Series {
		levels := withAnswers(series)
		if len(levels) > 0 && levels[0].Figure(figures.CorrectPct).High < cannotRecall {
			out = append(out, newWarning(0, "%s repeats reference codes in only %s of the answers at %s %g, its lowest level, so they show nothing about load: use a model that can recall, or leave recall out.",
				series.Name, figures.CorrectPct.Cell(levels[0].Figure(figures.CorrectPct)), s.LevelName(), levels[0].At))
		}
	}
	return out
}
