package simulate

import (
	"strings"
	"testing"
)

func say(role, text string) message { return message{Role: role, Content: content{text, true}} }

// TestRequestedReference: the answer begins with the reference that the last question asks for, in a chat and
// in a prompt without roles.
func TestRequestedReference(t *testing.T) {
	opening := say("user", "Mills.\n\nReference 1: 7AAAA-2BBBB-4CCCC.\n\nThe mill. Reference 2: 7DDDD-2EEEE-4FFFF.")
	answer, plain := say("assistant", "Yes."), say("user", "Why? Reference 3: 7GGGG-2HHHH-4JJJJ.")
	asks := say("user", "Why? Reference 3: 7GGGG-2HHHH-4JJJJ. Begin your answer with reference 2.")
	for name, tt := range map[string]struct {
		history []message
		want    string
	}{
		"asked":                   {[]message{opening, answer, asks}, "7DDDD-2EEEE-4FFFF "},
		"not asked":               {[]message{opening, answer, plain}, ""},
		"asked earlier":           {[]message{opening, answer, asks, answer, plain}, ""},
		"asked before a tool":     {[]message{opening, asks, say("tool", "12:00")}, "7DDDD-2EEEE-4FFFF "},
		"without roles":           {[]message{say(noRole, "User: "+opening.Content.text+"\n\nAssistant: Yes.\n\nUser: "+asks.Content.text+"\n\nAssistant:")}, "7DDDD-2EEEE-4FFFF "},
		"earlier, without roles":  {[]message{say(noRole, "User: "+asks.Content.text+"\n\nAssistant: Yes.\n\nUser: Why?\n\nAssistant:")}, ""},
		"asked for one not given": {[]message{say("user", "Begin your answer with reference 7.")}, ""},
	} {
		if got := requestedReference(tt.history); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestSameConversation(t *testing.T) {
	long := []message{say("user", "a"), say("assistant", "b"), say("user", "c")}
	for name, tt := range map[string]struct {
		other []message
		want  bool
	}{
		"itself":           {long, true},
		"its start":        {long[:1], true},
		"another answer":   {[]message{say("user", "a"), say("assistant", "x"), say("user", "c")}, false},
		"another question": {[]message{say("user", "a"), say("assistant", "b"), say("user", "d")}, false},
		"another opening":  {[]message{say("user", "z")}, false},
	} {
		if got := sameConversation(long, tt.other); got != tt.want || sameConversation(tt.other, long) != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestForeignAnswers: with one conversation the answers are right; with two, the second gets the reference
// of the first.
func TestForeignAnswers(t *testing.T) {
	o := quick
	o.Incidents = []Incident{{Kind: Foreign, Share: 1}}
	_, c := serve(t, o)
	ask := func(code string) string {
		return c.say(t, []message{user("Reference 1: " + code + ". Begin your answer with reference 1.")}, "").content
	}
	for _, step := range [][2]string{{"7AAAA", "7AAAA "}, {"7AAAA", "7AAAA "}, {"2BBBB", "7AAAA "}, {"7AAAA", "2BBBB "}} {
		if got := ask(step[0]); !strings.HasPrefix(got, step[1]) {
			t.Errorf("asked for %s: %q, want %q first", step[0], got, step[1])
		}
	}
}
