package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// span is an OpenTelemetry span as the collector's file exporter writes it.
type span struct {
	Start      string `json:"startTimeUnixNano"`
	Attributes []struct {
		Key   string `json:"key"`
		Value struct {
			String string `json:"stringValue"`
			Int    label  `json:"intValue"` // a string, because JavaScript has no 64-bit integers
		} `json:"value"`
	} `json:"attributes"`
}

// spanRecords returns the model calls among the spans of a line. It ignores agent spans,
// because their tokens are those of the model calls inside.
func (o *object) spanRecords() ([]Record, error) {
	var out []Record
	for _, resource := range o.Spans {
		for _, scope := range resource.Scopes {
			for i := range scope.Spans {
				r, ok, err := scope.Spans[i].record()
				if err != nil {
					return nil, fmt.Errorf("span %d: %w", i+1, err)
				}
				if ok {
					out = append(out, r)
				}
			}
		}
	}
	return out, nil
}

// record converts a span that follows the semantic conventions for generative AI.
func (s *span) record() (r Record, ok bool, err error) {
	var t Turn
	operation := "chat"
	for _, a := range s.Attributes {
		switch a.Key {
		case "gen_ai.operation.name":
			operation = a.Value.String
		case "gen_ai.conversation.id":
			r.Session = a.Value.String
		case "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens":
			ok = true
			t.Prompt, err = parseTokens(a.Key, string(a.Value.Int))
			t.Prompt = max(t.Prompt, 1)
		case "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens":
			t.Output, err = parseTokens(a.Key, string(a.Value.Int))
		case "gen_ai.input.messages":
			t.Messages = parseMessages(a.Value.String)
		}
		if err != nil {
			return r, false, err
		}
	}
	if !ok || !slices.Contains([]string{"chat", "text_completion", "generate_content"}, operation) {
		return r, false, nil
	}
	ns, err := strconv.ParseInt(s.Start, 10, 64)
	if err != nil || ns < 0 {
		return r, false, fmt.Errorf("startTimeUnixNano is %.20q; write nanoseconds since 1970", s.Start)
	}
	r.At, r.timed, r.Turns = time.Duration(ns), true, []Turn{t}
	return r, true, nil
}

// parseMessages parses the messages of a call. It returns nil if they are not plain texts that
// end with a user message; the lengths then describe the call better.
func parseMessages(text string) (out []Message) {
	var all []struct {
		Role  string
		Parts Text
	}
	if json.Unmarshal([]byte(text), &all) != nil || len(all) == 0 || all[len(all)-1].Role != "user" {
		return nil
	}
	for _, m := range all {
		if !slices.Contains([]string{"system", "user", "assistant"}, m.Role) || m.Parts == "" {
			return nil
		}
		out = append(out, Message{Role: m.Role, Content: m.Parts})
	}
	return out
}
