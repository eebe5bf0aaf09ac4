package dashboard

import (
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"synthetic/internal/sidecar/metrics"
)

// variables returns the variables of a dashboard, in the order of the bar.
func (b board) variables(resolution string) []dashboard.VariableModel {
	source := variable(varDatasource, "Data source", "The Prometheus that scrapes synthetic.")
	source.Type = dashboard.VariableTypeDatasource
	source.Query = &dashboard.StringOrMap{String: new("prometheus")}
	if b.Study {
		variant := labelVariable(varVariant, "Variant", "Deployments that are compared.", metrics.StudyPhase)
		return []dashboard.VariableModel{source, variant, resolutionVariable(resolution)}
	}
	out := []dashboard.VariableModel{
		source,
		labelVariable(varTarget, "Target", "Deployments that are probed.", metrics.SchedulerHeartbeat),
		labelVariable(varWorkload, "Workload", "Kinds of conversation.", scoped(metrics.SchedulerHeartbeat, b.OneJob, []string{varTarget})),
	}
	if b.OneJob {
		out[1], out[2] = single(out[1]), single(out[2])
	}
	if b.PerProber {
		out = append(out, labelVariable(varInstance, "Prober", "Processes that probe.", metrics.BuildInfo))
	}
	return append(out, resolutionVariable(resolution))
}

func variable(name, label, description string) dashboard.VariableModel {
	v := *dashboard.NewVariableModel()
	v.Name, v.Label, v.Description = name, &label, &description
	return v
}

// labelVariable selects any number of values of a label on the series of a selector.
func labelVariable(name, label, description, selector string) dashboard.VariableModel {
	v := variable(name, label, description)
	v.Type, v.Datasource = dashboard.VariableTypeQuery, new(datasource())
	v.Definition = new(fmt.Sprintf("label_values(%s, %s)", selector, name))
	v.Query = &dashboard.StringOrMap{Map: map[string]any{
		"qryType": 1, // what Grafana's editor shows as "Label values"
		"query":   *v.Definition, "refId": "PrometheusVariableQueryEditor-VariableQuery",
	}}
	v.Refresh, v.Sort = new(dashboard.VariableRefreshOnTimeRangeChanged), new(dashboard.VariableSortAlphabeticalAsc)
	// All includes series without the label, for example of a prober that has just started.
	v.Multi, v.IncludeAll, v.AllValue = new(true), new(true), new(".*")
	v.Current = &dashboard.VariableOption{
		Selected: new(true),
		Text:     dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
		Value:    dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
	}
	return v
}

// single limits a variable to one value, the first by default.
func single(v dashboard.VariableModel) dashboard.VariableModel {
	v.Multi, v.IncludeAll, v.AllValue, v.Current = new(false), new(false), nil, nil
	return v
}

// resolutionVariable is the min interval of every panel. The window of a quantile is four times
// that.
func resolutionVariable(initial string) dashboard.VariableModel {
	v := variable(varResolution, "Resolution",
		"Smallest step of every panel. Rates and quantiles look back over four of them, so a slow probe needs a coarse one.")
	v.Type = dashboard.VariableTypeCustom
	v.Query = &dashboard.StringOrMap{String: new(strings.Join(resolutions(), ","))}
	for _, r := range resolutions() {
		value := dashboard.StringOrArrayOfString{String: &r}
		option := dashboard.VariableOption{Selected: new(r == initial), Text: value, Value: value}
		v.Options = append(v.Options, option)
		if r == initial {
			v.Current = &option
		}
	}
	return v
}
