package sidecar

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	amcommon "github.com/prometheus/alertmanager/config/common"
	"github.com/prometheus/alertmanager/pkg/labels"

	"synthetic/internal/alerting/receivers"
	"synthetic/internal/config"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/status"
)

// OwnReceivers returns the options of the pager's receivers. Without inhibition rules of the user, one
// fault is one page as with the example of an Alertmanager.
func OwnReceivers(c *config.Alerting) *receivers.Options {
	o := *c.Notify
	if len(c.InhibitRules) == 0 {
		notify := *o.Config
		for _, i := range rules.Inhibitions() {
			notify.InhibitRules = append(notify.InhibitRules, amcommon.InhibitRule{
				SourceMatchers: matchers(i.Sources, i.SourceLabels), TargetMatchers: matchers(i.Targets, i.TargetLabels), Equal: i.Equal,
			})
		}
		o.Config = &notify
	}
	return &o
}

// matchers matches the alerts of some names with one of the values of each label.
func matchers(alerts []string, more map[string][]string) (out amcommon.Matchers) {
	one := func(label string, values []string) {
		kind := labels.MatchRegexp
		if len(values) == 1 {
			kind = labels.MatchEqual
		}
		m, err := labels.NewMatcher(kind, label, strings.Join(values, "|"))
		if err != nil {
			panic(err) // the values are names
		}
		out = append(out, m)
	}
	one("alertname", alerts)
	for _, label := range slices.Sorted(maps.Keys(more)) {
		one(label, more[label])
	}
	return out
}

// silencing answers with a method of the own receivers, if there are any.
func (s *Sidecar) silencing(handle func(*receivers.Receivers, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.pager == nil || s.pager.Receivers() == nil {
			http.Error(w, "there are no silences, because alerting.receivers is not configured; silence alerts in the Alertmanager", http.StatusNotFound)
			return
		}
		handle(s.pager.Receivers(), w, r)
	}
}

// mutes returns what keeps alerts from the own receivers now.
func (s *Sidecar) mutes() (out []status.Mute) {
	if s.pager.Receivers() == nil {
		return nil
	}
	for _, m := range s.pager.Receivers().Mutes(time.Now()) {
		out = append(out, status.Mute{Until: m.Until, Why: m.Why, Alerts: m.Alerts, Silence: m.Silence})
	}
	return out
}
