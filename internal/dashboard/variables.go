package dashboard

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/metrics"
)

func (b board) variables(resolution string) []dashboard.VariableModel {
	source := variable(varDatasource, "Data source", "The Prometheus that scrapes synthetic.")
	source.Type = dashboard.VariableTypeDatasource
	source.Query = &dashboard.StringOrMap{String: new("prometheus")}
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

// samplesPerWindow is the number of conversation starts that a window should contain. With 20,
// the p95 is the second largest value; with fewer, a quantile says little.
const samplesPerWindow = 20

// stepsPerWindow is Grafana's ratio of $__rate_interval to the min step.
const stepsPerWindow = 4

// resolutions returns the values that a dashboard offers for the smallest step of its panels.
func resolutions() []string { return []string{"1m", "5m", "15m", "1h"} }

// resolution returns the finest step whose window contains enough samples of the slowest traffic.
// Closed-loop traffic has no known rate and is ignored.
func resolution(traffic []workload.Traffic) string {
	slowest := math.Inf(1)
	for _, t := range traffic {
		if t.Rate > 0 {
			slowest = min(slowest, t.Rate)
		}
	}
	choices := resolutions()
	for _, r := range choices {
		if step, _ := time.ParseDuration(r); stepsPerWindow*step.Seconds() >= samplesPerWindow/slowest {
			return r
		}
	}
	return choices[len(choices)-1]
}
