package backtest

import (
	"fmt"
	"time"
)

// Model is how a deployment behaves while nothing is wrong with it, and how it
// is probed. Sizes on the log scale are natural logarithms.
type Model struct {
	Name string `json:"name"`
	// Like is the named model that this one is a change of; "" for a named one.
	Like string `json:"like,omitempty"`
	// ConversationsPerMinute start at random (Poisson), each with TurnsMin to
	// TurnsMax turns.
	ConversationsPerMinute float64 `json:"conversations_per_minute"`
	TurnsMin               int     `json:"turns_min"`
	TurnsMax               int     `json:"turns_max"`
	// FirstTTFT and FollowupTTFT are the medians of the time to first token.
	FirstTTFT    time.Duration `json:"first_ttft"`
	FollowupTTFT time.Duration `json:"followup_ttft"`
	// TPOT is the median time per output token of answers of Output tokens.
	TPOT   time.Duration `json:"tpot"`
	Output int           `json:"output_tokens"`
	// FirstToken is the prober's deadline for the first token.
	FirstToken time.Duration `json:"first_token_timeout"`

	// Sigma is the standard deviation of the logarithm of single turns' TTFT,
	// PaceSigma that of their TPOT.
	Sigma     float64 `json:"sigma"`
	PaceSigma float64 `json:"pace_sigma"`
	// LevelSD is the standard deviation of the 30-minute mean of the log level,
	// which wanders (Ornstein-Uhlenbeck) with a time constant of LevelTime.
	LevelSD   float64       `json:"level_sd"`
	LevelTime time.Duration `json:"level_time"`
	// Daily and Weekly are the amplitudes of the seasons on the log scale.
	Daily  float64 `json:"daily"`
	Weekly float64 `json:"weekly"`
	// Bursts come BurstsPerDay times at random, last BurstLength on average
	// (exponential, at most twice that) and raise the log level by a
	// uniform amount between BurstMin and BurstMax.
	BurstsPerDay float64       `json:"bursts_per_day"`
	BurstLength  time.Duration `json:"burst_length"`
	BurstMin     float64       `json:"burst_min"`
	BurstMax     float64       `json:"burst_max"`
	// Outliers is the share of turns that take OutlierMin to OutlierMax times as
	// long (log-uniform).
	Outliers   float64 `json:"outliers"`
	OutlierMin float64 `json:"outlier_min"`
	OutlierMax float64 `json:"outlier_max"`
	// Failures is the share of turns that fail at random.
	Failures float64 `json:"failures"`
	// ShiftsPerMonth deployments per 30 days move the level for good, by a
	// normal amount of standard deviation ShiftSD.
	ShiftsPerMonth float64 `json:"shifts_per_month"`
	ShiftSD        float64 `json:"shift_sd"`
}

// TurnTimeout is the simulated prober's deadline for a whole turn.
const TurnTimeout = 2 * time.Minute

// Quiet is a deployment with little noise.
func Quiet() Model {
	return Model{
		Name: "quiet", ConversationsPerMinute: 12, TurnsMin: 3, TurnsMax: 5,
		FirstTTFT: 250 * time.Millisecond, FollowupTTFT: 150 * time.Millisecond,
		TPOT: 20 * time.Millisecond, Output: 48, FirstToken: 30 * time.Second,
		Sigma: 0.3, PaceSigma: 0.1, LevelSD: 0.054, LevelTime: time.Hour,
		BurstsPerDay: 4, BurstLength: 90 * time.Second, BurstMin: 0.2, BurstMax: 0.55,
		Outliers: 0.003, OutlierMin: 3, OutlierMax: 10, Failures: 0.0003,
	}
}

// Typical is a deployment with the noise that most have.
func Typical() Model {
	m := Quiet()
	m.Name, m.Sigma, m.PaceSigma, m.LevelSD = "typical", 0.5, 0.15, 0.084
	return m
}

// Models are the named models: quiet and typical; the same with a conversation
// a minute; and quiet ones with seasons and with deployments.
func Models() []Model {
	slow := func(m Model) Model {
		m.Name, m.ConversationsPerMinute = m.Name+"-1/min", 1
		return m
	}
	seasonal := Quiet()
	seasonal.Name, seasonal.Daily, seasonal.Weekly = "seasonal", 0.25, 0.03
	shifting := Quiet()
	shifting.Name, shifting.ShiftsPerMonth, shifting.ShiftSD = "shifting", 4, 0.05
	return []Model{Quiet(), Typical(), slow(Quiet()), slow(Typical()), seasonal, shifting}
}

// ModelNamed finds one of Models, or of own ones.
func ModelNamed(name string, own ...Model) (Model, error) {
	var names []string
	for _, m := range append(Models(), own...) {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("there is no noise model %q: take one of %q", name, names)
}
