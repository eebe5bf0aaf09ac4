package worlds

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

type FaultKind string

const (
	// Slow multiplies the time to first token.
	Slow FaultKind = "slow"
	// SlowDecode multiplies the time per output token.
	SlowDecode FaultKind = "slow_decode"
	// Outage refuses turns with HTTP 5xx.
	Outage FaultKind = "outage"
	// Hang lets turns wait until their deadline.
	Hang FaultKind = "hang"
)

// Fault is a fault to inject.
type Fault struct {
	Name string
	Kind FaultKind
	// Size is the factor of Slow and SlowDecode.
	Size float64
	// Share is the share of turns that are hit; 0 means all.
	Share float64
	// Ramp is how long the fault takes to reach its size; 0 means at once.
	Ramp   time.Duration
	Length time.Duration
	// Within is how soon a page must come for the fault to count as found; 0 means Length.
	Within time.Duration
}

// Faults are the faults of a campaign.
func Faults() []Fault {
	return []Fault{
		{Name: "TTFT ×3", Kind: Slow, Size: 3, Length: 30 * time.Minute},
		{Name: "TTFT ×2", Kind: Slow, Size: 2, Length: 30 * time.Minute},
		{Name: "TTFT ×1.5", Kind: Slow, Size: 1.5, Length: 2 * time.Hour},
		{Name: "TTFT ×1.3", Kind: Slow, Size: 1.3, Length: 4 * time.Hour, Within: time.Hour},
		{Name: "TTFT ×4 of 15 % of turns", Kind: Slow, Size: 4, Share: 0.15, Length: time.Hour, Within: 40 * time.Minute},
		{Name: "TPOT ×1.5", Kind: SlowDecode, Size: 1.5, Length: time.Hour},
		{Name: "TTFT ×4 of 50 % of turns", Kind: Slow, Size: 4, Share: 0.5, Length: time.Hour, Within: 40 * time.Minute},
		{Name: "TPOT ×1.3", Kind: SlowDecode, Size: 1.3, Length: 2 * time.Hour, Within: time.Hour},
		{Name: "outage", Kind: Outage, Length: 15 * time.Minute},
		{Name: "hang", Kind: Hang, Length: 15 * time.Minute},
		// No constant of the detection was chosen on the rising faults.
		{Name: "TTFT ×2 rising for 10 min", Kind: Slow, Size: 2, Ramp: 10 * time.Minute, Length: time.Hour},
		{Name: "TTFT ×1.5 rising for 30 min", Kind: Slow, Size: 1.5, Ramp: 30 * time.Minute, Length: 3 * time.Hour},
	}
}

// Injection is one fault at a fixed time.
type Injection struct {
	Fault Fault
	// From and To are counted from the start of the run.
	From, To time.Duration
}

// recovery is the least time between two faults, longer than most windows of a page. Sixty faults fit into 15 days.
const recovery = 2 * time.Hour

// DrawInjections puts n faults at random times into [from, to), in random order, each about equally often.
func DrawInjections(faults []Fault, n int, from, to time.Duration, rng *rand.Rand) ([]Injection, error) {
	var deck []Fault
	for len(deck) < n {
		faults = slices.Clone(faults)
		rng.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		deck = append(deck, faults...)
	}
	deck = deck[:n]
	free := to - from
	for _, f := range deck {
		free -= f.Length + recovery
	}
	if free <= 0 {
		return nil, fmt.Errorf("%d faults need %s more than the %s of a run with faults: take fewer faults or more days", n, -free, to-from)
	}
	var gaps []time.Duration // before each fault, from the beginning on
	for range deck {
		gaps = append(gaps, time.Duration(rng.Int64N(int64(free))))
	}
	slices.Sort(gaps)
	var out []Injection
	for i, f := range deck {
		from += recovery
		out = append(out, Injection{f, from + gaps[i], from + gaps[i] + f.Length})
		from += f.Length
	}
	return out, nil
}

// size returns the factor at a time after the onset.
func (f Fault) size(after time.Duration) float64 {
	if after < f.Ramp {
		return 1 + (f.Size-1)*float64(after)/float64(f.Ramp)
	}
	return f.Size
}

func (f Fault) hits(rng *rand.Rand) bool { return f.Share == 0 || rng.Float64() < f.Share }

// within returns how soon a page must come.
func (f Fault) within() time.Duration {
	return cmp.Or(f.Within, f.Length)
}
