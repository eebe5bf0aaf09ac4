package simulate

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// streamEvent is a server-sent event or a line of JSON.
type streamEvent struct {
	name string
	raw  string
	data map[string]any // nil if raw is not JSON
}

// ask posts a body and returns the events of the stream. An error is one event.
func (c client) ask(t *testing.T, path, body string, header ...string) (status int, events []streamEvent) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, readAll(t, resp.Body)
}

// readAll reads events until the body ends.
func readAll(t *testing.T, body io.Reader) (all []streamEvent) {
	t.Helper()
	name := ""
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if next, ok := strings.CutPrefix(line, "event: "); ok {
			name = next
			continue
		}
		line = strings.TrimPrefix(line, "data: ")
		if line == "" {
			continue
		}
		e := streamEvent{name: name, raw: line}
		if line != "[DONE]" {
			if err := json.Unmarshal([]byte(line), &e.data); err != nil {
				t.Fatalf("event %q: %v", line, err)
			}
		}
		all, name = append(all, e), ""
	}
	return all
}

// at returns a value inside an event, nil if it is missing.
func (e streamEvent) at(path ...any) any {
	var v any = e.data
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

// text returns a string inside an event, "" if it is missing.
func (e streamEvent) text(path ...any) string {
	s, _ := e.at(path...).(string)
	return s
}

// number returns a number inside an event, -1 if it is missing.
func (e streamEvent) number(path ...any) int {
	if f, ok := e.at(path...).(float64); ok {
		return int(f)
	}
	return -1
}

// spoken describes the requests and the answers of an API.
type spoken struct {
	name, path string
	body       string // of a short question; %s stands for more fields
	stream     string // fields of a streamed request
	header     []string
	// Places of the parts of an answer in an event.
	content, reasoning     []any
	prompt, output, finish []any // in any event
	finished, cut          string
	// sequence lists the kinds of events in order. Equal neighbours count once.
	sequence string
}

func spokens() []spoken {
	choice := func(more ...any) []any { return append([]any{"choices", 0}, more...) }
	chat := spoken{
		name: "chat", path: "/v1/chat/completions",
		body:    `{"model":"simulated-chat","messages":[{"role":"user","content":"hi"}]%s}`,
		stream:  `,"stream":true,"stream_options":{"include_usage":true}`,
		content: choice("delta", "content"), reasoning: choice("delta", "reasoning"),
		prompt: []any{"usage", "prompt_tokens"}, output: []any{"usage", "completion_tokens"}, finish: choice("finish_reason"),
		finished: "stop", cut: "length", sequence: "chat.completion.chunk [DONE]",
	}
	azure := chat
	azure.name, azure.path = "azure", "/openai/deployments/simulated-chat/chat/completions?api-version=2024-10-21"
	azure.body = strings.Replace(chat.body, `"model":"simulated-chat",`, "", 1)
	azure.sequence = "filter chat.completion.chunk [DONE]"
	completions := chat
	completions.name, completions.path, completions.body = "completions", "/v1/completions", `{"model":"simulated-chat","prompt":"hi"%s}`
	completions.content, completions.reasoning, completions.sequence = choice("text"), nil, "text_completion [DONE]"
	return []spoken{chat, azure, completions, {
		name: "responses", path: "/v1/responses", body: `{"model":"simulated-chat","input":"hi"%s}`, stream: `,"stream":true`,
		content: []any{"delta"},
		prompt:  []any{"response", "usage", "input_tokens"}, output: []any{"response", "usage", "output_tokens"}, finish: []any{"response", "status"},
		finished: "completed", cut: "incomplete",
		sequence: "response.created response.in_progress " +
			"response.output_item.added response.reasoning_text.delta response.output_item.added response.output_text.delta response.completed",
	}, {
		name: "messages", path: "/v1/messages", body: `{"model":"simulated-chat","max_tokens":1000,"messages":[{"role":"user","content":"hi"}]%s}`,
		stream: `,"stream":true`, header: []string{"Anthropic-Version", "2023-06-01"},
		content: []any{"delta", "text"}, reasoning: []any{"delta", "thinking"},
		prompt: []any{"message", "usage", "input_tokens"}, output: []any{"usage", "output_tokens"}, finish: []any{"delta", "stop_reason"},
		finished: "end_turn", cut: "max_tokens",
		sequence: "message_start ping content_block_start content_block_delta content_block_stop " +
			"content_block_start content_block_delta content_block_stop message_delta message_stop",
	}}
}

// ask sends a streamed request with more fields.
func (d spoken) ask(t *testing.T, c client, more string) reply {
	t.Helper()
	status, events := c.ask(t, d.path, strings.Replace(d.body, "%s", more+d.stream, 1), d.header...)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %v", d.name, status, events)
	}
	return d.read(events)
}

// read extracts the parts of a streamed answer.
func (d spoken) read(events []streamEvent) reply {
	r := reply{usage: &usage{Prompt: -1, Completion: -1}}
	for _, e := range events {
		r.raw = append(r.raw, e.raw)
		if e.data == nil {
			continue
		}
		switch {
		case e.name == "response.reasoning_text.delta":
			r.reasoning += e.text("delta")
		case e.name == "" || strings.HasSuffix(e.name, "_text.delta") || e.name == "content_block_delta":
			r.content += e.text(d.content...)
			if d.reasoning != nil {
				r.reasoning += e.text(d.reasoning...)
			}
		}
		if finish := e.text(d.finish...); d.finish != nil && finish != "" && finish != "in_progress" {
			r.finish = finish
		}
		if n := e.number(d.prompt...); n >= 0 {
			r.usage.Prompt = n
		}
		if n := e.number(d.output...); n >= 0 {
			r.usage.Completion = n
		}
	}
	return r
}

// kinds lists the kinds of events. Equal neighbours count once.
func kinds(events []streamEvent) string {
	var all []string
	for _, e := range events {
		kind := e.name
		switch {
		case kind != "":
		case e.data == nil:
			kind = e.raw
		case e.data["prompt_filter_results"] != nil:
			kind = "filter"
		case e.text("object") != "":
			kind = e.text("object")
		default:
			kind = "line"
		}
		all = append(all, kind)
	}
	return strings.Join(slices.Compact(all), " ")
}

func TestEveryAPIStreamsTheSameAnswer(t *testing.T) {
	o := quick
	o.Reasoning = 0.25
	_, c := serve(t, o)
	for _, d := range spokens() {
		t.Run(d.name, func(t *testing.T) {
			_, events := c.ask(t, d.path, strings.Replace(d.body, "%s", d.stream, 1), d.header...)
			if got := kinds(events); got != d.sequence {
				t.Errorf("events\n%s, want\n%s", got, d.sequence)
			}
			got, want := d.read(events), spokens()[0].ask(t, c, "")
			plain := d.name == "completions" // a prompt without roles gets another text
			if (got.content != want.content || got.reasoning != want.reasoning) != plain {
				t.Errorf("%q, %q; a chat has %q, %q", got.reasoning, got.content, want.reasoning, want.content)
			}
			if plain && len(got.content) != len(want.reasoning+want.content) || got.finish != d.finished {
				t.Errorf("%q ends with %q, want %q", got.content, got.finish, d.finished)
			}
			prompt, output := 8, 8
			if plain {
				prompt = 1
			}
			if d.prompt == nil {
				prompt, output = -1, -1
			}
			if got.usage.Prompt != prompt || got.usage.Completion != output {
				t.Errorf("usage %+v, want %d and %d", *got.usage, prompt, output)
			}
		})
	}
}

func TestEveryAPILimitsTokens(t *testing.T) {
	_, c := serve(t, quick)
	for _, d := range spokens() {
		field := "max_tokens"
		if d.name == "responses" {
			field = "max_output_tokens"
		}
		d.body = strings.Replace(d.body, `"max_tokens":1000,`, "", 1)
		got := d.ask(t, c, `,"`+field+`":3`)
		if len(got.content) != 3*charsPerToken || got.finish != d.cut {
			t.Errorf("%s: %q ends with %q, want 3 tokens and %q", d.name, got.content, got.finish, d.cut)
		}
	}
}

func TestEveryAPIReportsErrors(t *testing.T) {
	d, c := serve(t, quick)
	errorForm := map[string]func(streamEvent) string{
		"messages": func(e streamEvent) string {
			if e.text("type") != "error" || e.text("error", "type") == "" {
				return ""
			}
			return e.text("error", "message")
		},
	}
	for _, a := range spokens() {
		form := errorForm[a.name]
		if form == nil {
			form = func(e streamEvent) string { return e.text("error", "message") }
		}
		body := strings.Replace(a.body, "%s", a.stream, 1)
		path, other := a.path, strings.Replace(body, "simulated-chat", "unknown", 1)
		if a.name == "azure" { // the model is in the path
			path = strings.Replace(path, "simulated-chat", "unknown", 1)
		}
		for _, test := range []struct {
			name, path, body string
			status           int
			want             string
		}{
			{"unknown model", path, other, 404, "`unknown` does not exist"},
			{"invalid JSON", a.path, "{", 400, "not valid"},
			{"fault", a.path, body, 500, "simulated fault"},
		} {
			d.Update(func(o *Options) { o.Incidents = nil })
			if test.name == "fault" {
				d.Update(func(o *Options) { o.Incidents = []Incident{{Kind: ErrorStatus, Share: 1}} })
			}
			status, got := c.ask(t, test.path, test.body, a.header...)
			if status != test.status || len(got) != 1 || !strings.Contains(form(got[0]), test.want) {
				t.Errorf("%s, %s: %d %v, want %d with %q", a.name, test.name, status, got, test.status, test.want)
			}
		}
		d.Update(func(o *Options) { o.Incidents = []Incident{{Kind: ErrorEvent, Share: 1}} })
		status, got := c.ask(t, a.path, body, a.header...)
		reported := slices.ContainsFunc(got, func(e streamEvent) bool {
			return strings.Contains(form(e)+e.text("response", "error", "message"), "simulated fault")
		})
		if status != 200 || !reported || a.read(got).finish == a.finished && a.finish != nil {
			t.Errorf("%s: error in mid-stream: %d %v", a.name, status, got)
		}
	}
}

// TestAPIsShareTheCache checks that the same prompt is cached in every API, with the same counts.
func TestAPIsShareTheCache(t *testing.T) {
	_, c := serve(t, quick)
	long := strings.Repeat("long opening ", 40)
	ask := func(path, field string, usage ...any) streamEvent {
		body := `{"model":"simulated-chat","stream":true,"stream_options":{"include_usage":true},"max_tokens":4,"` + field + `":[{"role":"user","content":"` + long + `"}]}`
		_, got := c.ask(t, path, body)
		for _, e := range got {
			if e.data != nil && e.at(usage...) != nil {
				return streamEvent{data: e.at(usage...).(map[string]any)}
			}
		}
		return streamEvent{}
	}
	total, previous := ask("/v1/chat/completions", "messages", "usage").number("prompt_tokens"), 0
	for _, get := range []func() (uncached, cached int){
		func() (int, int) {
			e := ask("/v1/messages", "messages", "message", "usage")
			return e.number("input_tokens"), e.number("cache_read_input_tokens")
		},
		func() (int, int) {
			e := ask("/v1/responses", "input", "response", "usage")
			cached := e.number("input_tokens_details", "cached_tokens")
			return e.number("input_tokens") - cached, cached
		},
	} {
		uncached, cached := get()
		if uncached+cached != total || cached == 0 || previous != 0 && cached != previous {
			t.Errorf("%d uncached and %d cached tokens of %d", uncached, cached, total)
		}
		previous = cached
	}
}
