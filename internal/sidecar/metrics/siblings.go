package metrics

import (
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/sidecar/siblings"
)

// gatherSibling shows how a replica compares with its siblings.
func gatherSibling(e *exposition, v siblings.View) {
	l := labels{}.with(LabelService, v.Service).with(LabelTarget, v.Target).with(LabelWorkload, v.Workload)
	if v.Worker != "" {
		l = l.with(LabelWorker, v.Worker)
	}
	e.addAll(l, value{SiblingPageScore, v.Score}, value{SiblingFailed, v.Failed})
	for k, kind := range probe.TurnKinds() {
		for i, signal := range regression.Signals() {
			e.add(SiblingRatio, l.with(LabelTurn, string(kind)).with(LabelSignal, string(signal)), v.Ratios[k][i])
		}
	}
}
