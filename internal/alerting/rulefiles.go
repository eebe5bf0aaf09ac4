package alerting

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// RuleFile is the text of a Prometheus rule file.
type RuleFile struct {
	// Name identifies the file: groups of the same name in files of the same name keep their
	// state across a reload.
	Name string
	Data []byte
}

// ruleFiles is the rule manager's loader. It serves texts from memory.
type ruleFiles struct {
	syntax parser.Parser
	logger *slog.Logger

	taken atomic.Pointer[takenFiles] // nil before the first take
}

// takenFiles are the served files, with the timing of alerts by name.
type takenFiles struct {
	files []RuleFile
	times map[string]alertTiming
}

// alertTiming describes the evaluation of an alert's rules.
type alertTiming struct {
	// interval is the longest interval of its rules, keep the longest keep_firing_for.
	interval, keep time.Duration
}

// parse parses files without serving them.
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

// take serves files from now on. interval is that of groups without one.
func (r *ruleFiles) take(files []RuleFile, groups []*rulefmt.RuleGroups, interval time.Duration) {
	times := map[string]alertTiming{}
	for _, file := range groups {
		for _, g := range file.Groups {
			for _, rule := range g.Rules {
				if rule.Alert == "" {
					continue
				}
				t := times[rule.Alert]
				t.interval = max(t.interval, cmp.Or(time.Duration(g.Interval), interval))
				t.keep = max(t.keep, time.Duration(rule.KeepFiringFor))
				times[rule.Alert] = t
			}
		}
	}
	r.taken.Store(&takenFiles{files, times})
}

// names returns the names of the files.
func (r *ruleFiles) names() []string {
	var names []string
	for _, f := range r.taken.Load().files {
		names = append(names, f.Name)
	}
	return names
}

// timing returns the timing of an alert; known is false if no rule raises it.
func (r *ruleFiles) timing(alert string) (t alertTiming, known bool) {
	t, known = r.taken.Load().times[alert]
	return t, known
}

// Load implements rules.GroupLoader.
func (r *ruleFiles) Load(name string, ignoreUnknown bool, scheme model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	for _, f := range r.taken.Load().files {
		if f.Name == name {
			return rulefmt.Parse(f.Data, ignoreUnknown, scheme, r.syntax, r.logger)
		}
	}
	return nil, []error{fmt.Errorf("there is no rule file %q", name)}
}

// Parse implements rules.GroupLoader.
func (r *ruleFiles) Parse(query string) (parser.Expr, error) { return r.syntax.ParseExpr(query) }
