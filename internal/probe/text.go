package probe

import (
	"strings"
	"unicode"

	"synthetic/internal/bound"
	"synthetic/internal/redact"
)

const (
	// maxErr is the maximum length of an error text in bytes.
	maxErr = 300
	// maxRaw is the maximum length of the text from which an error text is made.
	maxRaw = 16 << 10
)

// withoutSecrets returns a copy of the result for sinks: texts that a server may have written contain no
// secrets.
func (r *Result) withoutSecrets() Event {
	out := *r
	out.Err = errorText(out.Err)
	for _, text := range []*string{&out.Worker, &out.FinishReason, &out.AnsweredBy, &out.ReasoningField, &out.Gateway.Backend} {
		*text = redact.Text(*text)
	}
	return out
}

// errorText returns one line of at most maxErr bytes, without secrets and control characters: texts
// are printed on terminals.
func errorText(text string) string {
	text = redact.Text(bound.Clip(text, maxRaw))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return bound.Shorten(strings.Join(strings.Fields(text), " "), maxErr)
}
