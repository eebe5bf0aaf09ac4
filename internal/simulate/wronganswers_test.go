package simulate

import (
	"encoding/json"
	"testing"
)

// identity is what an answer reveals about its model.
type identity struct{ model, fingerprint, content string }

// identify asks a model at temperature 0.
func (c client) identify(t *testing.T, model string) (got identity) {
	t.Helper()
	_, events := c.ask(t, "/v1/chat/completions", `{"model":"`+model+`","temperature":0,"max_tokens":60,"messages":[{"role":"user","content":"hi"}]}`)
	e := events[0]
	return identity{e.text("model"), e.text("system_fingerprint"), e.text("choices", 0, "message", "content")}
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

func TestModels(t *testing.T) {
	o := quick
	o.Models = []string{"second"}
	_, c := serve(t, o)
	_, body := c.get(t, "/v1/models")
	var list struct {
		Data []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if got := encode(list.Data); got != `[{"ID":"simulated-chat"},{"ID":"second"}]` {
		t.Errorf("models %s", got)
	}
	if a, b := c.identify(t, "second"), c.identify(t, "simulated-chat"); a.content == b.content || a.fingerprint == b.fingerprint {
		t.Errorf("two models give the same answer: %+v, %+v", a, b)
	}
}
