package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
)

// Options say how a deployment behaves. The zero value is a healthy, quick
// deployment without a key; fields left zero take the default named at them.
type Options struct {
	// Model is the model served; default "simulated-chat".
	Model string
	// Models are served beside it, and Adapters (LoRA) on top of it. Each has
	// answers of its own; time and metrics are those of the one deployment.
	Models, Adapters []string
	// APIKey, if set, must come with each request for tokens or models; anything
	// else is answered with 401.
	APIKey string
	// Seed makes texts, lengths, delays and faults repeatable: the same seed
	// and the same sequence of requests give the same draws.
	Seed uint64

	// FirstToken is the time from the request's arrival to its first token,
	// without prefill; default median 120 ms.
	FirstToken Delay
	// Prefill is added to it for each prompt token that is not cached.
	Prefill time.Duration
	// InterToken is the time between two token events; default median 20 ms.
	InterToken Delay
	// TokensPerEvent is how many tokens an event carries on average, as with
	// speculative decoding; default 1, the least possible.
	TokensPerEvent float64
	// Engine replaces the three delays above by another model of time.
	Engine Engine

	// Cluster, if set, answers all requests together, in place of delays,
	// Engine and CacheBlocks: a request's time then depends on the others in
	// flight. Headers come with the first token, so that what the cluster
	// refuses has a status of its own.
	Cluster *cluster.Config
	// Speed is how much faster than the clock a cluster runs; default 1. Its
	// metrics tell its own time. A speed that the machine cannot compute, some
	// hundreds for a busy cluster, makes it fall behind.
	Speed float64
	// Load is what others ask of the cluster.
	Load Load
	// Rollouts replace the cluster by others, one after the other.
	Rollouts []Rollout
	// Incidents are faults with a schedule.
	Incidents []Incident

	// Answer is the length of an answer in tokens, before the request's own
	// limits; default median 120.
	Answer Length
	// Reasoning is the share of an answer, as long as it would like to be, that
	// comes as reasoning before the content; from 0 to 1. A request may ask for
	// half of it (effort low), half as much again (high) or none.
	Reasoning float64
	// ReasoningField is the name of it in a chat; default "reasoning".
	ReasoningField string
	// RefuseMaxTokens answers max_tokens with 400, as OpenAI's reasoning models
	// do: max_completion_tokens has its place.
	RefuseMaxTokens bool
	// MaxModelLen bounds prompt plus answer in tokens; default 131072.
	MaxModelLen int
	// CacheBlocks is the size of the prefix cache in blocks of 16 tokens;
	// default 65536. Negative means no cache.
	CacheBlocks int
}

// Rollout replaces a deployment's cluster by another, whose cache is cold and
// whose counters begin at 0. Requests in flight end on the old one; the load
// moves over.
type Rollout struct {
	// At is when, from the deployment's start.
	At      time.Duration
	Cluster cluster.Config
}

// Delay is a log-normal duration. A Sigma of 0 means no spread.
type Delay struct {
	Median time.Duration
	Sigma  float64
}

// Length is a log-normal number of tokens. A Sigma of 0 means no spread.
type Length struct {
	Median int
	Sigma  float64
}

// withDefaults returns the options as they are used.
func (o Options) withDefaults() Options {
	o.Model = cmp.Or(o.Model, "simulated-chat")
	o.ReasoningField = cmp.Or(o.ReasoningField, "reasoning")
	o.FirstToken.Median = cmp.Or(o.FirstToken.Median, 120*time.Millisecond)
	o.InterToken.Median = cmp.Or(o.InterToken.Median, 20*time.Millisecond)
	o.TokensPerEvent = max(o.TokensPerEvent, 1)
	o.Answer.Median = cmp.Or(o.Answer.Median, 120)
	o.MaxModelLen = cmp.Or(o.MaxModelLen, 131072)
	o.CacheBlocks = cmp.Or(o.CacheBlocks, 65536)
	o.Speed = cmp.Or(o.Speed, 1)
	return o
}

// draw returns one duration.
func (d Delay) draw(r *rand.Rand) time.Duration {
	return time.Duration(float64(d.Median) * math.Exp(d.Sigma*r.NormFloat64()))
}

// draw returns one length, at least 1.
func (l Length) draw(r *rand.Rand) int {
	return max(1, int(math.Round(float64(l.Median)*math.Exp(l.Sigma*r.NormFloat64()))))
}

// Preset returns a deployment that behaves like a measured one. Its answers are
// as long as those that the preset's figures were measured with, as far as they
// tell: those of the chat lean against their limit of 1,024 tokens, those of
// the two open loops differ.
func Preset(name string) (Options, error) {
	config, err := cluster.Preset(name)
	if err != nil {
		return Options{}, err
	}
	answer := Length{Median: 900, Sigma: 0.25}
	switch name {
	case "bench-phase0":
		answer = Length{Median: 517, Sigma: 0.25}
	case "bench-eagle3":
		answer = Length{Median: 880, Sigma: 0.1}
	}
	return Options{Cluster: &config, Answer: answer}, nil
}

// Validate returns what is wrong with the options, nil if nothing is.
func (o Options) Validate() error {
	var errs []error
	if o.Cluster == nil && (len(o.Rollouts) > 0 || o.Load.Concurrency > 0 || o.Speed != 0) {
		errs = append(errs, errors.New("rollouts, load and speed are about a cluster: set one"))
	}
	if o.Speed < 0 || o.Speed > 1e6 {
		errs = append(errs, fmt.Errorf("speed is %v: give a factor above 0, at most 1e6", o.Speed))
	}
	if o.Load.Concurrency < 0 || o.Load.WarmUp < 0 {
		errs = append(errs, fmt.Errorf("load has concurrency %d and warm-up %v: neither may be negative", o.Load.Concurrency, o.Load.WarmUp))
	}
	if names := o.withDefaults().names(); slices.Contains(names, "") || len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names) {
		errs = append(errs, fmt.Errorf("models and adapters are %q: give each a name of its own", names))
	}
	for i, f := range o.Incidents {
		if err := f.validate(o.Cluster != nil); err != nil {
			errs = append(errs, fmt.Errorf("incident %d (%s): %w", i+1, f.Kind, err))
		}
	}
	if o.Cluster == nil {
		return errors.Join(errs...)
	}
	errs = append(errs, o.check(*o.Cluster))
	for i, r := range o.Rollouts {
		if err := o.check(r.Cluster); err != nil {
			errs = append(errs, fmt.Errorf("rollout %d: %w", i+1, err))
		}
		if r.At <= 0 || i > 0 && r.At <= o.Rollouts[i-1].At {
			errs = append(errs, fmt.Errorf("rollout %d comes at %v: give times above 0, in order", i+1, r.At))
		}
	}
	return errors.Join(errs...)
}

// check checks a cluster, with the incidents.
func (o Options) check(c cluster.Config) error {
	c.Faults = slices.Concat(c.Faults, o.clusterFaults(0, 0))
	return c.Validate()
}
