package report

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/study/runs"
)

const (
	// falseFinding bounds the probability that chance alone makes a report call the answers of any level worse.
	falseFinding = 0.01
	// together is how many answers count as one at least. About as many answers of a conversation are wrong together, and
	// a level has too few wrong answers to show that.
	together = 4
)

// answerFindings returns what a report says first about wrong answers, worst first.
func answerFindings(s *Study) (all []string) {
	comparisons := len(s.Series) - 1
	for _, series := range s.Series {
		comparisons += max(len(withAnswers(series))-1, 0)
		if text := foreignAnswers(s, series); text != "" {
			all = append(all, text)
		}
	}
	for i, series := range s.Series {
		if text := worseThanBaseline(s, series, comparisons); i > 0 && text != "" {
			all = append(all, text)
		}
		if text := worseAnswers(s, series, comparisons); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// withAnswers returns the levels that carried their load and whose answers were judged by reference codes. A late
// prober cannot make an answer wrong.
func withAnswers(series Series) []Level {
	return slices.DeleteFunc(slices.Clone(series.Levels), func(l Level) bool {
		return l.NotReached != "" || l.Recall == nil || l.Recall.Judged() == 0 || !l.Figure(CorrectPct).Known()
	})
}

// foreignAnswers counts the answers with text of other conversations, also at unsound levels.
func foreignAnswers(s *Study, series Series) string {
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
	switch foreign {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 answer of %s had text of another conversation, at %s.", series.Name, s.At(at))
	}
	return fmt.Sprintf("%d answers of %s had text of another conversation, first at %s.", foreign, series.Name, s.At(at))
}

// worseAnswers names the levels of a series with a larger share of wrong answers than at the lower levels that are not
// worse themselves, beyond chance. All comparisons of a report share falseFinding.
func worseAnswers(s *Study, series Series, comparisons int) string {
	var lower, reference, worse []Level
	for _, l := range withAnswers(series) {
		if len(lower) == 0 || !isWorse(l, lower, comparisons) {
			lower = append(lower, l)
			continue
		}
		if worse = append(worse, l); reference == nil {
			reference = slices.Clone(lower)
		}
	}
	if worse == nil {
		return ""
	}
	first, last := worse[0], worse[len(worse)-1]
	place := slices.IndexFunc(series.Levels, func(l Level) bool { return l.At == first.At })
	where := "At " + s.At(levelsOf(worse)...)
	if len(worse) == len(series.Levels)-place {
		where = fmt.Sprintf("From %s on", s.At(first.At))
	}
	shares := []string{wrongShare(first) + " at " + s.At(first.At)}
	if last.At > first.At {
		shares = append(shares, wrongShare(last)+" at "+s.At(last.At))
	}
	return fmt.Sprintf("%s, answers of %s are wrong: %s, against %s.", where, series.Name, strings.Join(shares, ", "), against(s, reference))
}

func levelsOf(all []Level) (at []float64) {
	for _, l := range all {
		at = append(at, l.At)
	}
	return at
}

// isWorse reports whether more answers of a level are wrong than at other levels together, beyond chance.
func isWorse(l Level, than []Level, comparisons int) bool {
	own, others := effectiveAnswers(l, than)
	return runs.ByChance(others, own)*float64(comparisons) < falseFinding
}

// effectiveAnswers returns the effective numbers of answers of a level and of others together. The answers of the
// level count as at least as correlated as those of the others, because its own estimate may be too low.
func effectiveAnswers(l Level, others []Level) (own, all runs.Tally) {
	effect := max(l.Recall.Effect, together)
	for _, o := range others {
		effect = max(effect, o.Recall.Effect)
		n := o.Recall.Effective(max(o.Recall.Effect, together))
		all.Good, all.Bad = all.Good+n.Good, all.Bad+n.Bad
	}
	return l.Recall.Effective(effect), all
}

// worseThanBaseline compares a series with the baseline at the lowest level of both.
func worseThanBaseline(s *Study, series Series, comparisons int) string {
	base := Series{Levels: withAnswers(s.Series[0])}
	for _, l := range withAnswers(series) {
		than, found := base.Level(l.At)
		switch {
		case !found:
			continue
		case isWorse(l, []Level{than}, comparisons):
			return fmt.Sprintf("Answers of %s are wrong more often than those of %s: %s against %s at %s.", series.Name, s.Series[0].Name, wrongShare(l), wrongShare(than), s.At(l.At))
		}
		return ""
	}
	return ""
}

// against returns the share of wrong answers of the reference: "0.0% (0.0–0.6) at concurrency 10".
func against(s *Study, reference []Level) string {
	if len(reference) == 1 {
		return wrongShare(reference[0]) + " at " + s.At(reference[0].At)
	}
	wrong, judged := uint64(0), uint64(0)
	for _, l := range reference {
		wrong, judged = wrong+l.Recall.Judged()-l.Recall.Right, judged+l.Recall.Judged()
	}
	return fmt.Sprintf("%d of %d answers at %s", wrong, judged, s.At(levelsOf(reference)...))
}

// wrongShare returns the share of wrong answers with its interval: "6.1% (4.8–7.6)". It and the printed share of right
// answers add up to 100 %.
func wrongShare(l Level) string {
	f := l.Figure(CorrectPct)
	wrong := Figure{Value: 100 - roundRight(f.Value), Low: 100 - f.High, High: 100 - roundRight(f.Low)}
	return ErrorPct.Range(wrong)
}

// addAnswers adds the share of right answers.
func addAnswers(d *document, s *Study) {
	metrics := knownMetrics(s, CorrectPct, ForeignAnswers)
	addTopic(d, s, "Right Answers", metrics, metricPicture(s, CorrectPct), "The share of the answers that have the reference code of their question.")
	if findings := answerFindings(s); metrics != nil {
		d.Sections[len(d.Sections)-1].list(findings)
	}
}
