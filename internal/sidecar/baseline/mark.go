package baseline

import "synthetic/internal/sidecar/sink"

// Mark tells the jobs of the targets that a change of a deployment concerns. Each job keeps its newest one. Other
// marks, such as a restart or a reload of the prober, do not delay pages.
func (t *Tracker) Mark(m sink.Mark) {
	if !m.IsDeployment() {
		return
	}
	now := t.options.Now()
	ago := now.Sub(m.At) // also after a step of the wall clock, if the mark has a monotonic reading
	for _, j := range t.sorted() {
		if !m.Concerns(j.key.Target) {
			continue
		}
		j.mu.Lock()
		if at := j.wall(now).Add(-ago); at.After(j.marked) {
			j.marked = at
		}
		j.mu.Unlock()
	}
}
