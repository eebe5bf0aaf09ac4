package workload

// Process names how conversation starts are spread over time.
type Process string

const (
	// Constant starts at equal intervals.
	Constant Process = "constant"
	// Poisson draws exponential intervals.
	Poisson Process = "poisson"
	// Gamma draws gamma intervals of shape Burstiness: 1 is Poisson, below 1
	// is burstier, above 1 more regular.
	Gamma Process = "gamma"
	// Closed keeps Concurrency conversations in flight.
	Closed Process = "closed"
)

// Arrival is an arrival process. Package yamlform reads its tags.
type Arrival struct {
	Process Process `yaml:"process" default:"poisson" enum:"poisson,constant,gamma,closed"`
	// Rate is in conversations per second; 0 for Closed. Its default is chosen in
	// docs/background/adaptive.md.
	Rate float64 `yaml:"rate" default:"0.033" above:"0" max:"10000"`
	// Burstiness is the gamma shape; 0 means 1.
	Burstiness float64 `yaml:"burstiness" default:"1" above:"0" max:"1000"`
	// Concurrency is the wanted number in flight for Closed.
	Concurrency int `yaml:"concurrency" min:"1" max:"100000" examples:"4"`
}

// Traffic is one workload sent to one target.
type Traffic struct {
	Arrival
	// MaxConcurrency caps conversations in flight; a start over it is skipped
	// and counted. 0 is no cap.
	MaxConcurrency int
	// TokensPerMinute is the budget of prompt plus output tokens; a start over
	// it is skipped and counted. 0 is no budget.
	TokensPerMinute int
	// TokensPerDay is the same for a day.
	TokensPerDay int
	// Adaptive is what happens at the first sign of a fault; the zero value is
	// nothing.
	Adaptive Adaptive
}
