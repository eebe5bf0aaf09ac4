package probe_test

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
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
	if !r.Phases.Connect.OK || r.Phases.Reused || r.Phases.DNS.OK || r.Phases.TLS.OK {
		t.Errorf("phases %+v, want a new connection", r.Phases)
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
