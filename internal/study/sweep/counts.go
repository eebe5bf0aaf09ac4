package sweep

// Counts summarises the turns of a measurement so far.
type Counts struct {
	Turns, Failed uint64 // ended turns, and the failed ones among them
	InFlight      int
	OutputTokens  uint64
}
