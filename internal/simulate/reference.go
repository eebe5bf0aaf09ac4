package simulate

import (
	"regexp"
	"slices"
	"strings"
)

// recentKept bounds the histories that a Foreign answer can come from.
const recentKept = 16

var (
	statedReference = regexp.MustCompile(`Reference (\d+): (\S+?)\.?(?:\s|$)`)
	askedReference  = regexp.MustCompile(`with reference (\d+)`)
)

// requestedReference returns the text of the reference that the last message of the user asks for, with a
// space behind it; "" if it asks for none or the history does not have it.
func requestedReference(history []message) string {
	number, code := "", ""
	for _, m := range slices.Backward(history) {
		if m.Role == "user" || m.Role == noRole {
			// A prompt without roles contains all messages.
			last := m.Content.text[max(strings.LastIndex(m.Content.text, "User: "), 0):]
			if asked := askedReference.FindStringSubmatch(last); asked != nil {
				number = asked[1]
			}
			break
		}
	}
	if number == "" {
		return ""
	}
	for _, m := range history {
		for _, stated := range statedReference.FindAllStringSubmatch(m.Content.text, -1) {
			if stated[1] == number {
				code = stated[2] + " "
			}
		}
	}
	return code
}

// historyFor returns the history that the answer to a turn depends on.
func (d *Deployment) historyFor(t *turn) []message {
	own := t.request.Messages
	d.mu.Lock()
	defer d.mu.Unlock()
	others := slices.Clone(d.recent)
	if d.recent = append(d.recent, own); len(d.recent) > recentKept {
		d.recent = slices.Delete(d.recent, 0, 1)
	}
	switch t.fault.Kind {
	case Foreign:
		for _, other := range slices.Backward(others) {
			if !sameConversation(own, other) {
				return other
			}
		}
	case ContextCut:
		return lastTokens(own, int(t.fault.Factor))
	}
	return own
}

// readCache writes the answer again if the incident damages the cached part of the prompt. The answer keeps
// its length. kvUse is the share of the KV cache in use. The cache of a cluster keeps the blocks of the
// planned text, so the changed answer is not cached as history.
func (t *turn) readCache(kvUse float64) {
	damaged := t.fault.Kind == Salad && kvUse > t.fault.Factor
	if !damaged || t.cached == 0 || t.text.generate == nil { // tool calls and JSON have a fixed end
		return
	}
	t.history = lastTokens(t.history, t.promptTokens-t.cached)
	t.text = newAnswer(t.options.Seed, newPrompt(t.history, blockTokens, t.modelKey).hash)
	t.text.insert(t.reasoning, requestedReference(t.history))
}

// sameConversation reports whether one history is the beginning of the other one.
func sameConversation(a, b []message) bool {
	if len(a) > len(b) || len(a) == len(b) && len(a) > 0 && len(a[len(a)-1].Content.text) > len(b[len(b)-1].Content.text) {
		a, b = b, a
	}
	for i := range a {
		if a[i].Role != b[i].Role || !strings.HasPrefix(b[i].Content.text, a[i].Content.text) {
			return false
		}
	}
	return true
}

// lastTokens returns the end of a history with about n tokens of text.
func lastTokens(history []message, n int) []message {
	left := n * charsPerToken
	for i, m := range slices.Backward(history) {
		text := []rune(m.Content.text)
		if len(text) > left {
			m.Content.text = string(text[len(text)-left:])
			return slices.Concat([]message{m}, history[i+1:])
		}
		left -= len(text)
	}
	return history
}
