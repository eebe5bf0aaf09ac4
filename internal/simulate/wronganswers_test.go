package simulate

import (
	"encoding/json"
	"testing"
	"time"
)

// withIncident returns options with an incident for every request. An empty kind means none.
func withIncident(kind IncidentKind, factor float64) Options {
	o := quick
	o.Answer.Median = 40
	o.Adapters = []string{"lora"}
	if kind != "" {
		o.Incidents = []Incident{{Kind: kind, Share: 1, Factor: factor}}
	}
	return o
}

// identity is what an answer reveals about its model.
type identity struct{ model, fingerprint, content string }

// identify asks a model at temperature 0.
func (c client) identify(t *testing.T, model string) (got identity) {
	t.Helper()
	_, events := c.ask(t, "/v1/chat/completions", `{"model":"`+model+`","temperature":0,"max_tokens":60,"messages":[{"role":"user","content":"hi"}]}`)
	e := events[0]
	return identity{e.text("model"), e.text("system_fingerprint"), e.text("choices", 0, "message", "content")}
}

func TestWrongAnswers(t *testing.T) {
	_, healthy := serve(t, withIncident("", 0))
	base, lora := healthy.identify(t, "simulated-chat"), healthy.identify(t, "lora")
	if base.content == lora.content || base.model != "simulated-chat" || lora.model != "lora" {
		t.Fatalf("the base %+v and the adapter %+v give the same answer", base, lora)
	}
	if again := healthy.identify(t, "simulated-chat"); again != base {
		t.Errorf("second answer: %+v, want %+v", again, base)
	}
	for kind, check := range map[IncidentKind]func(got, gotLora identity) bool{
		OtherModel: func(got, _ identity) bool { return got.model != base.model && got.content != base.content },
		NewFingerprint: func(got, _ identity) bool {
			return got.fingerprint != base.fingerprint && got.content == base.content
		},
		Buffered:     func(got, gotLora identity) bool { return got == base && gotLora == lora },
		BadArguments: func(got, gotLora identity) bool { return got == base && gotLora == lora },
	} {
		_, c := serve(t, withIncident(kind, 0))
		if got, gotLora := c.identify(t, "simulated-chat"), c.identify(t, "lora"); got.content == "" || !check(got, gotLora) {
			t.Errorf("%s: %+v, adapter %+v; without the incident %+v", kind, got, gotLora, base)
		}
	}
}

// TestBuffered checks that only the headers arrive before the end.
func TestBuffered(t *testing.T) {
	o := withIncident(Buffered, 0)
	o.FirstToken.Median, o.InterToken.Median = time.Second, time.Second
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		got := c.say(t, []message{user("hi")}, `,"max_tokens":10`)
		// The role comes with the headers.
		if n := len(got.at); n < 13 || got.at[n-1] != got.at[1] || got.at[n-1] < 10*time.Second {
			t.Errorf("events at %v, want all but the role at the same time", got.at)
		}
	})
}

func TestTemperatureMakesAnswersVary(t *testing.T) {
	_, c := serve(t, quick)
	seen := map[string]bool{}
	for range 3 {
		seen[c.say(t, []message{user("hi")}, `,"temperature":0.7`).content] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d answers of 3 differ", len(seen))
	}
}

func TestModelsAndAdapters(t *testing.T) {
	o := quick
	o.Models, o.Adapters = []string{"second"}, []string{"lora"}
	_, c := serve(t, o)
	_, body := c.get(t, "/v1/models")
	var list struct {
		Data []struct{ ID, Parent string }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if got := encode(list.Data); got != `[{"ID":"simulated-chat","Parent":""},{"ID":"second","Parent":""},{"ID":"lora","Parent":"simulated-chat"}]` {
		t.Errorf("models %s", got)
	}
	if a, b := c.identify(t, "second"), c.identify(t, "simulated-chat"); a.content == b.content || a.fingerprint == b.fingerprint {
		t.Errorf("two models give the same answer: %+v, %+v", a, b)
	}
}
