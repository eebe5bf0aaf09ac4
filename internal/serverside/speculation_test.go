package serverside

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"synthetic/internal/probe"
)

// counted10 and counted110 are pages with vLLM's counters.
const (
	counted10  = "vllm:spec_decode_num_draft_tokens_total 10\nvllm:spec_decode_num_accepted_tokens_total 4\n"
	counted110 = "vllm:spec_decode_num_draft_tokens_total{engine=\"0\"} 60\nvllm:spec_decode_num_draft_tokens_total{engine=\"1\"} 50\nvllm:spec_decode_num_accepted_tokens_total 64\n"
)

// gauges returns a page with SGLang's gauges.
func gauges(rate, length, generated string) string {
	page := gaugeText("sglang:spec_accept_rate", rate)
	if length != "" {
		page += gaugeText("sglang:spec_accept_length", length)
	}
	if generated != "" {
		page += "sglang:generation_tokens_total " + generated + "\n"
	}
	return page
}

func TestSpeculation(t *testing.T) {
	average := func(v float64) Speculation { return Speculation{Acceptance: probe.Some(v)} }
	nothing := Speculation{Counted: true}
	for name, tt := range map[string]struct {
		before, after string
		want          Speculation
	}{
		"counters grow":                  {counted10, counted110, Speculation{Drafted: 100, Accepted: 60, Counted: true}},
		"counters stand still":           {counted10, counted10, nothing},
		"the first reading":              {"", counted110, nothing},
		"the server began anew":          {counted110, counted10, nothing},
		"only the accepted fell":         {counted110, "vllm:spec_decode_num_draft_tokens_total 210\nvllm:spec_decode_num_accepted_tokens_total 4\n", nothing},
		"a drafter is switched on":       {"vllm:generation_tokens_total 10\n", counted10, nothing},
		"a drafter is switched off":      {counted10, "vllm:generation_tokens_total 10\n", Speculation{}},
		"TensorRT-LLM":                   {"trtllm_spec_decode_num_draft_tokens_total 1\ntrtllm_spec_decode_num_accepted_tokens_total 1\n", "trtllm_spec_decode_num_draft_tokens_total 11\ntrtllm_spec_decode_num_accepted_tokens_total 3\n", Speculation{Drafted: 10, Accepted: 2, Counted: true}},
		"one of the two is missing":      {counted10, "vllm:spec_decode_num_draft_tokens_total 20\n", Speculation{}},
		"a counter is no number":         {counted10, "vllm:spec_decode_num_draft_tokens_total NaN\nvllm:spec_decode_num_accepted_tokens_total 5\n", Speculation{}},
		"a counter was no number":        {"vllm:spec_decode_num_draft_tokens_total NaN\nvllm:spec_decode_num_accepted_tokens_total 5\n", counted10, nothing},
		"counters come before gauges":    {counted10 + gauges("0.9", "", "1"), counted110 + gauges("0.9", "", "2"), Speculation{Drafted: 100, Accepted: 60, Counted: true}},
		"a gauge":                        {gauges("0.9", "3", "1"), gauges("0.7", "3", "2"), average(0.7)},
		"a gauge in percent":             {gauges("90", "", "1"), gauges("70", "", "2"), average(0.7)},
		"a gauge without tokens":         {gauges("0.9", "", ""), gauges("0.7", "", ""), average(0.7)},
		"an idle server's gauge":         {gauges("0.7", "3", "2"), gauges("0.7", "3", "2"), Speculation{}},
		"a gauge on the first reading":   {"", gauges("0.7", "3", "2"), Speculation{}},
		"a gauge of bad drafts":          {gauges("0.7", "3", "1"), gauges("0", "1", "2"), average(0)},
		"a gauge without a drafter":      {gauges("0", "0", "1"), gauges("0", "0", "2"), Speculation{}},
		"a gauge that may be either":     {gauges("0.7", "", "1"), gauges("0", "", "2"), Speculation{}},
		"a gauge that is no number":      {gauges("0.7", "3", "1"), gauges("NaN", "3", "2"), Speculation{}},
		"a gauge that is no share":       {gauges("0.7", "3", "1"), gauges("-1", "3", "2"), Speculation{}},
		"a server without any of these":  {"up 1\n", "up 1\n", Speculation{}},
		"a page that cannot tell itself": {"", "", Speculation{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := speculation(page(t, 0, tt.before), page(t, 10, tt.after))
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("speculation (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCombined(t *testing.T) {
	got := combine([]Speculation{
		{Drafted: 100, Accepted: 60, Counted: true}, {}, {Drafted: 10, Accepted: 1, Counted: true},
		{Acceptance: probe.Some(0.5)}, {Acceptance: probe.Some(0.7)},
	})
	want := Speculation{Drafted: 110, Accepted: 61, Counted: true, Acceptance: probe.Some(0.6)}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("workers together (-want +got):\n%s", diff)
	}
	if got := combine(nil); got != (Speculation{}) {
		t.Errorf("no page says %+v", got)
	}
}
