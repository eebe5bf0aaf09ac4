package rules

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"synthetic/internal/sidecar/metrics"
)

// Scope selects the series of one installation, if several share a Prometheus, and the labels
// that alerts keep.
type Scope struct {
	// Match holds PromQL matchers for every selector, such as `namespace="x"`; "" for none.
	// Their labels are kept.
	Match string
	// Keep are labels that the scrape adds to a prober, such as cluster or pod. Each
	// combination of values is judged separately.
	Keep []string
	// Targets are configured labels of targets, which alerts keep.
	Targets []string
}

type scope struct {
	matchers      []*labels.Matcher
	keep, targets []string
}

// check rejects labels that have another meaning in the rules.
func (s Scope) check() (scope, error) {
	out := scope{keep: slices.Clone(s.Keep), targets: s.Targets}
	if s.Match != "" {
		m, err := parser.NewParser(parser.Options{}).ParseMetricSelector("{" + s.Match + "}")
		if err != nil || strings.Contains(s.Match, "`") {
			return out, fmt.Errorf("matchers %q: write some of PromQL, for example namespace=\"x\": %w", s.Match, cmp.Or(err, errors.New("they contain a back quote")))
		}
		out.matchers = m
		for _, matcher := range m {
			out.keep = append(out.keep, matcher.Name)
		}
	}
	taken := []string{
		model.MetricNameLabel, metrics.LabelTarget, metrics.LabelWorkload, metrics.LabelSLO, metrics.LabelTurn, metrics.LabelReason, metrics.LabelSignal,
		metrics.LabelPart, metrics.LabelURL, metrics.LabelTraceID, labelSLI, labelCause, "scope", labels.AlertName, "severity", "le",
	}
	for _, l := range slices.Concat(out.keep, s.Targets) {
		if !model.LegacyValidation.IsValidLabelName(l) || slices.Contains(taken, l) {
			return out, fmt.Errorf("label %q: name a label that the scrape adds to a prober, for example namespace, cluster or job", l)
		}
	}
	slices.Sort(out.keep)
	out.keep = slices.Compact(out.keep)
	return out, nil
}

// restrict applies the scope to every rule.
func (r *Rules) restrict(s scope) error {
	var errs []error
	for _, g := range r.Groups.Groups {
		for i := range g.Rules {
			var err error
			ruleScope := s
			if g.Rules[i].Record == recordLost {
				ruleScope = s.withoutProbers()
			}
			g.Rules[i].Expr, err = ruleScope.expr(g.Rules[i].Expr)
			errs = append(errs, err)
			for name, text := range g.Rules[i].Annotations {
				g.Rules[i].Annotations[name], err = s.text(text)
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// isEmpty reports whether the scope changes nothing.
func (s scope) isEmpty() bool { return len(s.matchers)+len(s.keep)+len(s.targets) == 0 }

// withoutProbers returns the scope without the labels of single probers. A lost prober does not alert
// while another prober of its installation runs its jobs.
func (s scope) withoutProbers() scope {
	s.keep = slices.DeleteFunc(slices.Clone(s.keep), func(l string) bool { return l == "pod" || l == "instance" })
	return s
}

// expr adds the matchers to every selector of an expression, and keeps their labels in
// aggregations.
func (s scope) expr(text string) (string, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil || s.isEmpty() {
		return text, err
	}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			n.LabelMatchers = append(n.LabelMatchers, s.matchers...)
		case *parser.AggregateExpr:
			if !n.Without {
				n.Grouping = s.addLabels(n.Grouping)
			}
		case *parser.BinaryExpr:
			if m := n.VectorMatching; m != nil && m.On && !isAbsent(n.RHS) {
				m.MatchingLabels = s.addLabels(m.MatchingLabels)
			}
		}
		return nil
	})
	return strings.TrimSpace(parser.Prettify(e)), nil // a YAML block must not begin with a space
}

// isAbsent reports whether an expression is a call of absent or absent_over_time. Its result has none of
// the labels to keep.
func isAbsent(e parser.Expr) bool {
	call, ok := e.(*parser.Call)
	return ok && strings.HasPrefix(call.Func.Name, "absent")
}

// addLabels adds the labels to keep. It adds labels of targets only beside the label target.
func (s scope) addLabels(to []string) []string {
	out := slices.Clone(to)
	add := s.keep
	if slices.Contains(to, metrics.LabelTarget) {
		add = slices.Concat(add, s.targets)
	}
	for _, l := range add {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// text restricts the queries of an annotation to the alert's installation, so that they do not select
// a target of the same name elsewhere, or a fault that others share.
func (s scope) text(t string) (string, error) {
	if s.isEmpty() {
		return t, nil
	}
	verbs, args := "=%q", ""
	for _, l := range s.keep {
		verbs += "," + l + "=%q"
		args += " $labels." + l
	}
	for _, first := range []string{"target", "instance"} { // the first label of a query
		t = strings.NewReplacer(first+"=%q", first+verbs, "` $labels."+first, "` $labels."+first+args).Replace(t)
	}
	var failed error
	queries := regexp.MustCompile(`query "[^"]*"`)
	return queries.ReplaceAllStringFunc(t, func(q string) string {
		e, err := s.expr(q[len(`query "`) : len(q)-1])
		failed = errors.Join(failed, err)
		if len(s.keep) == 0 {
			return "query `" + e + "`"
		}
		e, err = s.ofAlert(e)
		failed = errors.Join(failed, err)
		return "query (printf `" + e + "`" + args + ")"
	}), failed
}

// ofAlert restricts every selector of an expression to the kept labels of an alert. The result is a
// format whose arguments are their values.
func (s scope) ofAlert(text string) (string, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return text, err
	}
	const value = "value of "
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if selector, ok := n.(*parser.VectorSelector); ok {
			for _, l := range s.keep {
				selector.LabelMatchers = append(selector.LabelMatchers, labels.MustNewMatcher(labels.MatchEqual, l, value+l))
			}
		}
		return nil
	})
	format := strings.ReplaceAll(e.String(), "%", "%%")
	for i, l := range s.keep {
		format = strings.ReplaceAll(format, fmt.Sprintf("%q", value+l), fmt.Sprintf("%%[%d]q", i+1))
	}
	return format, nil
}
