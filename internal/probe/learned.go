package probe

import (
	"net/http"
	"regexp"
	"sync/atomic"

	"synthetic/internal/probe/target"
)

// Learned is what the prober learned about the requests that a target accepts. The probers of a
// target may share it. It is safe for concurrent use.
type Learned struct {
	refusesMaxTokens atomic.Bool
}

// limitField returns the name of the token limit in the next request.
func (l *Learned) limitField() target.LimitField {
	if l.refusesMaxTokens.Load() {
		return target.MaxCompletionTokens
	}
	return target.MaxTokens
}

// refusesMaxTokens matches errors of servers that want max_completion_tokens. An error about a
// limit that is too large must not match: there vLLM names both fields.
var refusesMaxTokens = regexp.MustCompile(
	`(?i)max_tokens.*(unsupported|not supported|unrecognized|unknown|not permitted|use .?max_completion_tokens)` +
		`|(unsupported|unrecognized|unknown).*max_tokens`)

// learnLimitField reports whether an attempt failed only because of the name of the limit field,
// so that it must be repeated. first is true if this was not known before.
func (d *dialogue) learnLimitField(a *attempt) (again, first bool) {
	if d.maxOutputTokens() <= 0 {
		return false, false
	}
	return d.prober.opts.Learned.learn(&d.prober.opts.Target, a.limitField, a.status, errorText(a.err))
}

func (l *Learned) learn(t *target.Target, sent target.LimitField, status int, message string) (again, first bool) {
	again = t.API.OpenAIChat() && rejectsBody(status) && sent == target.MaxTokens && refusesMaxTokens.MatchString(message)
	if !again {
		return false, false
	}
	return true, l.refusesMaxTokens.CompareAndSwap(false, true)
}

// rejectsBody reports whether a status means that the server does not accept the request body.
func rejectsBody(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}
