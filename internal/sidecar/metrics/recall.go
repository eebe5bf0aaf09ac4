package metrics

import (
	"math"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// recallClass is a place of a code.
type recallClass struct{ cached, depth string }

// recalled counts turns by result. Right and wrong ones have series of a class from its first turn on.
// Foreign ones have a single series, from the start of the job on: an alert sees only the increase of a
// series that exists.
type recalled struct {
	foreign float64
	byClass map[recallClass]map[recall.Result]float64
	twins   recall.Pairs
	// failedTwins are the twins without a pair of results.
	failedTwins int
	twinTokens  float64
}

func (c *recalled) count(r probe.Recall) {
	switch r.Result {
	case "":
		return
	case recall.Foreign:
		c.foreign++
		return
	}
	class := recallClass{r.CachedState(), r.DepthClass()}
	if c.byClass[class] == nil {
		c.byClass[class] = map[recall.Result]float64{}
	}
	c.byClass[class][r.Result]++
}

// countTwin counts the twin of a turn. A foreign one also counts as a foreign turn.
func (c *recalled) countTwin(t probe.Twin) {
	c.twinTokens += float64(t.PromptTokens + t.OutputTokens)
	switch t.Cold {
	case recall.Right, recall.Wrong:
		c.twins.Add(t.Cached == recall.Wrong, t.Cold == recall.Wrong)
	case recall.Foreign:
		c.foreign++
		c.failedTwins++
	default:
		c.failedTwins++
	}
}

// gatherRecall adds how the answers compare with what was learned.
func gatherRecall(e *exposition, l labels, w recall.Watched) {
	score, usual := math.NaN(), math.NaN()
	if w.Ready {
		usual = w.Usual.RightShare()
	}
	if w.Ready && !w.Unable {
		score = w.Score
	}
	e.addAll(l, value{RecallScore, score}, value{RecallUsual, usual})
	if where := w.Where(); where != "" && !w.Since.IsZero() {
		e.add(RecallWrong, l.with(LabelReason, where), 1)
	}
}

func (c *recalled) gather(e *exposition, l labels) {
	add := func(result recall.Result, class recallClass, n float64) {
		e.add(RecallTurns, l.with(LabelResult, string(result)).with(labelCached, class.cached).with(labelDepth, class.depth), n)
	}
	unknown := probe.Recall{}
	add(recall.Foreign, recallClass{unknown.CachedState(), unknown.DepthClass()}, c.foreign)
	for _, cached := range probe.CachedStates() {
		for _, depth := range recall.Depths() {
			class := recallClass{cached, depth}
			if counts := c.byClass[class]; counts != nil {
				add(recall.Right, class, counts[recall.Right])
				add(recall.Wrong, class, counts[recall.Wrong])
			}
		}
	}
	if c.twins.Total()+c.failedTwins == 0 {
		return
	}
	for _, twins := range []struct {
		result string
		n      int
	}{{"right", c.twins.Neither}, {"wrong_only_cached", c.twins.OnlyCached}, {"wrong_only_cold", c.twins.OnlyCold}, {"wrong_both", c.twins.Both}, {"failed", c.failedTwins}} {
		e.add(RecallTwins, l.with(LabelResult, twins.result), float64(twins.n))
	}
	e.add(recallTwinTokens, l, c.twinTokens)
}
