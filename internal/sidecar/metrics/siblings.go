package metrics

import (
	"maps"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/siblings"
	"synthetic/internal/sidecar/sink"
)

// gatherSiblings adds how each replica compares with its siblings.
func (r *Recorder) gatherSiblings(e *exposition, of view) {
	if r.options.Siblings == nil {
		return
	}
	for _, v := range r.options.Siblings() {
		if of.shows(v.Target) {
			gatherSibling(e, v, r.ownLabels(v.Target))
		}
	}
}

// ownLabels returns a target's labels without the service.
func (r *Recorder) ownLabels(target string) map[string]string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if t := r.targets[target]; t != nil {
		all := maps.Clone(t.labels)
		delete(all, LabelService)
		return all
	}
	return nil
}

// gatherSibling adds the series of one replica.
func gatherSibling(e *exposition, v siblings.View, own map[string]string) {
	l := labels{}.with(LabelService, v.Service).with(LabelTarget, v.Target).with(LabelWorkload, v.Workload).of(own)
	if v.Worker != "" {
		l = l.with(LabelWorker, v.Worker)
	}
	e.addAll(l, value{SiblingPageScore, v.Score}, value{siblingFailed, v.Failed})
	for k, kind := range probe.TurnKinds() {
		for i, signal := range sink.Signals() {
			e.add(siblingRatio, l.with(LabelTurn, string(kind)).with(LabelSignal, string(signal)), v.Ratios[k][i])
		}
	}
}
