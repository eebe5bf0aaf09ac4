package slo

import (
	"fmt"
	"strconv"
	"time"

	"synthetic/internal/probe"
)

// Tokens is a class of turns by their uncached prompt tokens. The zero value contains every turn.
type Tokens struct {
	// From is the smallest number of tokens in the class. Below is the smallest number above From that is
	// not in it; 0 means no limit.
	From  int `json:"from,omitempty"`
	Below int `json:"below,omitempty"`
}

func (t Tokens) contains(n int) bool { return n >= t.From && (t.Below == 0 || n < t.Below) }

// String returns the class as the configuration has it: "<4k", "4k-32k", ">=32k"; "" for all turns.
func (t Tokens) String() string {
	switch {
	case t == Tokens{}:
		return ""
	case t.Below == 0:
		return ">=" + formatTokens(t.From)
	case t.From == 0:
		return "<" + formatTokens(t.Below)
	}
	return formatTokens(t.From) + "-" + formatTokens(t.Below)
}

func formatTokens(n int) string {
	if n > 0 && n%1000 == 0 {
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

// Sized reports whether the judgement depends on the uncached prompt tokens of a turn.
func (o Objective) Sized() bool { return o.PerThousand != 0 || o.Uncached != Tokens{} }

// SlopeText returns what follows the threshold in texts: " + 60ms per 1k uncached tokens", or "".
func (o Objective) SlopeText() string {
	if o.PerThousand == 0 {
		return ""
	}
	return fmt.Sprintf(" + %s per 1k uncached tokens", o.PerThousand)
}

// ClassText returns what follows the word turns in texts: " with <4k uncached tokens", or "".
func (o Objective) ClassText() string {
	if o.Uncached == (Tokens{}) {
		return ""
	}
	return fmt.Sprintf(" with %s uncached tokens", o.Uncached)
}

// CacheUnknown reports whether a turn is judged by its prompt tokens or by an estimate, because its
// cached tokens are unknown.
func (o Objective) CacheUnknown(r *probe.Result) bool { return o.Sized() && !r.CachedTokens.OK }

// uncachedTokens returns the prompt tokens that no prefix cache served. If the cached tokens are
// unknown, it returns all prompt tokens or, without a usage, the prober's estimate.
func uncachedTokens(r *probe.Result) probe.Opt[int] {
	if !r.PromptTokens.OK {
		return r.UncachedEstimate
	}
	return probe.Some(r.PromptTokens.V - r.CachedTokens.V)
}

// sizeFits reports whether the size of a turn allows a judgement: it is known, and within the class.
func (o Objective) sizeFits(r *probe.Result) bool {
	if !o.Sized() {
		return true
	}
	n := uncachedTokens(r)
	return n.OK && o.Uncached.contains(n.V)
}

// limit returns the highest good value of a turn.
func (o Objective) limit(r *probe.Result) time.Duration {
	if o.PerThousand == 0 {
		return o.Threshold
	}
	return o.Threshold + o.PerThousand*time.Duration(uncachedTokens(r).V)/1000
}
