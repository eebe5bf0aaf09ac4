package runfile

// Verdict says whether a level met its objectives, as the sweep decided while
// it measured, by what Result.Judged counts.
type Verdict struct {
	// Met says that every objective was met.
	Met bool `json:"met"`
	// Lost names the objectives that were not met.
	Lost []string `json:"lost,omitempty"`
	// Confidence in (0, 1) that every objective is met: the exact one-sided one
	// of the least certain objective, for turns thinned to independent ones.
	Confidence float64 `json:"confidence"`
	// Decided says how: "measured" at the full length of the level, "early"
	// by a sequential test whose chance of error is Error.
	Decided string  `json:"decided"`
	Error   float64 `json:"error,omitempty"`
}

// Values of Verdict.Decided.
const (
	DecidedMeasured = "measured"
	DecidedEarly    = "early"
)

// Capacity is the outcome of a search for the highest level of a variant that
// meets the objectives.
type Capacity struct {
	Variant string `json:"variant"`
	// Level is null when not even the lowest level met them.
	Level *float64 `json:"level"`
	// Confidence that Level meets them, and the one that was asked for.
	Confidence float64 `json:"confidence"`
	Wanted     float64 `json:"wanted"`
	// Visited levels in the order of the visits.
	Visited []float64 `json:"visited"`
	// MeasuredSeconds are the measured times of the visits, GridSeconds what
	// all levels would have taken as planned; null when that ends by number.
	MeasuredSeconds float64  `json:"measured_seconds"`
	GridSeconds     *float64 `json:"grid_seconds"`
}
