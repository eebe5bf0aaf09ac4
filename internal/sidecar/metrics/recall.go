package metrics

import (
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
}
