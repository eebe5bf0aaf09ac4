package dashboard

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// Names of variables. A variable that selects by a label has the name of the label; varServer selects the scrape job of
// the servers' own metrics.
const varDatasource, varTarget, varWorkload, varInstance, varServer = "datasource", metrics.LabelTarget, metrics.LabelWorkload, "instance", "server"

func source() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${" + varDatasource + "}")}
}

// scope restricts queries to the selection of the variables.
type scope struct {
	variables, keep []string
	one             bool // the variables have a single value
}

// placeholders are durations that stand for Grafana's variables while a query is parsed.
func placeholders() []string {
	return []string{"$__rate_interval", "1d1h1m1s", "$__interval", "2d1h1m1s", "$__range", "3d1h1m1s"}
}

// scoped adds the matchers of the variables to each selector, and the kept labels to aggregations and matchings.
func (b *board) scoped(expr string) string {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(strings.NewReplacer(placeholders()...).Replace(expr))
	if err != nil {
		b.err = errors.Join(b.err, fmt.Errorf("%w in %s", err, expr))
		return expr
	}
	rules.AddLabels(e, b.scope.keep)
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			s.LabelMatchers = append(s.LabelMatchers, b.scope.matchers(s.Name)...)
		}
		return nil
	})
	back := placeholders()
	slices.Reverse(back)
	return strings.NewReplacer(back...).Replace(e.String())
}

// selected is the value of a variable as a regexp. Grafana does not escape a single value by itself.
func selected(variable string) string { return "${" + variable + ":regex}" }

// matchers returns a matcher for each variable whose label the series has. An alert may lack a target.
func (s scope) matchers(series string) (out []*labels.Matcher) {
	known := labelsOf(series)
	for _, v := range slices.Concat(s.variables, s.keep) {
		kept, value := slices.Contains(s.keep, v), selected(v)
		if known == nil || !kept && v != varInstance && !slices.Contains(known, v) {
			continue
		}
		if !kept && strings.HasPrefix(series, "ALERTS") && !s.one {
			value += "|"
		}
		out = append(out, labels.MustNewMatcher(labels.MatchRegexp, v, value))
	}
	return out
}

// labelsOf returns the labels of a metric, a recorded series or an alert; nil for a series of others.
func labelsOf(series string) []string {
	switch {
	case strings.HasPrefix(series, "process_"):
		return []string{}
	case strings.HasPrefix(series, "ALERTS"), strings.HasPrefix(series, "target_workload"):
		return []string{varTarget, varWorkload}
	}
	for _, m := range slices.Concat(metrics.Catalog(), metrics.PagerCatalog()) {
		if end, ok := strings.CutPrefix(series, m.Name); ok && slices.Contains([]string{"", "_bucket", "_sum", "_count"}, end) {
			return append([]string{}, m.Labels...)
		}
	}
	return nil
}

// addVariables adds the data source, then the variables of labels, the widest first.
func (b *board) addVariables() {
	b.WithVariable(dashboard.NewDatasourceVariableBuilder(varDatasource).Label("Data source").Type("prometheus"))
	within := ""
	for _, l := range slices.Concat(b.scope.keep, b.scope.variables) {
		one := b.scope.one && !slices.Contains(b.scope.keep, l)
		b.WithVariable(variable(l, strings.ToUpper(l[:1])+l[1:], l, fmt.Sprintf("%s{%s}", metrics.SchedulerHeartbeat, within), one))
		within = strings.TrimPrefix(within+fmt.Sprintf(`,%s=~"%s"`, l, selected(l)), ",")
	}
	if b.scope.one {
		b.WithVariable(variable(varServer, "Job of the servers", "job", `{__name__=~"vllm:num_requests_running|sglang:num_running_reqs|trtllm_num_requests_running"}`, false))
	}
}

// variable selects values of a label on the series of a selector: any number, or one. All includes series without
// the label, for example of a prober that has just started.
func variable(name, title, label, selector string, one bool) *dashboard.QueryVariableBuilder {
	definition := fmt.Sprintf("label_values(%s, %s)", selector, label)
	labelValues := map[string]any{"qryType": 1, "query": definition, "refId": "PrometheusVariableQueryEditor-VariableQuery"}
	v := dashboard.NewQueryVariableBuilder(name).Label(title).Datasource(source()).Definition(definition).Query(dashboard.StringOrMap{Map: labelValues}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc)
	if one {
		return v
	}
	all := dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}}
	return v.Multi(true).IncludeAll(true).AllValue(".*").Current(dashboard.VariableOption{Selected: new(true), Text: all, Value: all})
}
