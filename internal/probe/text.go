package probe

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"synthetic/internal/redact"
)

const (
	// maxErr is the maximum length of an error text in bytes.
	maxErr = 300
	// maxRaw is the maximum length of the text from which an error text is made.
	maxRaw = 16 << 10
)

// withoutSecrets returns the result for sinks: texts that a server may have written contain no
// secrets. Sinks do not show the answer itself.
func (r Result) withoutSecrets() Result {
	r.Err = errorText(r.Err)
	for _, text := range []*string{&r.Worker, &r.FinishReason, &r.AnsweredBy, &r.ReasoningField} {
		*text = redact.Text(*text)
	}
	return r
}

// errorText returns one line of at most maxErr bytes, without secrets and control characters: texts
// are printed on terminals.
func errorText(text string) string {
	text = redact.Text(clip(text, maxRaw))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxErr {
		text = clip(text, maxErr) + "…"
	}
	return text
}

// clip shortens a text to maxBytes or less, between two characters.
func clip(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return text[:maxBytes]
}
