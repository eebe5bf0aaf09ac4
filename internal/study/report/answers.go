package report

import (
	"fmt"
	"slices"
)

// answerFindings returns what a report says first about wrong answers, worst first.
func answerFindings(s *Study) (all []string) {
	for _, series := range s.Series {
		if text := foreignAnswers(s, series); text != "" {
			all = append(all, text)
		}
	}
	for i, series := range s.Series {
		if text := worseThanBaseline(s, series); i > 0 && text != "" {
			all = append(all, text)
		}
		if text := worseAnswers(s, series); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// withAnswers returns the levels that carried their load and whose answers were judged by reference codes. A late
// prober cannot make an answer wrong.
func withAnswers(series Series) []Level {
	return slices.DeleteFunc(slices.Clone(series.Levels), func(l Level) bool {
		return l.NotReached != "" || !l.Figure(CorrectPct).Known()
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

// worseAnswers names the levels of a series with a larger share of wrong answers, beyond chance, than a lower level that
// is not worse itself. Of those, the one with the most answers is the reference: the lowest level may have too few.
func worseAnswers(s *Study, series Series) string {
	var worse, against, reference Level
	var at []float64
	for _, l := range withAnswers(series) {
		switch {
		case isWorse(l, reference):
			worse, against, at = l, reference, append(at, l.At)
		case l.Figure(CorrectPct).N > reference.Figure(CorrectPct).N:
			reference = l
		}
	}
	if at == nil {
		return ""
	}
	return fmt.Sprintf("At %s, answers of %s are wrong: %s at %s, against %s at %s.", s.At(at...), series.Name,
		wrongShare(worse), s.At(worse.At), wrongShare(against), s.At(against.At))
}

// isWorse reports whether the share of right answers is below that of another level, beyond chance. About four answers of
// a conversation are wrong together, which a level with few wrong ones does not show. Four of them prove as much as one
// answer, so the intervals have to be apart at twice their width.
func isWorse(l, than Level) bool {
	own, other := l.Figure(CorrectPct), than.Figure(CorrectPct)
	return own.Value+2*(own.High-own.Value) < other.Value-2*(other.Value-other.Low)
}

// worseThanBaseline compares a series with the baseline, and names the lowest level at which more answers are wrong.
func worseThanBaseline(s *Study, series Series) string {
	base := Series{Levels: withAnswers(s.Series[0])}
	for _, l := range withAnswers(series) {
		if than, found := base.Level(l.At); found && isWorse(l, than) {
			return fmt.Sprintf("Answers of %s are wrong more often than those of %s: %s against %s at %s.", series.Name, s.Series[0].Name, wrongShare(l), wrongShare(than), s.At(l.At))
		}
	}
	return ""
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
