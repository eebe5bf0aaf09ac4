package dashboard

// UIDs of the dashboards: part of every link to them, so they never change.
const (
	OverviewUID = "synthetic-slo-overview"
	TargetUID   = "synthetic-target-detail"
	HealthUID   = "synthetic-prober-health"
	FleetUID    = "synthetic-fleet"
	StudyUID    = "synthetic-study"
)

// tag marks our dashboards; the links between them select by it.
const tag = "synthetic"

// Names of the dashboards' variables. Those that pick by a label are named so.
const (
	varDatasource = "datasource"
	varTarget     = "target"
	varWorkload   = "workload"
	varInstance   = "instance"
	varVariant    = "variant"
	varResolution = "resolution"
)
