package probe_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestTimesAreArrivals checks each time against the server's own stamps. The
// server's clock is the same, so an arrival lies at or after its stamp; upper
// bounds are the next stamp, which no slow machine can break.
func TestTimesAreArrivals(t *testing.T) {
	const gap = 30 * time.Millisecond
	s := play(t, &scripted{steps: []step{
		{gap, sseHead + chunk(role)},
		{gap, chunk(": ping\n\n")},
		{gap, chunk(`data: {"choices":[{"delta":{"reasoning":"hm"}}]}` + "\n\n")},
		{gap, chunk(hello)},
		{gap, chunk(world)},
		{gap, chunk(finish, strings.Replace(usage, `"completion_tokens":2`, `"completion_tokens_details":{"reasoning_tokens":1},"completion_tokens":5`, 1), done) + lastChunk},
	}})
	r := once(t, options(s.addr))
	if r.Outcome != probe.Success {
		t.Fatalf("outcome %s (%s)", r.Outcome, r.Err)
	}
	wrote := s.stamps()
	at := func(step int) time.Duration { return wrote[step].Sub(r.Sent) }
	within := func(name string, got probe.Opt[time.Duration], from, to int) {
		t.Helper()
		if !got.OK || got.V < at(from)-time.Millisecond || got.V >= at(to) {
			t.Errorf("%s is %v, want within %v … %v", name, got, at(from), at(to))
		}
	}
	within("headers", r.Phases.Headers, 0, 2)
	within("first event", r.Phases.FirstEvent, 0, 2)
	within("TTFT", r.TTFT, 2, 3)
	within("answer TTFT", r.AnswerTTFT, 3, 4)
	if len(r.Gaps) != 2 || r.Gaps[0] < gap/2 || r.Gaps[1] < gap/2 {
		t.Errorf("gaps %v, want two of about %v", r.Gaps, gap)
	}
	if want := (r.Gaps[0] + r.Gaps[1]) / 4; r.TPOT.V != want {
		t.Errorf("TPOT %v, want (last - first) / (5 - 1) = %v", r.TPOT, want)
	}
	if r.End.Sub(r.Sent) < at(5)-time.Millisecond {
		t.Errorf("the turn ended at %v, before the server's last write at %v", r.Duration(), at(5))
	}
	if r.PromptTokens.V != 10 || r.CachedTokens.V != 4 || r.OutputTokens.V != 5 || r.UsageMissing {
		t.Errorf("tokens %v %v %v, usage missing %v", r.PromptTokens, r.CachedTokens, r.OutputTokens, r.UsageMissing)
	}
	if !r.Phases.Connect.OK || r.Phases.Reused {
		t.Errorf("phases %+v, want a new connection", r.Phases)
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, sseHead + chunk(hello, finish, done) + lastChunk}}})
	r := once(t, options(s.addr))
	if r.CachedTokens.OK || r.PromptTokens.OK {
		t.Errorf("without usage the prompt and cached tokens are unknown, got %v, %v", r.PromptTokens, r.CachedTokens)
	}
	if !r.UsageMissing || r.OutputTokens.V != 1 {
		t.Errorf("output tokens %v, usage missing %v; want 1, estimated", r.OutputTokens, r.UsageMissing)
	}
	if r.TPOT.OK || len(r.Gaps) != 0 {
		t.Errorf("one token has no TPOT and no gap, got %v, %v", r.TPOT, r.Gaps)
	}
	if r.Phases.DNS.OK || r.Phases.TLS.OK {
		t.Errorf("an address needs no DNS, http no TLS: %+v", r.Phases)
	}
}

// TestUsageThatCannotBeTrue sends two tokens and a usage with missing or impossible values. They
// must be unknown, not 0 or the reported value.
func TestUsageThatCannotBeTrue(t *testing.T) {
	for name, tc := range map[string]struct {
		usage                  string
		prompt, cached, output probe.Opt[int]
		estimated              bool
	}{
		"whole":               {`{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0}}`, probe.Some(10), probe.Some(0), probe.Some(3), false},
		"prompt alone":        {`{"prompt_tokens":10}`, probe.Some(10), probe.Opt[int]{}, probe.Some(2), true},
		"output alone":        {`{"completion_tokens":3}`, probe.Opt[int]{}, probe.Opt[int]{}, probe.Some(3), false},
		"negative prompt":     {`{"prompt_tokens":-5,"completion_tokens":3}`, probe.Opt[int]{}, probe.Opt[int]{}, probe.Some(3), false},
		"zeros":               {`{"prompt_tokens":0,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":0}}`, probe.Opt[int]{}, probe.Opt[int]{}, probe.Some(2), true},
		"more cached than is": {`{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":11}}`, probe.Some(10), probe.Opt[int]{}, probe.Some(3), false},
		"astronomic":          {`{"prompt_tokens":9007199254740992,"completion_tokens":9007199254740992}`, probe.Opt[int]{}, probe.Opt[int]{}, probe.Some(2), true},
		"fewer than events":   {`{"prompt_tokens":10,"completion_tokens":1}`, probe.Some(10), probe.Opt[int]{}, probe.Some(2), true},
		"more than requested": {`{"prompt_tokens":10,"completion_tokens":300}`, probe.Opt[int]{}, probe.Opt[int]{}, probe.Some(2), true},
		"more than sent":      {`{"prompt_tokens":20000,"completion_tokens":3}`, probe.Opt[int]{}, probe.Opt[int]{}, probe.Some(2), true},
		"hidden reasoning":    {`{"prompt_tokens":10,"completion_tokens":50,"completion_tokens_details":{"reasoning_tokens":48}}`, probe.Some(10), probe.Opt[int]{}, probe.Some(50), false},
		"a gateway's prompt":  {`{"prompt_tokens":6000,"completion_tokens":3}`, probe.Some(6000), probe.Opt[int]{}, probe.Some(3), false},
	} {
		t.Run(name, func(t *testing.T) {
			said := `data: {"choices":[],"usage":` + tc.usage + "}\n\n"
			s := play(t, &scripted{steps: []step{{0, closeHead + hello + world + finish + said + done}}})
			o := options(s.addr)
			o.Workload.MaxOutputTokens = 50
			r := once(t, o)
			if r.PromptTokens != tc.prompt || r.CachedTokens != tc.cached || r.OutputTokens != tc.output || r.UsageMissing != tc.estimated {
				t.Errorf("prompt %v, cached %v, output %v, estimated %v; want %v, %v, %v, %v",
					r.PromptTokens, r.CachedTokens, r.OutputTokens, r.UsageMissing, tc.prompt, tc.cached, tc.output, tc.estimated)
			}
			if r.TPOT.OK {
				t.Errorf("two tokens that arrived together have a TPOT of %v", r.TPOT.V)
			}
		})
	}
}

// TestHistory checks that each turn sends the whole history, with the server's answers, over one
// connection.
func TestHistory(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, closeHead + hello + world + finish + usage + done}}})
	temperature := 0.0
	o := options(s.addr)
	o.Workload.MaxOutputTokens, o.Workload.Temperature = 7, &temperature
	o.Target.Extra = map[string]any{"ignore_eos": true}
	results, sum := converse(t.Context(), t, o, 3)
	if len(results) != 3 || sum.Outcome != probe.Success || sum.Turns != 3 {
		t.Fatalf("%d results, %+v", len(results), sum)
	}
	var body struct {
		Model         string
		Messages      []workload.Message
		Stream        bool
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		MaxTokens   int      `json:"max_tokens"`
		Temperature *float64 `json:"temperature"`
		IgnoreEOS   bool     `json:"ignore_eos"`
	}
	_, sent := s.request(2)
	if err := json.Unmarshal([]byte(sent), &body); err != nil {
		t.Fatalf("body of turn 3: %v\n%s", err, sent)
	}
	var got []string
	for _, m := range body.Messages {
		got = append(got, m.Role+": "+m.Content)
	}
	want := "user: Hello there.|assistant: Hello world|user: question 2|assistant: Hello world|user: question 3"
	if strings.Join(got, "|") != want {
		t.Errorf("history %q, want %q", strings.Join(got, "|"), want)
	}
	if body.Model != "m" || !body.Stream || !body.StreamOptions.IncludeUsage || body.MaxTokens != 7 || body.Temperature == nil || !body.IgnoreEOS {
		t.Errorf("body lacks a field: %s", sent)
	}
	if results[0].Kind != probe.First || results[1].Kind != probe.Followup {
		t.Errorf("kinds %s, %s", results[0].Kind, results[1].Kind)
	}
}

// TestOneAttempt checks that a turn is one request, even after a failure.
func TestOneAttempt(t *testing.T) {
	for name, s := range map[string]*scripted{
		"500":              {steps: []step{{0, jsonResponse("500 Oops", `{}`)}}},
		"429 with a retry": {steps: []step{{0, "HTTP/1.1 429 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"}}},
		"closed":           {},
		"reset":            {reset: true},
		"cut":              {steps: []step{{0, sseHead + chunk(hello)}}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, s)
			results, sum := converse(t.Context(), t, options(s.addr), 3)
			if len(results) != 1 || s.count() != 1 {
				t.Errorf("%d turns, %d requests; want 1 of each: a failed turn ends the conversation", len(results), s.count())
			}
			if !sum.Outcome.Failed() || sum.Turns != 1 {
				t.Errorf("conversation %+v", sum)
			}
		})
	}
}
