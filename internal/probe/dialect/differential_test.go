package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
)

// object is an object decoded by encoding/json. Its methods read members like the scanner.
type object map[string]any

func (o object) object(name string) object {
	m, _ := o[name].(map[string]any)
	return m
}

func (o object) list(name string) []any {
	l, _ := o[name].([]any)
	return l
}

func (o object) text(name string) string {
	s, _ := o[name].(string)
	return s
}

func (o object) count(name string) (int, bool) {
	lit, _ := o[name].(json.Number)
	v, err := strconv.ParseFloat(string(lit), 64)
	whole := err == nil && lit[0] != '-' && v <= 1<<53 && v == float64(int(v))
	if !whole {
		return 0, false
	}
	return int(v), true
}

func (o object) tool() bool {
	for _, name := range []string{"id", "name", "arguments", "input"} {
		if o.text(name) != "" {
			return true
		}
	}
	for _, name := range []string{"function", "custom"} {
		if o[name] != nil && o.object(name).tool() {
			return true
		}
	}
	return false
}

// reference classifies an event with encoding/json. answer is the index of the choice that counts, negative
// before the first one came.
func reference(data []byte, answer *int) (seen, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var o object
	if !json.Valid(data) || d.Decode(&o) != nil || o == nil {
		return seen{Kind: Malformed}, true
	}
	var s seen
	found, failed := false, false
	for position, c := range o.list("choices") {
		choice, _ := c.(map[string]any)
		index, ok := object(choice).count("index")
		if !ok {
			index = position
		}
		if *answer < 0 {
			*answer = index
		}
		failed = failed || isFault(choice["error"])
		s.addUsage(object(choice).object("usage"))
		if index == *answer && !found {
			found = true
			referenceChoice(&s, choice)
		}
	}
	s.addUsage(o.object("usage"))
	s.addUsage(o.object("x_groq").object("usage"))
	if failed || isFault(o["error"]) || o.text("object") == "error" || slices.ContainsFunc(o.list("errors"), isFault) {
		s.Kind = Error
	}
	return s, false
}

func referenceChoice(s *seen, choice object) {
	delta := choice.object("delta")
	refusal := delta.text("refusal")
	s.Content = delta.text("content")
	thinking := ""
	for _, e := range delta.list("content") {
		part, _ := e.(map[string]any)
		if text, ok := e.(string); ok {
			s.Content += text
		}
		s.Content += object(part).text("text")
		refusal += object(part).text("refusal")
		thinking += parts(part["thinking"], maxParts)
	}
	s.Content = cmp.Or(s.Content, delta.object("audio").text("transcript"))
	for _, name := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
		s.Reasoning = cmp.Or(s.Reasoning, parts(delta[name], maxParts))
	}
	s.Reasoning = cmp.Or(s.Reasoning, thinking)
	s.Tool = delta.object("function_call").tool()
	for _, call := range delta.list("tool_calls") {
		o, _ := call.(map[string]any)
		s.Tool = s.Tool || object(o).tool()
	}
	s.Finish = FinishReason(choice.text("finish_reason"))
	if s.Content != "" || s.Reasoning != "" || s.Tool || refusal != "" {
		s.Kind = Token
	}
}

// largest returns the largest of the counts with these names.
func (o object) largest(names ...string) (largest int, ok bool) {
	for _, name := range names {
		n, known := o.count(name)
		largest, ok = max(largest, n), ok || known
	}
	return largest, ok
}

// isFault reports whether a value describes an error. Empty ones do not, nor do lists of them.
func isFault(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return e == nil || e == false || e == "" || isFault(e) })
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// addUsage takes the first usage as it is.
func (s *seen) addUsage(o object) {
	if s.Usage == (Usage{}) {
		s.Usage = referenceUsage(o)
	} else {
		s.Usage.Add(referenceUsage(o))
	}
}

func referenceUsage(o object) (u Usage) {
	var prompt, output, ok bool
	u.PromptTokens, prompt = o.largest("prompt_tokens", "input_tokens")
	u.OutputTokens, output = o.largest("completion_tokens", "output_tokens")
	if !prompt && !output {
		return Usage{}
	}
	u.CachedTokens, u.CachedKnown = o.largest("prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens", "num_cached_tokens")
	u.ReasoningTokens, u.ReasoningKnown = o.largest("reasoning_tokens")
	for _, side := range []string{"prompt", "input"} {
		n, known := o.object(side + "_tokens_details").count("cached_tokens")
		u.CachedTokens, u.CachedKnown = max(u.CachedTokens, n), u.CachedKnown || known
	}
	for _, side := range []string{"completion", "output"} {
		n, known := o.object(side + "_tokens_details").count("reasoning_tokens")
		u.ReasoningTokens, u.ReasoningKnown = max(u.ReasoningTokens, n), u.ReasoningKnown || known
	}
	var total int
	if total, ok = o.count("total_tokens"); ok && output && u.ReasoningTokens > 0 && total == u.PromptTokens+u.OutputTokens+u.ReasoningTokens {
		u.OutputTokens += u.ReasoningTokens
	}
	return u
}

// parts returns the joined texts of a value or of its parts.
func parts(v any, depth int) (text string) {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, e := range v {
			if depth > 0 {
				text += parts(e, depth-1)
			}
		}
	case map[string]any:
		if depth > 0 {
			text = cmp.Or(parts(v["text"], depth-1), parts(v["summary"], depth-1))
		}
	}
	return text
}

// repeats reports whether an object has two members with the same name. The two decoders can differ in
// how they overwrite the first one.
func repeats(d *json.Decoder) bool {
	t, err := d.Token()
	if err == io.EOF {
		return false
	}
	open, isContainer := t.(json.Delim)
	if !isContainer {
		return false
	}
	names := map[any]bool{}
	for d.More() {
		if open == '{' {
			name, _ := d.Token()
			if names[name] {
				return true
			}
			names[name] = true
		}
		if repeats(d) {
			return true
		}
	}
	d.Token()
	return false
}

// agree compares a decoder with encoding/json.
func agree(t *testing.T, data []byte, d *chatDecoder) {
	t.Helper()
	answer := -1
	if d.indexKnown {
		answer = d.index
	}
	want, malformed := reference(data, &answer)
	var ev Event
	classify(&ev, bytes.Clone(data), false, d)
	if malformed != (ev.Kind == Malformed) {
		t.Fatalf("%.200q: kind %v, encoding/json says malformed: %v", data, ev.Kind, malformed)
	}
	if malformed || !utf8.Valid(data) || repeats(json.NewDecoder(bytes.NewReader(data))) {
		return
	}
	got := seen{Kind: ev.Kind, Content: string(ev.Content), Reasoning: string(ev.Reasoning), Tool: ev.ToolCalls != nil, Finish: ev.FinishReason}
	if ev.HasUsage {
		got.Usage = ev.Usage
	}
	if len(want.Finish) > maxMessage {
		want.Finish = clip([]byte(want.Finish))
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("%.200q (-encoding/json +scan):\n%s", data, diff)
	}
}

// FuzzScan compares the scanner with encoding/json for any text.
func FuzzScan(f *testing.F) {
	for _, s := range scanSeeds() {
		f.Add([]byte(s), []byte(strings.Replace(s, "a", "b", 1)))
	}
	f.Add([]byte(`{"choices":[{"index":1}`), []byte(`{"choices":[{"delta":{"content":"0"}}]}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := &chatDecoder{}
		for _, data := range [][]byte{first, second, first} {
			if name := strings.Trim(string(data), " \t\r\n"); name != "" && name != "[DONE]" {
				agree(t, data, d)
			}
		}
	})
}

func scanSeeds() []string {
	payload := strings.TrimPrefix(strings.TrimSpace(typical), "data: ")
	return []string{
		payload,
		delta0(`{"role":"assistant","content":null,"tool_calls":[{"id":"","function":{"name":"f","arguments":"{\"a\":1}"}}]}`),
		delta0(`{"reasoning":"\u00e9\ud83d\ude00\ud83d","reasoning_content":"","refusal":null,"function_call":{"name":"f"}}`),
		`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5.0,"prompt_tokens_details":{"cached_tokens":8e0},"completion_tokens_details":{"reasoning_tokens":-0}}}`,
		`{"usage":{"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":1.10}}}`,
		`{"object":"error","message":"m","error":null}`,
		`{"error":{"message":"boom","deep":[[{"a":[true,false,null,1.5e-7]}]]}}`,
		" {\"a\\u0062\" : \"\\/\\\\\" ,\t\"choices\": [ { \"finish_reason\" : \"length\" } , 0 ] }\r\n",
		`{"a":1,}`, `[1,2]`, `"x"`, `{"a":"` + "\x01" + `"}`, `{"a":01}`, `{"a":tru}`, "{\"a\":\"\xff\"}",
	}
}

func TestScanAgreesWithEncodingJSON(t *testing.T) {
	seeds := scanSeeds()
	d := &chatDecoder{}
	for _, s := range seeds {
		agree(t, []byte(s), d)
		for i := range s { // cut the text at each byte, and damage each byte
			if cut := strings.TrimSpace(s[:i]); cut != "" {
				agree(t, []byte(cut), d)
			}
			for _, c := range []byte{'"', '\\', '}', '0', ' ', 'n'} {
				damaged := []byte(s)
				damaged[i] = c
				agree(t, damaged, d)
			}
		}
	}
}
