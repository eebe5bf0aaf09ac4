package dashboard

import (
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"synthetic/internal/sidecar/metrics"
)

// datasourceVariable picks the Prometheus that scrapes synthetic.
func datasourceVariable() (dashboard.VariableModel, error) {
	return dashboard.NewDatasourceVariableBuilder(varDatasource).
		Label("Data source").
		Description("The Prometheus that scrapes synthetic.").
		Type("prometheus").
		Build()
}

// resolutionVariable is the min interval of every panel. A quantile's window
// is four times that.
func resolutionVariable(initial string) (dashboard.VariableModel, error) {
	selected := dashboard.StringOrArrayOfString{String: &initial}
	return dashboard.NewCustomVariableBuilder(varResolution).
		Label("Resolution").
		Description("Smallest step of every panel. Rates and quantiles look back over four of them, so a slow probe needs a coarse one.").
		Values(text(strings.Join(resolutions(), ","))).
		Options(resolutionOptions(initial)).
		Current(dashboard.VariableOption{Selected: new(true), Text: selected, Value: selected}).
		Build()
}

func resolutionOptions(initial string) []dashboard.VariableOption {
	var out []dashboard.VariableOption
	for _, r := range resolutions() {
		value := dashboard.StringOrArrayOfString{String: &r}
		out = append(out, dashboard.VariableOption{Selected: new(r == initial), Text: value, Value: value})
	}
	return out
}

// labelValues is the kind of variable query that Grafana's editor shows as
// "Label values".
const labelValues = 1

// labelVariable picks any number of a label's values; matchers restrict them
// by the variables before it.
func labelVariable(name, label, about, metric, matchers string) (dashboard.VariableModel, error) {
	query := fmt.Sprintf("label_values(%s%s, %s)", metric, matchers, name)
	all := dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}}
	return dashboard.NewQueryVariableBuilder(name).
		Label(label).
		Description(about).
		Datasource(datasource()).
		Query(dashboard.StringOrMap{Map: map[string]any{
			"qryType": labelValues, "query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery",
		}}).
		Definition(query).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Sort(dashboard.VariableSortAlphabeticalAsc).
		Multi(true).
		IncludeAll(true).
		// Series without the label, as of a prober that was just started, are
		// in All too.
		AllValue(".*").
		Current(dashboard.VariableOption{
			Selected: new(true),
			Text:     dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
			Value:    all,
		}).
		Build()
}

func targetVariable() (dashboard.VariableModel, error) {
	return labelVariable(varTarget, "Target", "Deployments that are probed.", metrics.SchedulerHeartbeat, "")
}

func workloadVariable() (dashboard.VariableModel, error) {
	return labelVariable(varWorkload, "Workload", "Kinds of conversation.", metrics.SchedulerHeartbeat,
		"{"+jobScope()[0].String()+"}")
}

func instanceVariable() (dashboard.VariableModel, error) {
	return labelVariable(varInstance, "Prober", "Processes that probe.", metrics.BuildInfo, "")
}

// variables lists a dashboard's variables in the order of the bar.
func variables(resolution string, withInstance bool) ([]dashboard.VariableModel, error) {
	builds := []func() (dashboard.VariableModel, error){
		datasourceVariable, targetVariable, workloadVariable,
	}
	if withInstance {
		builds = append(builds, instanceVariable)
	}
	builds = append(builds, func() (dashboard.VariableModel, error) { return resolutionVariable(resolution) })

	var out []dashboard.VariableModel
	for _, build := range builds {
		v, err := build()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func text(s string) dashboard.StringOrMap { return dashboard.StringOrMap{String: &s} }

// made wraps what is built already as a builder, which the SDK wants.
type made[T any] struct{ v T }

func (m made[T]) Build() (T, error) { return m.v, nil }

func links(ready []dashboard.DashboardLink) []cog.Builder[dashboard.DashboardLink] {
	out := make([]cog.Builder[dashboard.DashboardLink], len(ready))
	for i, l := range ready {
		out[i] = made[dashboard.DashboardLink]{l}
	}
	return out
}
