package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"synthetic/internal/sidecar/metrics"
)

// marked describes which series of a result have a label that the ruler adds to all records, as vmalert's
// -external.label and Thanos' --label do.
type marked string

const (
	none  marked = "none"
	whole marked = "all"
	mixed marked = "some"
	// twice is said where one thing may be there with the label and without.
	twice marked = "twice"
)

// TestRulersMayLabelWhatTheyRecord: no expression matches a recorded series with a scraped series on all
// labels, because the label of the ruler would differ.
func TestRulersMayLabelWhatTheyRecord(t *testing.T) {
	in := fixed()
	in.TargetLabels = []string{metrics.LabelService}
	for _, g := range generate(t, in).Groups.Groups {
		for _, r := range g.Rules {
			e, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := marks(e); err != nil || got == twice {
				t.Errorf("%s%s of %s: records exist %s: %v", r.Record, r.Alert, g.Name, got, err)
			}
		}
	}
}

// marks follows the label through an expression. The error names a part that matches series with the label
// and series without it.
func marks(e parser.Expr) (marked, error) {
	switch e := e.(type) {
	case *parser.VectorSelector:
		if strings.Contains(e.Name, ":") {
			return whole, nil
		}
	case *parser.AggregateExpr:
		inner, err := marks(e.Expr)
		if inner == twice && e.Op != parser.MAX && e.Op != parser.MIN && e.Op != parser.GROUP {
			return none, fmt.Errorf("%s: series with the label are counted twice", e)
		}
		if e.Without || e.Op == parser.TOPK || e.Op == parser.BOTTOMK {
			return inner, err
		}
		return none, err
	case *parser.BinaryExpr:
		return marksOfBinary(e)
	case *parser.Call:
		if strings.HasPrefix(e.Func.Name, "absent") {
			return none, nil
		}
		return marksOfArguments(e.Args)
	case *parser.MatrixSelector:
		return marks(e.VectorSelector)
	case *parser.SubqueryExpr:
		return marks(e.Expr)
	case *parser.ParenExpr:
		return marks(e.Expr)
	case *parser.UnaryExpr:
		return marks(e.Expr)
	}
	return none, nil
}

// marksOfArguments returns the marks of the only argument that is a vector.
func marksOfArguments(args parser.Expressions) (marked, error) {
	for _, a := range args {
		if got, err := marks(a); err != nil || got != none {
			return got, err
		}
	}
	return none, nil
}

func marksOfBinary(e *parser.BinaryExpr) (marked, error) {
	left, err := marks(e.LHS)
	if err != nil {
		return none, err
	}
	right, err := marks(e.RHS)
	if err != nil {
		return none, err
	}
	m := e.VectorMatching
	switch {
	case m == nil && left == none: // one is a number
		return right, nil
	case m == nil:
		return left, nil
	case e.Op == parser.LOR && left != right && m.On:
		return mixed, nil
	case e.Op == parser.LOR && left != right:
		return twice, nil
	case left == twice || right == twice || !m.On && (left != right || left == mixed):
		return none, fmt.Errorf("%s: one side has the label of the ruler and the other does not; name the labels to match", e)
	case !m.On || e.Op.IsSetOperator() || m.Card == parser.CardManyToOne:
		return left, nil
	case m.Card == parser.CardOneToMany:
		return right, nil
	}
	return none, nil
}
