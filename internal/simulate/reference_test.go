package simulate

import (
	"strings"
	"testing"
	"time"
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
		"lost":                    {lastTokens([]message{opening, answer, asks}, 25), ""},
		"just kept":               {lastTokens([]message{opening, answer, asks}, 30), "7DDDD-2EEEE-4FFFF "},
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

// TestDamagedCache: a reference in the cached part of a prompt is lost by Salad above its share of the KV cache. References behind that part, and prompts that are not cached, stay right.
func TestDamagedCache(t *testing.T) {
	pad := strings.Repeat("mill ", 40)
	conversation := func(code string) []message {
		return []message{user("Reference 1: " + code + ". " + pad), assistant(pad), user("Reference 2: 9" + code + ". Begin your answer with reference 1.")}
	}
	for name, tt := range map[string]struct {
		incident     Incident
		first, later string // the code of the answers to an uncached and to a cached prompt
	}{
		"salad":           {Incident{Kind: Salad, Share: 1, Factor: 1e-9}, "2BBBB ", ""},
		"salad, low use":  {Incident{Kind: Salad, Share: 1, Factor: 0.7}, "2BBBB ", "2BBBB "},
		"without a fault": {Incident{}, "2BBBB ", "2BBBB "},
	} {
		o := quick
		if tt.incident.Kind != "" {
			o.Incidents = []Incident{tt.incident}
		}
		_, c := serve(t, o)
		c.say(t, conversation("7AAAA"), "")
		for i, want := range []string{tt.first, tt.later} {
			got := c.say(t, conversation("2BBBB"), "")
			if (got.usage.Details.Cached > 0) != (i == 1) {
				t.Errorf("%s, answer %d: %d tokens were cached", name, i+1, got.usage.Details.Cached)
			}
			if found := strings.HasPrefix(got.content, want); !found || want == "" && strings.Contains(got.content, "2BBBB") {
				t.Errorf("%s, answer %d: %q, want %q first", name, i+1, got.content, want)
			}
		}
		fresh := conversation("2BBBB")
		fresh[2].Content.text = "Reference 2: 4CCCC. Begin your answer with reference 2."
		if got := c.say(t, fresh, ""); got.usage.Details.Cached == 0 || !strings.HasPrefix(got.content, "4CCCC ") {
			t.Errorf("%s: the reference behind %d cached tokens: %q", name, got.usage.Details.Cached, got.content)
		}
	}
}

// TestSaladFollowsTheKVCache: on a cluster the answers are wrong only while other requests fill the cache.
func TestSaladFollowsTheKVCache(t *testing.T) {
	config := *preset(t, "phase0")
	config.Engine.KVTokens, config.Workers = 2000, 1
	o := Options{Cluster: &config, Answer: Length{Median: 20}, Incidents: []Incident{{Kind: Salad, Share: 1, Factor: 0.7}}}
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		history := []message{user("Reference 1: 7AAAA. " + strings.Repeat("mill ", 200)), assistant("Yes."), user("Begin your answer with reference 1.")}
		ask := func(want bool) {
			got := c.say(t, history, "")
			if strings.HasPrefix(got.content, "7AAAA ") != want {
				t.Errorf("%d cached tokens: %q, want the reference: %v", got.usage.Details.Cached, got.content, want)
			}
		}
		ask(true)
		ask(true)
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.say(t, []message{long("b", 1300)}, `,"max_tokens":300,"ignore_eos":true`)
		}()
		time.Sleep(time.Second)
		ask(false)
		<-done
		ask(true)
	})
}
