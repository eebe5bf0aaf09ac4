package simulate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
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
		Exclamations: func(got, _ identity) bool { return got.content == strings.Repeat("!", 60*charsPerToken) },
		Repetition: func(got, _ identity) bool {
			return got.content == strings.Repeat(got.content[:20], 12) && got.model == base.model
		},
		WrongScript: func(got, _ identity) bool {
			return !strings.ContainsFunc(got.content, func(r rune) bool { return !unicode.Is(unicode.Han, r) })
		},
		OtherModel: func(got, _ identity) bool { return got.model != base.model && got.content != base.content },
		BaseModel: func(got, gotLora identity) bool {
			return got == base && gotLora.model == "lora" && gotLora.content == base.content
		},
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

// logprobsOf returns the tokens of an answer with their log-probabilities.
func (c client) logprobsOf(t *testing.T, prompt, more string) (all []logprob) {
	t.Helper()
	_, events := c.ask(t, "/v1/chat/completions", `{"model":"simulated-chat","temperature":0,"max_tokens":200,"ignore_eos":true,"logprobs":true,"top_logprobs":5,"messages":[{"role":"user","content":"`+prompt+`"}]`+more+`}`)
	b, err := json.Marshal(events[0].at("choices", 0, "logprobs", "content"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, l := range all {
		text += l.Token
		if len(l.Top) != 5 || l.Top[0].Logprob < l.Top[4].Logprob || l.Logprob > 0 || len(l.Bytes) != len(l.Token) {
			t.Fatalf("log-probabilities %+v", l)
		}
		if l.Top[0].Token != l.Token {
			t.Errorf("the token %q is not the likeliest of %v", l.Token, l.Top)
		}
	}
	if want := events[0].text("choices", 0, "message", "content"); text != want {
		t.Errorf("tokens %q of the answer %q", text, want)
	}
	return all
}

func TestLogprobsAreRepeatableAndDrift(t *testing.T) {
	_, healthy := serve(t, withIncident("", 0))
	_, second := serve(t, withIncident("", 0))
	_, drifting := serve(t, withIncident(Drift, 0.1))
	a, b, drifted := healthy.logprobsOf(t, "hi", ""), second.logprobsOf(t, "hi", ""), drifting.logprobsOf(t, "hi", "")
	if encode(a) != encode(b) || encode(a) == encode(healthy.logprobsOf(t, "other", "")) {
		t.Error("the same prompt has different log-probabilities, or different prompts have the same")
	}
	// Until the text changes, all log-probabilities differ by about the factor.
	n, sum := 0, 0.0
	for n < len(a) && a[n].Token == drifted[n].Token {
		sum += math.Pow(a[n].Logprob-drifted[n].Logprob, 2)
		n++
	}
	if n == 0 || n == len(a) {
		t.Fatalf("the text changes after %d of %d tokens, want some, not all", n, len(a))
	}
	if rms := math.Sqrt(sum / float64(n)); rms < 0.02 || rms > 0.3 {
		t.Errorf("log-probabilities differ by %.3f over %d tokens, want about 0.1", rms, n)
	}
	if again := drifting.logprobsOf(t, "hi", ""); encode(again) != encode(drifted) {
		t.Error("a drifting deployment gives different log-probabilities for the same prompt")
	}
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
