package dashboard

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// siblings links to every dashboard with our tag and takes the time range and
// the variables along.
func siblings() dashboard.DashboardLink {
	return dashboard.DashboardLink{
		Title:       "Synthetic",
		Type:        dashboard.DashboardLinkTypeDashboards,
		Icon:        "external link",
		Tooltip:     "The other dashboards, with the same time range and selection",
		Tags:        []string{tag},
		IncludeVars: true,
		KeepTime:    true,
	}
}

// toTarget leads from a series with a target label to that target's detail.
func toTarget() []dashboard.DashboardLink {
	url := fmt.Sprintf("/d/%s?${__url_time_range}&${%s:queryparam}&var-%s=${__field.labels.%s}",
		TargetUID, varDatasource, varTarget, varTarget)
	return []dashboard.DashboardLink{{
		Title: "Detail of ${__field.labels." + varTarget + "}",
		Type:  dashboard.DashboardLinkTypeLink,
		Tags:  []string{},
		Url:   &url,
	}}
}

// alertAnnotation marks the times at which one of our alerts fired.
func alertAnnotation() *dashboard.AnnotationQueryBuilder {
	return dashboard.NewAnnotationQueryBuilder().
		Name("Alerts").
		Datasource(datasource()).
		Enable(true).
		IconColor(red).
		Expr(firingAlerts).
		Step("1m").
		TitleFormat("{{alertname}}").
		TextFormat("{{slo}} {{target}} {{workload}}").
		Target(prometheus.NewDataqueryBuilder().RefId("Anno").Expr(firingAlerts).Range())
}
