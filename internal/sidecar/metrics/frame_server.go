package metrics

import dto "github.com/prometheus/client_model/go"

// serverFrame shows what a target's own metrics say. What is not known of it
// has no series.
type serverFrame struct {
	source *server
	shown  server

	complete, drafted, accepted, acceptance dto.Metric
}

// layOutServers prepares the series of the targets whose metrics are read; the
// recorder's lock must be held.
func (f *frame) layOutServers(r *Recorder) {
	for _, t := range r.targets {
		source := r.servers[t.Name]
		if source == nil {
			continue
		}
		sf := &serverFrame{source: source}
		l := labels{pair(LabelTarget, t.Name)}
		sf.complete = dto.Metric{Label: l, Gauge: &dto.Gauge{Value: &sf.shown.complete}}
		sf.drafted = dto.Metric{Label: l, Counter: &dto.Counter{Value: &sf.shown.drafted}}
		sf.accepted = dto.Metric{Label: l, Counter: &dto.Counter{Value: &sf.shown.accepted}}
		sf.acceptance = dto.Metric{Label: l, Gauge: &dto.Gauge{Value: &sf.shown.acceptance}}
		f.servers = append(f.servers, sf)
	}
}

// fillServers shows what is known now; the recorder's lock must be held.
func (f *frame) fillServers() {
	for _, name := range []string{ServerMetricsUp, ServerDrafted, ServerAccepted, ServerAcceptance} {
		f.families[name].Metric = f.families[name].Metric[:0]
	}
	for _, sf := range f.servers {
		sf.shown = *sf.source
		if sf.shown.read {
			f.add(ServerMetricsUp, &sf.complete)
		}
		if sf.shown.counted {
			f.add(ServerDrafted, &sf.drafted)
			f.add(ServerAccepted, &sf.accepted)
		}
		if sf.shown.gauged {
			f.add(ServerAcceptance, &sf.acceptance)
		}
	}
}
