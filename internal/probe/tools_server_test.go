package probe_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// request is the part of a request that the servers of these tests read.
type request struct {
	Stream   bool `json:"stream"`
	Messages []struct {
		Role             string  `json:"role"`
		Content          *string `json:"content"`
		Reasoning        string  `json:"reasoning,omitempty"`
		ReasoningContent string  `json:"reasoning_content,omitempty"`
		ToolCallID       string  `json:"tool_call_id"`
		ToolCalls        []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	} `json:"messages"`
	MaxTokens           int              `json:"max_tokens"`
	MaxCompletionTokens int              `json:"max_completion_tokens"`
	ReasoningEffort     string           `json:"reasoning_effort"`
	ChatTemplate        any              `json:"chat_template_kwargs"`
	Tools               []map[string]any `json:"tools"`
	ToolChoice          any              `json:"tool_choice"`
	ResponseFormat      any              `json:"response_format"`
}

// strict returns why llama.cpp, OpenAI or the chat templates of vLLM would reject the request; "" if they accept it.
func (a request) strict() string {
	var open []string
	before := ""
	for i, m := range a.Messages {
		said := m.Content != nil && strings.TrimSpace(*m.Content) != ""
		switch {
		case m.Role == "tool":
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return fmt.Sprintf("message %d: no call has the id %q", i, m.ToolCallID)
			}
			open, before = slices.Delete(open, at, at+1), m.Role
			continue
		case len(open) > 0:
			return fmt.Sprintf("message %d: the calls %q have no result", i, open)
		case !said && len(m.ToolCalls) == 0:
			return fmt.Sprintf("message %d: must contain either 'content' or 'tool_calls'", i)
		case m.Role == before:
			return "conversation roles must alternate user/assistant/user/assistant/..."
		}
		before = m.Role
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("the calls %q have no result", open)
	}
	return ""
}

// caller is a strict server over real TCP. It answers a request with events, or with an answer in
// one piece.
type caller struct {
	addr string
	mu   sync.Mutex
	seen []request
}

// serve starts a server that answers request n with answer(n, request). An error object is a
// rejection.
func serve(t *testing.T, answer func(n int, a request) []string) *caller {
	t.Helper()
	c := &caller{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a request
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &a); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, a)
		n := len(c.seen)
		if why := a.strict(); why != "" {
			http.Error(w, rejection(why), http.StatusBadRequest)
			return
		}
		events := answer(n, a)
		if strings.HasPrefix(events[0], `{"error"`) {
			http.Error(w, events[0], http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[a.Stream])
		for _, event := range events {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	c.addr = strings.TrimPrefix(server.URL, "http://")
	return c
}

// rejection returns an error object.
func rejection(why string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, why)
}

// requests returns the requests so far.
func (c *caller) requests() []request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// delta returns an event with fields of the message, given as JSON.
func delta(fields string) string {
	return `data: {"choices":[{"index":0,"delta":{` + fields + `}}]}` + "\n\n"
}

// text returns an event with content.
func text(s string) string { return delta(`"content":` + quoted(s)) }

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// begin and more return events of a call: its begin, and a piece of its arguments.
func begin(index int, id, name, arguments string) string {
	return delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]`, index, id, name, quoted(arguments)))
}

func more(index int, arguments string) string {
	return delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, index, quoted(arguments)))
}

// ended returns the end of a stream with a finish reason.
func ended(reason string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n" + done
}

// toolOptions returns options for an address, with two tools.
func toolOptions(addr string) probe.Options {
	o := options(addr)
	o.Workload.Tools = []workload.Tool{
		{Name: "get_weather", Description: "The weather.", Result: `{"celsius": 21}`, Parameters: map[string]any{
			"type": "object", "required": []any{"city"}, "properties": map[string]any{"city": map[string]any{"type": "string"}},
		}},
		{Name: "get_time", Result: "12:00", Parameters: map[string]any{"type": "object"}},
	}
	return o
}
