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
func (p *Prober) limitField() target.LimitField { return p.opts.Learned.limitField(p.opts.Target) }

func (l *Learned) limitField(t target.Target) target.LimitField {
	switch {
	case t.Limit == target.MaxTokens || t.Limit == target.MaxCompletionTokens:
		return t.Limit
	case l.refusesMaxTokens.Load():
		return target.MaxCompletionTokens
	}
	return target.MaxTokens
}

// refusesMaxTokens matches what servers say that want the limit's other name. One
// that is too large is another matter: vLLM names both fields then.
var refusesMaxTokens = regexp.MustCompile(`(?i)max_tokens.*(unsupported|not supported|unrecognized|unknown|not permitted|use .?max_completion_tokens)|(unsupported|unrecognized|unknown).*max_tokens`)

// learn reports whether an attempt that was made with a field failed for its
// name alone, so that it is to be repeated; first says that nobody knew.
func (d *dialogue) learn(a *attempt, sent target.LimitField) (again, first bool) {
	if d.spec().MaxOutputTokens <= 0 {
		return false, false
	}
	return d.p.opts.Learned.learn(d.p.opts.Target, sent, a.status, a.err)
}

func (l *Learned) learn(t target.Target, sent target.LimitField, code int, said string) (again, first bool) {
	auto := (t.Limit == "" || t.Limit == target.LimitAuto) && (t.API == "" || t.API == target.Chat || t.API == target.Azure)
	if !auto || !refusesBody(code) || sent != target.MaxTokens || !refusesMaxTokens.MatchString(said) {
		return false, false
	}
	return true, l.refusesMaxTokens.CompareAndSwap(false, true)
}

// refusesBody reports whether a status says that the request is not understood.
func refusesBody(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}
