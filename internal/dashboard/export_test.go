package dashboard

// UIDs of dashboards, for tests.
const (
	OverviewUID = overviewUID
	FleetUID    = fleetUID
)
