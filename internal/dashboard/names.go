package dashboard

// UIDs of the dashboards: part of every link to them, so they never change.
const (
	OverviewUID = "synthetic-slo-overview"
	TargetUID   = "synthetic-target-detail"
	HealthUID   = "synthetic-prober-health"
)

// tag marks our dashboards; the links between them select by it.
const tag = "synthetic"

// Names of the dashboards' variables. Those that pick by a label are named so.
const (
	varDatasource = "datasource"
	varTarget     = "target"
	varWorkload   = "workload"
	varInstance   = "instance"
	varResolution = "resolution"
)

// firingAlerts are our alerts that fire, as Prometheus's rule manager writes
// them.
const firingAlerts = `ALERTS{alertname=~"Synthetic.*",alertstate="firing"}`
