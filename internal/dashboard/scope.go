package dashboard

import (
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

// Names of variables. A variable that selects by a label has the name of the label.
const (
	varDatasource = "datasource"
	varTarget     = metrics.LabelTarget
	varWorkload   = metrics.LabelWorkload
	varInstance   = "instance"
	// varServer selects the scrape job of the servers' own metrics.
	varServer = "server"
)

func source() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${" + varDatasource + "}")}
}

// scope restricts queries to the selection of the variables.
type scope struct {
	variables []string
	// one is true if the variables have a single value. Grafana does not escape regexp characters in
	// such a value, as of the name of a model, so it is matched as text.
	one  bool
	keep []string
}

// placeholders are durations that stand for Grafana's variables while a query is parsed.
func placeholders() []string {
	return []string{"$__rate_interval", "1d1h1m1s", "$__interval", "2d1h1m1s", "$__range", "3d1h1m1s"}
}

// scoped adds the matchers of the variables to each selector, and the kept labels to aggregations and matchings.
func (b *board) scoped(expr string) string {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(strings.NewReplacer(placeholders()...).Replace(expr))
	if err != nil {
		b.err = firstError(b.err, fmt.Errorf("%w in %s", err, expr))
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

// matchers returns a matcher for each variable whose label the series has. An alert may lack a target.
func (s scope) matchers(series string) (out []*labels.Matcher) {
	known := labelsOf(series)
	for _, v := range slices.Concat(s.variables, s.keep) {
		switch {
		case !slices.Contains(known, v) && !(v == varInstance || slices.Contains(s.keep, v)) || known == nil:
		case s.one && !slices.Contains(s.keep, v):
			out = append(out, labels.MustNewMatcher(labels.MatchEqual, v, "$"+v))
		case strings.HasPrefix(series, "ALERTS") && !slices.Contains(s.keep, v):
			out = append(out, labels.MustNewMatcher(labels.MatchRegexp, v, "$"+v+"|"))
		default:
			out = append(out, labels.MustNewMatcher(labels.MatchRegexp, v, "$"+v))
		}
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
		if strings.TrimSuffix(series, "_bucket") == m.Name || strings.TrimSuffix(series, "_sum") == m.Name || strings.TrimSuffix(series, "_count") == m.Name {
			return append([]string{}, m.Labels...)
		}
	}
	return nil
}

// addVariables adds the data source, then the variables of labels, the widest first.
func (b *board) addVariables() {
	b.WithVariable(dashboard.NewDatasourceVariableBuilder(varDatasource).Label("Data source").Type("prometheus").
		Description("The Prometheus that scrapes synthetic."))
	within := ""
	for _, l := range slices.Concat(b.scope.keep, b.scope.variables) {
		series := metrics.SchedulerHeartbeat
		if l == varInstance {
			series = metrics.BuildInfo
		}
		one := b.scope.one && !slices.Contains(b.scope.keep, l)
		b.WithVariable(variable(l, strings.ToUpper(l[:1])+l[1:], l, fmt.Sprintf("%s{%s}", series, within), one))
		if l != varInstance {
			equals := map[bool]string{true: "=", false: "=~"}[one]
			within = strings.TrimPrefix(within+fmt.Sprintf(`,%s%s"$%[1]s"`, l, equals), ",")
		}
	}
	if b.scope.one {
		b.WithVariable(variable(varServer, "Job of the servers", "job", servers, false))
	}
}

// servers matches a gauge that each known server exports.
const servers = `{__name__=~"vllm:num_requests_running|sglang:num_running_reqs|trtllm_num_requests_running"}`

// variable selects values of a label on the series of a selector: any number, or one. All includes series without
// the label, for example of a prober that has just started.
func variable(name, title, label, selector string, one bool) *dashboard.QueryVariableBuilder {
	definition := fmt.Sprintf("label_values(%s, %s)", selector, label)
	v := dashboard.NewQueryVariableBuilder(name).Label(title).Datasource(source()).Definition(definition).
		Query(dashboard.StringOrMap{Map: map[string]any{
			"qryType": 1, // what Grafana's editor shows as "Label values"
			"query":   definition, "refId": "PrometheusVariableQueryEditor-VariableQuery",
		}}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc)
	if one {
		return v
	}
	return v.Multi(true).IncludeAll(true).AllValue(".*").Current(dashboard.VariableOption{
		Selected: new(true),
		Text:     dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
		Value:    dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
	})
}
