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

// incidents prints a few lines per fault: each alert of a target once, tickets only before
// the first page, and the end when the last alert of the target ends.
type incidents struct {
	say func(colour, string)

	mu   sync.Mutex
	open map[string]*incident // by target
}

// incident holds the alerts of one target.
type incident struct {
	start   time.Time
	paged   bool
	printed map[string]bool // by alert name
	firing  map[string]bool // by all labels
}

func newIncidents(say func(colour, string)) *incidents {
	return &incidents{say: say, open: map[string]*incident{}}
}

// update records that an alert started or ended, and prints the change if it is news.
func (n *incidents) update(t alerting.Transition) {
	n.mu.Lock()
	defer n.mu.Unlock()
	target, id := cmp.Or(t.Labels["target"], "the prober"), fmt.Sprint(t.Labels)
	current := n.open[target]
	switch {
	case t.Firing && current == nil:
		current = &incident{start: t.At, printed: map[string]bool{}, firing: map[string]bool{}}
		n.open[target] = current
	case current == nil:
		return
	case !t.Firing:
		delete(current.firing, id)
		if len(current.firing) == 0 {
			delete(n.open, target)
			names := strings.Join(slices.Sorted(maps.Keys(current.printed)), ", ")
			lasted := t.At.Add(t.Lasted).Sub(current.start).Round(time.Second)
			n.say(good, fmt.Sprintf("RESOLVED %s: %s, after %s", target, names, slo.FormatDuration(lasted)))
		}
		return
	}
	current.firing[id] = true
	name, severity := t.Labels["alertname"], t.Labels["severity"]
	if current.printed[name] || current.paged && severity != "page" {
		return
	}
	current.printed[name] = true
	c := warning
	if severity == "page" {
		c, current.paged = bad, true
	}
	n.say(c, fmt.Sprintf("FIRING %s %s – %s", strings.ToUpper(severity), name, t.Annotations["summary"]))
}
