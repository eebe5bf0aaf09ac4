package probe

import (
	"net/http"
	"regexp"
	"sync/atomic"

	"synthetic/internal/probe/target"
)

// Learned is what a target's answers have taught of how it wants to be asked; its
// probers may share it. It is safe for concurrent use.
type Learned struct {
	refusesMaxTokens atomic.Bool
}

// LimitLearned says that a target refuses max_tokens, and is sent
// max_completion_tokens from now on.
type LimitLearned struct {
	Target, Workload string
}

// Key names the job.
func (l LimitLearned) Key() Key { return Key(l) }

// limitField is how the limit of tokens is called in the next request.
func (p *Prober) limitField() target.LimitField {
	switch field := p.opts.Target.Limit; {
	case field == target.MaxTokens || field == target.MaxCompletionTokens:
		return field
	case p.opts.Learned.refusesMaxTokens.Load():
		return target.MaxCompletionTokens
	}
	return target.MaxTokens
}

// refusesMaxTokens matches what servers say that want the limit's other name. One
// that is too large is another matter: vLLM names both fields then.
var refusesMaxTokens = regexp.MustCompile(`(?i)max_tokens.*(unsupported|not supported|unrecognized|unknown|not permitted|use .?max_completion_tokens)|(unsupported|unrecognized|unknown).*max_tokens`)

// learn reports whether an attempt that was made with a field failed for its
// name alone, so that it is to be repeated; first says that nobody knew.
func (p *Prober) learn(a *attempt, sent target.LimitField) (again, first bool) {
	t := p.opts.Target
	auto := (t.Limit == "" || t.Limit == target.LimitAuto) && (t.API == "" || t.API == target.Chat || t.API == target.Azure)
	status := a.status == http.StatusBadRequest || a.status == http.StatusUnprocessableEntity
	if !auto || !status || sent != target.MaxTokens || p.opts.Workload.MaxOutputTokens <= 0 || !refusesMaxTokens.MatchString(a.err) {
		return false, false
	}
	return true, p.opts.Learned.refusesMaxTokens.CompareAndSwap(false, true)
}
