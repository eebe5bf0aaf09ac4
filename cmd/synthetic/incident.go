package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"synthetic/internal/alerting"
	"synthetic/internal/slo"
)

// incidents tells of alerts so that one fault is a few lines: each alert is named
// once, a ticket not beside a page, and the end when the last of a target is over.
type incidents struct {
	say func(colour, string)

	mu   sync.Mutex
	open map[string]*incident // by target
}

// incident is what fires for one target.
type incident struct {
	began  time.Time
	paged  bool
	named  map[string]bool
	firing map[string]bool // by all labels
}

func newIncidents(say func(colour, string)) *incidents {
	return &incidents{say: say, open: map[string]*incident{}}
}

// tell takes in that an alert began or ended, and says what is new in that.
func (n *incidents) tell(c alerting.Transition) {
	n.mu.Lock()
	defer n.mu.Unlock()
	target, id := cmp.Or(c.Labels["target"], "the prober"), fmt.Sprint(c.Labels)
	one := n.open[target]
	switch {
	case c.Firing && one == nil:
		one = &incident{began: c.At, named: map[string]bool{}, firing: map[string]bool{}}
		n.open[target] = one
	case one == nil:
		return
	case !c.Firing:
		delete(one.firing, id)
		if len(one.firing) == 0 {
			delete(n.open, target)
			n.say(good, fmt.Sprintf("RESOLVED %s: %s, %s after it began", target, strings.Join(slices.Sorted(maps.Keys(one.named)), ", "),
				slo.FormatDuration(c.At.Add(c.Lasted).Sub(one.began).Round(time.Second))))
		}
		return
	}
	one.firing[id] = true
	name, page := c.Labels["alertname"], c.Labels["severity"] == "page"
	if one.named[name] || one.paged && !page {
		return
	}
	one.named[name], one.paged = true, one.paged || page
	severity := warning
	if page {
		severity = bad
	}
	n.say(severity, strings.Join([]string{"FIRING", strings.ToUpper(c.Labels["severity"]), name, "–", c.Annotations["summary"]}, " "))
}
