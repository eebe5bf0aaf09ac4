package workload

// Process is how conversation starts are distributed over time.
type Process string

const (
	// Constant has equal intervals.
	Constant Process = "constant"
	// Poisson has exponentially distributed intervals.
	Poisson Process = "poisson"
	// Gamma has gamma distributed intervals with the shape Burstiness: 1 is Poisson, below 1 is
	// burstier, above 1 more regular.
	Gamma Process = "gamma"
	// Closed keeps Concurrency conversations in flight.
	Closed Process = "closed"
)

// Arrival configures a process. Package yamlform reads the tags.
type Arrival struct {
	Process Process `yaml:"process" default:"poisson" enum:"poisson,constant,gamma,closed"`
	// Rate is in conversations per second; Closed has none. docs/background/adaptive.md
	// explains the default.
	Rate float64 `yaml:"rate" default:"0.033" above:"0" max:"10000"`
	// Burstiness is the gamma shape. 0 means 1.
	Burstiness float64 `yaml:"burstiness" default:"1" above:"0" max:"1000"`
	// Concurrency is the number of conversations in flight for Closed.
	Concurrency int `yaml:"concurrency" min:"1" max:"100000" examples:"4"`
}

// Traffic says when and how often one workload is sent to one target.
type Traffic struct {
	Arrival
	// MaxConcurrency caps the conversations in flight. Starts above it are skipped and counted.
	// 0 means no cap.
	MaxConcurrency int
	// TokensPerMinute and TokensPerDay are budgets of prompt and output tokens. Starts above
	// them are skipped and counted. 0 means no budget.
	TokensPerMinute int
	TokensPerDay    int
	// Adaptive configures bursts. The zero value means none.
	Adaptive Adaptive
}
