package rules

import (
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

// CheckLabels rejects kept labels that have another meaning in the rules.
func CheckLabels(keep []string) error {
	taken := []string{
		model.MetricNameLabel, metrics.LabelTarget, metrics.LabelWorkload, metrics.LabelSLO, metrics.LabelTurn, metrics.LabelReason, metrics.LabelSignal,
		metrics.LabelPart, metrics.LabelURL, metrics.LabelTraceID, labelSLI, labelCause, "scope", labels.AlertName, "severity", "le",
	}
	for _, l := range keep {
		if !model.LegacyValidation.IsValidLabelName(l) || slices.Contains(taken, l) {
			return fmt.Errorf("label %q: name a label that the scrape adds to a prober, for example namespace, cluster or job", l)
		}
	}
	return nil
}

// keepLabels adds the kept labels to every rule.
func (r *Rules) keepLabels(in Input) error {
	k := kept{in.KeepLabels, in.TargetLabels}
	if len(k.always)+len(k.ofTargets) == 0 {
		return nil
	}
	var errs []error
	for _, g := range r.Groups.Groups {
		for i := range g.Rules {
			rule, of := &g.Rules[i], k
			if rule.Record == recordLost {
				of = k.withoutProbers()
			}
			var err error
			rule.Expr, err = of.expr(rule.Expr)
			errs = append(errs, err)
			for name, text := range rule.Annotations {
				rule.Annotations[name], err = k.text(text)
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// kept are the labels that aggregations and matchings keep: some always, some only beside the label target.
type kept struct{ always, ofTargets []string }

// withoutProbers leaves out the labels of single probers. A lost prober does not alert while another prober
// of its installation runs its jobs.
func (k kept) withoutProbers() kept {
	k.always = slices.DeleteFunc(slices.Clone(k.always), func(l string) bool { return l == "pod" || l == "instance" })
	return k
}

func (k kept) expr(text string) (string, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return text, err
	}
	k.addToAll(e)
	return strings.TrimSpace(parser.Prettify(e)), nil // a YAML block must not begin with a space
}

// AddLabels makes the aggregations and matchings of an expression keep labels.
func AddLabels(e parser.Expr, labels []string) { kept{always: labels}.addToAll(e) }

func (k kept) addToAll(e parser.Expr) {
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.AggregateExpr:
			if !n.Without {
				n.Grouping = k.addTo(n.Grouping)
			}
		case *parser.BinaryExpr:
			if m := n.VectorMatching; m != nil && m.On && !isAbsent(n.RHS) {
				m.MatchingLabels = k.addTo(m.MatchingLabels)
			}
		}
		return nil
	})
}

// isAbsent reports whether an expression is a call of absent or absent_over_time. Its result has none of
// the labels to keep.
func isAbsent(e parser.Expr) bool {
	call, ok := e.(*parser.Call)
	return ok && strings.HasPrefix(call.Func.Name, "absent")
}

func (k kept) addTo(grouping []string) []string {
	out := slices.Clone(grouping)
	add := k.always
	if slices.Contains(grouping, metrics.LabelTarget) {
		add = slices.Concat(add, k.ofTargets)
	}
	for _, l := range add {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

var constantQuery = regexp.MustCompile(`query "[^"]*"`)

// text restricts the queries of an annotation to the kept labels of the alert, so that they show neither a target of
// the same name elsewhere nor a fault that others share.
func (k kept) text(t string) (string, error) {
	verbs, args := "=%q", ""
	for _, l := range k.always {
		verbs += "," + l + "=%q"
		args += " $labels." + l
	}
	for _, first := range []string{"target", "instance"} { // the first label of a query
		t = strings.NewReplacer(first+"=%q", first+verbs, "` $labels."+first, "` $labels."+first+args).Replace(t)
	}
	var failed error
	return constantQuery.ReplaceAllStringFunc(t, func(q string) string {
		e, err := k.expr(q[len(`query "`) : len(q)-1])
		failed = errors.Join(failed, err)
		if len(k.always) == 0 {
			return "query `" + e + "`"
		}
		e, err = k.ofAlert(e)
		failed = errors.Join(failed, err)
		return "query (printf `" + e + "`" + args + ")"
	}), failed
}

// ofAlert restricts every selector of an expression to the kept labels of an alert. The result is a format whose
// arguments are their values.
func (k kept) ofAlert(text string) (string, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return text, err
	}
	const value = "value of "
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if selector, ok := n.(*parser.VectorSelector); ok {
			for _, l := range k.always {
				selector.LabelMatchers = append(selector.LabelMatchers, labels.MustNewMatcher(labels.MatchEqual, l, value+l))
			}
		}
		return nil
	})
	format := strings.ReplaceAll(e.String(), "%", "%%")
	for i, l := range k.always {
		format = strings.ReplaceAll(format, fmt.Sprintf("%q", value+l), fmt.Sprintf("%%[%d]q", i+1))
	}
	return format, nil
}
