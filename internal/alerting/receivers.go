package alerting

import (
	"context"
	"time"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/alerting/receivers"
)

// ownReceivers stands for the pager's own receivers where an Alertmanager has its URL.
const ownReceivers = "receivers"

func (p *Pager) newReceivers(o receivers.Options) (err error) {
	o.Dir, o.ExternalURL, o.Dial = p.options.Dir, p.options.ExternalURL, p.options.Dial
	o.Logger, o.EngineLogger = p.options.Logger, p.options.EngineLogger
	p.receivers, err = receivers.New(o)
	return err
}

// Receivers returns the pager's own receivers, or nil.
func (p *Pager) Receivers() *receivers.Receivers { return p.receivers }

// ownStatus returns the states of the own receivers and of the heartbeat.
func (p *Pager) ownStatus() (out []receivers.Status) {
	if p.receivers != nil {
		out = p.receivers.Status()
	}
	if p.heartbeat != nil {
		out = append(out, p.heartbeat.Status())
	}
	return out
}

// staleAfter is the age of the oldest evaluation from which the pager counts as dead.
const staleAfter = 5 * time.Minute

// evaluates reports whether the pager evaluates its rules.
func (p *Pager) evaluates() bool {
	h := p.Health()
	return h.Stalled == nil && !h.Oldest.IsZero() && p.options.Now().Sub(h.Oldest) < staleAfter
}

// put gives alerts to the own receivers. The states are saved first: otherwise the successor of a killed
// process could take an alert for firing after its end was sent, and page again.
func (p *Pager) put(ctx context.Context, messages []message) error {
	_ = p.save() // saveLoop reports the error, and a page is more important
	alerts := make([]*alert.Alert, len(messages))
	for i, m := range messages {
		alerts[i] = &alert.Alert{UpdatedAt: time.Now(), Alert: model.Alert{
			Labels: labelSet(m.Labels), Annotations: labelSet(m.Annotations),
			StartsAt: m.StartsAt, EndsAt: m.EndsAt, GeneratorURL: m.GeneratorURL,
		}}
	}
	return p.receivers.Put(ctx, alerts...)
}

func labelSet(ls labels.Labels) model.LabelSet {
	out := make(model.LabelSet, ls.Len())
	ls.Range(func(l labels.Label) { out[model.LabelName(l.Name)] = model.LabelValue(l.Value) })
	return out
}
