package dashboard

// OverviewUID is the UID of the overview, for tests.
const OverviewUID = overviewUID
