package rules

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// perJob returns the labels of aggregations. Replicas (instance, pod) are summed: together they
// send one workload to one target.
func perJob() []string { return []string{metrics.LabelTarget, metrics.LabelWorkload} }

// matchers are the label matchers of a selector, without braces.
type matchers []string

// selector selects the series of a metric.
func (m matchers) selector(metric string) string {
	if len(m) == 0 {
		return metric
	}
	return metric + "{" + strings.Join(m, ", ") + "}"
}

// increase returns the increase of a counter within a window, summed by labels.
func increase(by []string, metric string, window time.Duration) string {
	return aggregate("sum", by, fmt.Sprintf("increase(%s[%s])", metric, slo.FormatDuration(window)))
}

func aggregate(op string, by []string, expr string) string {
	return op + " by (" + strings.Join(by, ", ") + ") (" + expr + ")"
}

func equals(label, value string) string { return label + "=" + strconv.Quote(value) }

func oneOf(label string, values []string) string {
	if len(values) == 1 {
		return equals(label, values[0])
	}
	return label + "=~" + strconv.Quote(alternatives(values))
}

func noneOf(label string, values []string) matchers {
	if len(values) == 0 {
		return nil
	}
	return matchers{label + "!~" + strconv.Quote(alternatives(values))}
}

// alternatives returns a regular expression for literal values. PromQL anchors it.
func alternatives(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = regexp.QuoteMeta(v)
	}
	return strings.Join(quoted, "|")
}

// num formats a number for PromQL without binary noise.
func num(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e9)/1e9, 'f', -1, 64)
}
