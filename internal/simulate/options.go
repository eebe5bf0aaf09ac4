package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"synthetic/internal/simulate/cluster"
)

// Options describe how a deployment behaves. The zero value is a healthy, fast deployment. Fields that are zero take the default in their comment.
type Options struct {
	// Model is the name of the model; default "simulated-chat".
	Model string
	// Seed seeds texts, lengths, delays and faults. The same seed and sequence of requests give the
	// same draws.
	Seed uint64

	// FirstToken is the time until the first token, without prefill; default median 120 ms.
	FirstToken Delay
	// Prefill is added to it per uncached prompt token.
	Prefill time.Duration
	// InterToken is the time between two token events; default median 20 ms.
	InterToken Delay
	// TokensPerEvent is the mean number of tokens per event, as with speculative decoding; at least
	// and by default 1.
	TokensPerEvent float64

	// Cluster, if set, replaces the four fields above. Requests then share queue, batch and cache.
	// Headers are sent with the first token, so that a refusal has its own status.
	Cluster *cluster.Config
	// Speed is the speed of the cluster relative to the clock; default 1. Metrics show the time of
	// the cluster. If the machine cannot compute that fast, the cluster falls behind; the limit is
	// some hundreds for a busy cluster.
	Speed float64
	// Load is what other clients ask of the cluster.
	Load      Load
	Incidents []Incident

	// Answer is the length of an answer in tokens before the limits of the request; default median
	// 120. FirstAnswer, if its median is set, is the length of answers to the first message of a
	// conversation.
	Answer, FirstAnswer Length
	// Reasoning is the share of an answer, from 0 to 1, that is reasoning before the content.
	Reasoning float64
	// MaxModelLen limits the tokens of prompt plus answer; default 131072.
	MaxModelLen int
}

// Delay is a log-normal duration. Sigma 0 means no spread.
type Delay struct {
	Median time.Duration
	Sigma  float64
}

// Length is a log-normal number of tokens. Sigma 0 means no spread.
type Length struct {
	Median int
	Sigma  float64
}

func (o Options) withDefaults() Options {
	o.Model = cmp.Or(o.Model, "simulated-chat")
	o.FirstToken.Median = cmp.Or(o.FirstToken.Median, 120*time.Millisecond)
	o.InterToken.Median = cmp.Or(o.InterToken.Median, 20*time.Millisecond)
	o.TokensPerEvent = max(o.TokensPerEvent, 1)
	o.Answer.Median = cmp.Or(o.Answer.Median, 120)
	o.MaxModelLen = cmp.Or(o.MaxModelLen, 131072)
	o.Speed = cmp.Or(o.Speed, 1)
	return o
}

func (d Delay) draw(r *rand.Rand) time.Duration {
	return time.Duration(float64(d.Median) * math.Exp(d.Sigma*r.NormFloat64()))
}

// Draw returns a random length, at least 1.
func (l Length) Draw(r *rand.Rand) int {
	return max(1, int(math.Round(float64(l.Median)*math.Exp(l.Sigma*r.NormFloat64()))))
}

// Preset returns the options of a measured deployment. Its answers have the lengths that the reports
// imply: the answers of chats lean against their limit of 1,024 tokens, except for the first answer of
// a conversation. docs/background/simulation.md has the derivation.
func Preset(name string) (Options, error) {
	config, err := cluster.Preset(name)
	if err != nil {
		return Options{}, err
	}
	o := Options{Cluster: &config}
	switch name {
	case "bench-phase0":
		o.Answer = Length{Median: 495, Sigma: 0.25}
	case "bench-eagle3":
		o.Answer = Length{Median: 845, Sigma: 0.15}
	default:
		o.Answer, o.FirstAnswer = Length{Median: 950, Sigma: 0.15}, Length{Median: 545, Sigma: 0.23}
	}
	return o, nil
}

// Validate returns all mistakes in the incidents.
func (o Options) Validate() error {
	var errs []error
	workers := 0
	if o.Cluster != nil {
		workers = o.Cluster.Workers
	}
	for i, incident := range o.Incidents {
		if err := incident.validate(workers); err != nil {
			errs = append(errs, fmt.Errorf("incident %d (%s): %w", i+1, incident.Kind, err))
		}
	}
	return errors.Join(errs...)
}
