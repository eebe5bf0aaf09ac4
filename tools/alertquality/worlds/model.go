package worlds

import (
	"math/rand/v2"
	"time"
)

// Model describes a healthy deployment and how it is probed. Logarithms are natural.
type Model struct {
	Name, About string
	// Slowdown is true if the deployment really becomes slower at times that nobody can foresee, so that an operator
	// may well want a page.
	Slowdown bool
	// Conversations start at random (Poisson), and have TurnsMin to TurnsMax turns.
	ConversationsPerMinute float64
	TurnsMin, TurnsMax     int
	// FirstTTFT, FollowupTTFT and TPOT are medians. Answers have Output tokens.
	FirstTTFT, FollowupTTFT, TPOT time.Duration
	Output                        int
	// FirstToken is the prober's timeout for the first token.
	FirstToken time.Duration
	// TTFTObjective is the threshold for 99 % of turns.
	TTFTObjective time.Duration
	// Sigma and PaceSigma are the standard deviations of the logarithms of TTFT and TPOT of single turns.
	Sigma, PaceSigma float64
	// Outliers is the share of turns that take OutlierMin to OutlierMax times as long.
	Outliers, OutlierMin, OutlierMax float64
	// Failures is the share of turns that fail.
	Failures float64

	effects []effect
	// body draws the deviation of a single turn in multiples of Sigma; nil means a normal distribution.
	body func(*rand.Rand) float64
	// slow draws the natural logarithm of the factor of a slow turn. If misses is set, such a turn missed the prefix
	// cache.
	slow   func(*rand.Rand) float64
	misses bool
	// pace is the part of the level that applies to TPOT; 0 means a third.
	pace float64
	// long is the number of uncached tokens of a long prompt.
	long int
}

// turnTimeout is the simulated prober's timeout for a whole turn.
const turnTimeout = 2 * time.Minute
