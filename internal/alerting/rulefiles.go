package alerting

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// RuleFile is the text of a Prometheus rule file.
type RuleFile struct {
	// Name identifies the file: groups of the same name in files of the same
	// name keep their state over a reload.
	Name string
	Data []byte
}

// ruleFiles is the loader of the rule manager: it serves texts from memory.
type ruleFiles struct {
	syntax parser.Parser
	logger *slog.Logger

	mu    sync.Mutex
	files []RuleFile
	keep  map[string]patience
}

// patience is how long an alert of a name may go unheard of before it is over.
type patience struct {
	// interval is the longest between two evaluations, keep the longest
	// keep_firing_for.
	interval, keep time.Duration
}

// parse reads files without taking them.
func (r *ruleFiles) parse(files []RuleFile) ([]*rulefmt.RuleGroups, error) {
	var out []*rulefmt.RuleGroups
	for _, f := range files {
		groups, errs := rulefmt.Parse(f.Data, false, model.UTF8Validation, r.syntax, r.logger)
		if len(errs) > 0 {
			return nil, fmt.Errorf("rule file %q: %w; \"promtool check rules\" says the same", f.Name, errors.Join(errs...))
		}
		out = append(out, groups)
	}
	return out, nil
}

// take serves files from now on; interval is that of groups without one.
func (r *ruleFiles) take(files []RuleFile, groups []*rulefmt.RuleGroups, interval time.Duration) {
	keep := map[string]patience{}
	for _, file := range groups {
		for _, g := range file.Groups {
			for _, rule := range g.Rules {
				if rule.Alert == "" {
					continue
				}
				p := keep[rule.Alert]
				p.interval = max(p.interval, cmp.Or(time.Duration(g.Interval), interval))
				p.keep = max(p.keep, time.Duration(rule.KeepFiringFor))
				keep[rule.Alert] = p
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files, r.keep = files, keep
}

// names lists the files.
func (r *ruleFiles) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, len(r.files))
	for i, f := range r.files {
		names[i] = f.Name
	}
	return names
}

// patience returns that of an alert by its name; known says whether a rule
// raises it.
func (r *ruleFiles) patience(alert string) (_ patience, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, known := r.keep[alert]
	return p, known
}

// Load implements rules.GroupLoader.
func (r *ruleFiles) Load(name string, ignoreUnknown bool, scheme model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.files {
		if f.Name == name {
			return rulefmt.Parse(f.Data, ignoreUnknown, scheme, r.syntax, r.logger)
		}
	}
	return nil, []error{fmt.Errorf("there is no rule file %q", name)}
}

// Parse implements rules.GroupLoader.
func (r *ruleFiles) Parse(query string) (parser.Expr, error) { return r.syntax.ParseExpr(query) }
