package stream

import (
	"strings"
	"testing"
)

func TestFinishReasons(t *testing.T) {
	for name, want := range finishReasons {
		for _, spelled := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "_", "-")} {
			if got := FinishReason(spelled); got != want {
				t.Errorf("FinishReason(%q) = %q, want %q", spelled, got, want)
			}
		}
	}
	if got := FinishReason("tired"); got != "tired" {
		t.Errorf("an unknown reason became %q", got)
	}
}

// TestUsageShapes has the usage of several servers, in the order of their events.
func TestUsageShapes(t *testing.T) {
	chat := func(usage string) string { return `{"choices":[],"usage":` + usage + `}` }
	for name, test := range map[string]struct {
		decoder func() Decoder
		events  []string
		want    Usage
	}{
		"in a choice":   {NewChat, []string{`{"choices":[{"delta":{},"usage":{"prompt_tokens":10,"completion_tokens":5}}],"usage":null}`}, Usage{PromptTokens: 10, OutputTokens: 5}},
		"in x_groq":     {NewChat, []string{`{"choices":[],"x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":5}}}`}, Usage{PromptTokens: 10, OutputTokens: 5}},
		"zeros later":   {NewChat, []string{chat(`{"prompt_tokens":10,"completion_tokens":5}`), chat(`{"prompt_tokens":0,"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":0}}`), chat(`null`)}, Usage{PromptTokens: 10, OutputTokens: 5, CachedKnown: true}},
		"DeepSeek":      {NewChat, []string{chat(`{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":6}`)}, Usage{PromptTokens: 10, OutputTokens: 5, CachedTokens: 4, CachedKnown: true}},
		"Moonshot":      {NewChat, []string{chat(`{"prompt_tokens":10,"completion_tokens":5,"cached_tokens":4}`)}, Usage{PromptTokens: 10, OutputTokens: 5, CachedTokens: 4, CachedKnown: true}},
		"num_cached":    {NewChat, []string{chat(`{"prompt_tokens":10,"completion_tokens":5,"num_cached_tokens":4}`)}, Usage{PromptTokens: 10, OutputTokens: 5, CachedTokens: 4, CachedKnown: true}},
		"cached above":  {NewChat, []string{chat(`{"prompt_tokens":10,"completion_tokens":5,"cached_tokens":14}`)}, Usage{PromptTokens: 10, OutputTokens: 5}},
		"beside output": {NewChat, []string{chat(`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}`)}, Usage{PromptTokens: 10, OutputTokens: 25, ReasoningTokens: 20, ReasoningKnown: true}},
		"inside output": {NewChat, []string{chat(`{"prompt_tokens":10,"completion_tokens":25,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}`)}, Usage{PromptTokens: 10, OutputTokens: 25, ReasoningTokens: 20, ReasoningKnown: true}},
		"SGLang":        {NewChat, []string{chat(`{"prompt_tokens":10,"completion_tokens":25,"reasoning_tokens":20}`)}, Usage{PromptTokens: 10, OutputTokens: 25, ReasoningTokens: 20, ReasoningKnown: true}},
		"responses": {NewResponses, []string{`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":10,"output_tokens":5,"input_tokens_details":{"cached_tokens":4}}}}`},
			Usage{PromptTokens: 10, OutputTokens: 5, CachedTokens: 4, CachedKnown: true}},
		"messages": {NewMessages, []string{`{"type":"message_start","message":{"usage":{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":1}}}`, `{"type":"message_delta","usage":{"output_tokens":5}}`},
			Usage{PromptTokens: 10, OutputTokens: 5, CachedTokens: 4, CachedKnown: true}},
		"messages, zero at the end": {NewMessages, []string{`{"type":"message_start","message":{"usage":{"input_tokens":6,"cache_read_input_tokens":4}}}`, `{"type":"message_delta","usage":{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}}`},
			Usage{PromptTokens: 10, OutputTokens: 5, CachedTokens: 4, CachedKnown: true}},
		"messages, cached at the end": {NewMessages, []string{`{"type":"message_start","message":{"usage":{"input_tokens":10}}}`, `{"type":"message_delta","usage":{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":5}}`},
			Usage{PromptTokens: 10, OutputTokens: 5, CachedTokens: 4, CachedKnown: true}},
	} {
		d := test.decoder()
		var got Usage
		for _, data := range test.events {
			var ev Event
			if classify(&ev, []byte(data), false, d); ev.HasUsage {
				got.Add(ev.Usage)
			}
		}
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestResponsesThatFail(t *testing.T) {
	for data, want := range map[string]string{
		`{"type":"response.completed","response":{"status":"failed","error":null}}`:                       `{"type":"response.completed","response":{"status":"failed","error":null}}`,
		`{"type":"response.failed","response":{"status":"failed","error":{"message":"boom"}}}`:            "boom",
		`{"type":"response.incomplete","response":{"status":"incomplete","error":{"message":"no room"}}}`: "no room",
	} {
		var ev Event
		if classify(&ev, []byte(data), false, NewResponses()); ev.Kind != Error || ev.Message != want {
			t.Errorf("%s: kind %v, %q", data, ev.Kind, ev.Message)
		}
	}
	var ev Event
	classify(&ev, []byte(`{"type":"response.completed","response":{"status":"cancelled"}}`), false, NewResponses())
	if ev.FinishReason != Aborted || ev.Message != "cancelled" {
		t.Errorf("a cancelled response ends with %q, %q", ev.FinishReason, ev.Message)
	}
}
