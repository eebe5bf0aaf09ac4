package dashboard

// UIDs of the dashboards: part of every link to them, so they never change.
const (
	OverviewUID = "synthetic-slo-overview"
	TargetUID   = "synthetic-target-detail"
	HealthUID   = "synthetic-prober-health"
)

// tag marks our dashboards; the links between them select by it.
const tag = "synthetic"

// Names of the dashboards' variables.
const (
	varDatasource = "datasource"
	varTarget     = "target"
	varWorkload   = "workload"
	varInstance   = "instance"
	varResolution = "resolution"
)

// Labels that Prometheus adds when it scrapes.
const (
	labelJob      = "job"
	labelInstance = "instance"
	labelLE       = "le"
)

// Series that synthetic exports through the Go and process collectors, which
// the catalog leaves out.
const (
	processCPU    = "process_cpu_seconds_total"
	processMemory = "process_resident_memory_bytes"
	processFDs    = "process_open_fds"
	processStart  = "process_start_time_seconds"
	goGoroutines  = "go_goroutines"
	goHeap        = "go_memstats_heap_inuse_bytes"
)

// activeAlerts are our alerts that are pending or firing, as Prometheus's rule
// manager writes them.
const (
	activeAlerts = `ALERTS{alertname=~"Synthetic.*"}`
	firingAlerts = `ALERTS{alertname=~"Synthetic.*",alertstate="firing"}`
)
