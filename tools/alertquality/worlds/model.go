package worlds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Model describes a healthy deployment and how it is probed. Logarithms are natural. The tags
// define its form in a scenario file.
type Model struct {
	Name string `json:"name" required:"true" examples:"busy"`
	// Like is the built-in model that this model changes; "" for a built-in model.
	Like string `json:"like,omitempty" default:"quiet"`
	// Conversations start at random (Poisson), and have TurnsMin to TurnsMax turns.
	ConversationsPerMinute float64 `json:"conversations_per_minute" above:"0" max:"600" examples:"12"`
	TurnsMin               int     `json:"turns_min" min:"1" max:"100" examples:"3"`
	TurnsMax               int     `json:"turns_max" min:"1" max:"100" examples:"5"`
	// FirstTTFT and FollowupTTFT are medians.
	FirstTTFT    time.Duration `json:"first_ttft" min:"1ms" max:"1m" examples:"250ms"`
	FollowupTTFT time.Duration `json:"followup_ttft" min:"1ms" max:"1m" examples:"150ms"`
	// TPOT is a median. Answers have Output tokens.
	TPOT   time.Duration `json:"tpot" min:"1ms" max:"1s" examples:"20ms"`
	Output int           `json:"output_tokens" min:"2" max:"10000" examples:"48"`
	// FirstToken is the prober's timeout for the first token.
	FirstToken time.Duration `json:"first_token_timeout" min:"1s" max:"2m" examples:"30s"`
	// TTFTObjective is the threshold for 99 % of turns.
	TTFTObjective time.Duration `json:"ttft_objective" min:"1ms" max:"1m" examples:"1s"`

	// Sigma and PaceSigma are the standard deviations of the logarithms of TTFT and TPOT of
	// single turns.
	Sigma     float64 `json:"sigma" min:"0" max:"3" examples:"0.3"`
	PaceSigma float64 `json:"pace_sigma" min:"0" max:"3" examples:"0.1"`
	// LevelSD is the standard deviation of 30-minute means of the log level. The level is an
	// Ornstein-Uhlenbeck process with time constant LevelTime.
	LevelSD   float64       `json:"level_sd" min:"0" max:"1" examples:"0.054"`
	LevelTime time.Duration `json:"level_time" min:"1m" max:"7d" examples:"1h"`
	// Daily and Weekly are the amplitudes of the seasons, as logarithms.
	Daily  float64 `json:"daily" min:"0" max:"3" examples:"0.25"`
	Weekly float64 `json:"weekly" min:"0" max:"3" examples:"0.03"`
	// BurstsPerDay bursts start at random, last BurstLength on average (exponential, at most
	// twice the mean), and raise the log level by BurstMin to BurstMax.
	BurstsPerDay float64       `json:"bursts_per_day" min:"0" max:"1000" examples:"4"`
	BurstLength  time.Duration `json:"burst_length" min:"1s" max:"1d" examples:"90s"`
	BurstMin     float64       `json:"burst_min" min:"0" max:"5" examples:"0.2"`
	BurstMax     float64       `json:"burst_max" min:"0" max:"5" examples:"0.55"`
	// Outliers is the share of turns that take OutlierMin to OutlierMax times as long
	// (log-uniform).
	Outliers   float64 `json:"outliers" min:"0" max:"1" examples:"0.003"`
	OutlierMin float64 `json:"outlier_min" min:"1" max:"1000" examples:"3"`
	OutlierMax float64 `json:"outlier_max" min:"1" max:"1000" examples:"10"`
	// Failures is the share of turns that fail.
	Failures float64 `json:"failures" min:"0" max:"1" examples:"0.0003"`
	// ShiftsPerMonth is the number of deployments in 30 days that change the level permanently,
	// by a normal amount with standard deviation ShiftSD.
	ShiftsPerMonth float64 `json:"shifts_per_month" min:"0" max:"1000" examples:"4"`
	ShiftSD        float64 `json:"shift_sd" min:"0" max:"3" examples:"0.05"`

	// builtin holds the properties without a key in scenario files.
	builtin builtin
}

// turnTimeout is the simulated prober's timeout for a whole turn.
const turnTimeout = 2 * time.Minute

// effects returns the effects that the parameters define.
func (m Model) effects() []effect {
	var out []effect
	if m.LevelSD > 0 {
		out = append(out, wander(m.levelSD(), m.LevelTime, normal))
	}
	if m.Daily > 0 || m.Weekly > 0 {
		out = append(out, seasons(m.Daily, m.Weekly))
	}
	if m.BurstsPerDay > 0 {
		out = append(out, bursts(m.BurstsPerDay, func(rng *rand.Rand) time.Duration {
			return time.Duration(min(rng.ExpFloat64(), 2) * float64(m.BurstLength))
		}, func(rng *rand.Rand) float64 { return uniform(rng, m.BurstMin, m.BurstMax) }))
	}
	if m.ShiftsPerMonth > 0 {
		out = append(out, shifts(func(rng *rand.Rand) time.Duration {
			return time.Duration(rng.ExpFloat64() / m.ShiftsPerMonth * float64(30*day))
		}, func(_ float64, rng *rand.Rand) float64 { return m.ShiftSD * rng.NormFloat64() }))
	}
	return out
}

// levelSD returns the standard deviation of a level whose 30-minute means have the deviation
// LevelSD. It is larger, because means hide quick changes.
func (m Model) levelSD() float64 {
	r := (30 * time.Minute).Seconds() / m.LevelTime.Seconds()
	return m.LevelSD / math.Sqrt(2*(r-1+math.Exp(-r))/(r*r))
}

// ModelNamed finds a model.
func ModelNamed(name string) (Model, error) {
	var names []string
	for _, m := range Models() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("unknown model %q; choose one of %q", name, names)
}
