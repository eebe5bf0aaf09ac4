package runfile

// Standing is what a measurement proves of a level, with the confidence that
// the plan asks for.
type Standing string

// Values of Standing.
const (
	// Met: every objective is met.
	Met Standing = "met"
	// Missed: at least one objective is not.
	Missed Standing = "missed"
	// Undecided: the level is too near the edge, or was measured too briefly,
	// for either.
	Undecided Standing = "undecided"
)

// Verdict says whether a level met its objectives, as the sweep decided while
// it measured, by what Result.Judged counts.
type Verdict struct {
	// Met says that every objective was met by the turns that were judged,
	// whatever that proves; Standing says what it proves.
	Met      bool     `json:"met"`
	Standing Standing `json:"standing,omitempty"`
	// Lost names the objectives that were not met.
	Lost []string `json:"lost,omitempty"`
	// Confidence in (0, 1) that every objective is met: the exact one-sided one
	// of the least certain objective, for turns thinned to independent ones.
	Confidence float64 `json:"confidence"`
	// Decided says how: "measured" at the full length of the level, "early"
	// by a sequential test whose chance of error is Error or because nothing
	// can be proven any more, "provisional" by that test for a level that a
	// search passed on its way.
	Decided string  `json:"decided"`
	Error   float64 `json:"error,omitempty"`
}

// Values of Verdict.Decided.
const (
	DecidedMeasured    = "measured"
	DecidedEarly       = "early"
	DecidedProvisional = "provisional"
)
