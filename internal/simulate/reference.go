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
	if t.fault == Foreign {
		for _, other := range slices.Backward(others) {
			if !sameConversation(own, other) {
				return other
			}
		}
	}
	return own
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
