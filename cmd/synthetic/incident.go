package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/alerting"
	"synthetic/internal/slo"
)

func addIncident(app *kingpin.Application) command {
	var id, judgement string
	f := &sidecarFlags{}
	c := app.Command("incident", "Judge incidents.").Command("mark", `Mark an incident as a false page, for the review of the pages.

The page of the incident and "synthetic report slo" say so. true says that the
page was real: the detection of regressions then does not wait longer for the next
one. The sidecar must run with --web.enable-lifecycle. Example:
  synthetic incident mark 20261201-0229-chat false`)
	c.Arg("id", "The last part of the address of the incident's page.").Required().StringVar(&id)
	c.Arg("judgement", "false for a false page; true takes that back.").Required().EnumVar(&judgement, "false", "true")
	f.add(c)
	return command{c, func(ctx context.Context, e env) error {
		return f.post(ctx, e, "-/judge", url.Values{"id": {id}, "false": {strconv.FormatBool(judgement == "false")}})
	}}
}

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
