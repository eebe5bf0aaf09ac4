package worlds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Model is how a deployment behaves while nothing is wrong with it, and how it
// is probed. Sizes on the log scale are natural logarithms. The tags are also
// those of a scenario file, which package yamlform reads.
type Model struct {
	Name string `json:"name" required:"true" examples:"busy"`
	// Like is the named model that this one is a change of; "" for a named one.
	Like string `json:"like,omitempty" default:"quiet"`
	// ConversationsPerMinute start at random (Poisson), each with TurnsMin to
	// TurnsMax turns.
	ConversationsPerMinute float64 `json:"conversations_per_minute" above:"0" max:"600" examples:"12"`
	TurnsMin               int     `json:"turns_min" min:"1" max:"100" examples:"3"`
	TurnsMax               int     `json:"turns_max" min:"1" max:"100" examples:"5"`
	// FirstTTFT and FollowupTTFT are the medians of the time to first token.
	FirstTTFT    time.Duration `json:"first_ttft" min:"1ms" max:"1m" examples:"250ms"`
	FollowupTTFT time.Duration `json:"followup_ttft" min:"1ms" max:"1m" examples:"150ms"`
	// TPOT is the median time per output token of answers of Output tokens.
	TPOT   time.Duration `json:"tpot" min:"1ms" max:"1s" examples:"20ms"`
	Output int           `json:"output_tokens" min:"2" max:"10000" examples:"48"`
	// FirstToken is the prober's deadline for the first token.
	FirstToken time.Duration `json:"first_token_timeout" min:"1s" max:"2m" examples:"30s"`
	// TTFTObjective is what 99 % of turns are to be within.
	TTFTObjective time.Duration `json:"ttft_objective" min:"1ms" max:"1m" examples:"1s"`

	// Sigma is the standard deviation of the logarithm of single turns' TTFT,
	// PaceSigma that of their TPOT.
	Sigma     float64 `json:"sigma" min:"0" max:"3" examples:"0.3"`
	PaceSigma float64 `json:"pace_sigma" min:"0" max:"3" examples:"0.1"`
	// LevelSD is the standard deviation of the 30-minute mean of the log level,
	// which wanders (Ornstein-Uhlenbeck) with a time constant of LevelTime.
	LevelSD   float64       `json:"level_sd" min:"0" max:"1" examples:"0.054"`
	LevelTime time.Duration `json:"level_time" min:"1m" max:"7d" examples:"1h"`
	// Daily and Weekly are the amplitudes of the seasons on the log scale.
	Daily  float64 `json:"daily" min:"0" max:"3" examples:"0.25"`
	Weekly float64 `json:"weekly" min:"0" max:"3" examples:"0.03"`
	// Bursts come BurstsPerDay times at random, last BurstLength on average
	// (exponential, at most twice that) and raise the log level by a
	// uniform amount between BurstMin and BurstMax.
	BurstsPerDay float64       `json:"bursts_per_day" min:"0" max:"1000" examples:"4"`
	BurstLength  time.Duration `json:"burst_length" min:"1s" max:"1d" examples:"90s"`
	BurstMin     float64       `json:"burst_min" min:"0" max:"5" examples:"0.2"`
	BurstMax     float64       `json:"burst_max" min:"0" max:"5" examples:"0.55"`
	// Outliers is the share of turns that take OutlierMin to OutlierMax times as
	// long (log-uniform).
	Outliers   float64 `json:"outliers" min:"0" max:"1" examples:"0.003"`
	OutlierMin float64 `json:"outlier_min" min:"1" max:"1000" examples:"3"`
	OutlierMax float64 `json:"outlier_max" min:"1" max:"1000" examples:"10"`
	// Failures is the share of turns that fail at random.
	Failures float64 `json:"failures" min:"0" max:"1" examples:"0.0003"`
	// ShiftsPerMonth deployments per 30 days move the level for good, by a
	// normal amount of standard deviation ShiftSD.
	ShiftsPerMonth float64 `json:"shifts_per_month" min:"0" max:"1000" examples:"4"`
	ShiftSD        float64 `json:"shift_sd" min:"0" max:"3" examples:"0.05"`

	// nature is what a named model has beside, and what is like it.
	nature nature
}

// turnTimeout is the simulated prober's deadline for a whole turn.
const turnTimeout = 2 * time.Minute

// moves are those of the parameters.
func (m Model) moves() []move {
	var out []move
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

// levelSD is the standard deviation of a level whose 30-minute means have LevelSD:
// averaging takes away what is quicker.
func (m Model) levelSD() float64 {
	r := (30 * time.Minute).Seconds() / m.LevelTime.Seconds()
	return m.LevelSD / math.Sqrt(2*(r-1+math.Exp(-r))/(r*r))
}

// HeldOut says that no constant of the detection was chosen on the model.
func (m Model) HeldOut() bool { return m.nature.heldOut }

// ModelNamed finds one of Models, or of own ones.
func ModelNamed(name string, own ...Model) (Model, error) {
	var names []string
	for _, m := range append(Models(), own...) {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("unknown model %q; choose one of %q", name, names)
}
