package alerting

import (
	"math"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// scrape gathers and stores the series that the rules read. Series that are missing since the last scrape become stale;
// old samples are removed.
func (p *Pager) scrape(at int64, reads map[string]bool) {
	families, err := p.options.Gatherer.Gather()
	if err != nil {
		p.options.Logger.Warn("Cannot gather some series that the alert rules read", "err", err)
	}
	p.scrapes++
	step, refused := p.clock.step().Seconds(), error(nil)
	for _, family := range families {
		name := family.GetName()
		if !reads[name] {
			continue
		}
		for _, m := range family.Metric {
			// The rules read counters and gauges alone.
			if m.Counter == nil && m.Gauge == nil && m.Untyped == nil {
				continue
			}
			v := m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
			if v > 0 && strings.HasSuffix(name, "_timestamp_seconds") {
				v -= step // rules compare it with time(), which is the pager's clock
			}
			b := labels.NewBuilder(p.instance).Set(model.MetricNameLabel, name)
			for _, l := range m.Label {
				b.Set(l.GetName(), l.GetValue())
			}
			s := p.memory.get(b.Labels())
			s.round = p.scrapes
			if err := s.append(at, v); err != nil {
				refused = err
			}
		}
	}
	oldest := at - retention.Milliseconds()
	for _, all := range p.memory.byName {
		for key, s := range all {
			if s.round == p.scrapes-1 && s.round > 0 {
				_ = s.append(at, math.Float64frombits(value.StaleNaN)) // it has no sample of this time
			}
			for len(s.chunks) > 0 && s.chunks[0].last < oldest {
				s.chunks = s.chunks[1:]
			}
			if len(s.chunks) == 0 {
				delete(all, key)
			}
		}
	}
	if refused != nil {
		p.options.Logger.Warn("Cannot store some series that the alert rules read", "err", refused)
	}
}
