package trace

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// spanSession is a session of OpenTelemetry spans in one object, as Exgentic publishes them and
// inference-perf replays them. Each call of a model has its whole prompt.
type spanSession struct {
	graph
	found bool
}

// genaiSpan is a span with its attributes by name.
type genaiSpan struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Start  string `json:"start_time"`
	End    string `json:"end_time"`
	Status struct {
		Code label `json:"code"`
	} `json:"status"`
	Attributes struct {
		Operation    string          `json:"gen_ai.operation.name"`
		Input        *int            `json:"gen_ai.usage.input_tokens"`
		Prompt       *int            `json:"gen_ai.usage.prompt_tokens"`
		Output       int             `json:"gen_ai.usage.output_tokens"`
		Completion   int             `json:"gen_ai.usage.completion_tokens"`
		Messages     json.RawMessage `json:"gen_ai.input.messages"`
		Instructions json.RawMessage `json:"gen_ai.system_instructions"`
		Tools        json.RawMessage `json:"gen_ai.tool.definitions"`
	} `json:"attributes"`
}

// isCall reports whether the span is a successful call of a model.
func (s *genaiSpan) isCall() bool {
	named := s.Type == "" && (s.Attributes.Operation == "chat" || strings.HasPrefix(s.Name, "chat "))
	return (s.Type == "llm_call" || named) && s.Status.Code != "2" && s.Status.Code != "STATUS_CODE_ERROR"
}

func (g *spanSession) read(s *sessionReader) error {
	if g.agents == nil {
		g.addAgent(-1)
	}
	var span genaiSpan
	if err := s.decode(&span); err != nil || !span.isCall() {
		return err
	}
	turn, err := span.turn()
	if err != nil || turn.Prompt == 0 && len(turn.Messages) == 0 {
		return err
	}
	next := step{turn: turn}
	if next.start, err = parseTime("start_time", span.Start, time.Second); err != nil {
		return fmt.Errorf("start_time: %w", err)
	}
	if next.end, err = parseTime("end_time", span.End, time.Second); err != nil {
		return fmt.Errorf("end_time: %w", err)
	}
	if next.end < next.start {
		return fmt.Errorf("end_time %.40q is before start_time; correct one of them", span.End)
	}
	g.add(next)
	return g.fits()
}

// finish orders the spans by start and removes those that were exported twice.
func (g *spanSession) finish() {
	type times struct{ start, end time.Duration }
	seen := map[times]int{}
	kept := graph{}
	kept.addAgent(-1)
	for _, i := range g.order() {
		s := g.steps[i]
		s.turn.Messages, s.turn.Base, s.turn.Shared = g.messages(i), 0, 0
		at := times{s.start, s.end}
		if k, known := seen[at]; known && sameMessages(kept.messages(k), s.turn.Messages) {
			continue
		}
		seen[at] = len(kept.steps)
		kept.add(s)
	}
	g.graph = kept
}

func sameMessages(a, b []Message) bool { return len(a) == len(b) && sharedPrefix(a, b) == len(a) }

func (s *genaiSpan) turn() (t Turn, err error) {
	a := &s.Attributes
	for key, n := range map[string]*int{"gen_ai.usage.input_tokens": a.Input, "gen_ai.usage.prompt_tokens": a.Prompt} {
		if n != nil && (*n < 0 || *n > maxTokens) {
			return t, tokensError(key, fmt.Sprint(*n))
		}
		if n != nil {
			t.Prompt = max(t.Prompt, *n)
		}
	}
	if t.Output = max(a.Output, a.Completion); t.Output > maxTokens {
		return t, tokensError("gen_ai.usage.output_tokens", fmt.Sprint(t.Output))
	}
	t.Output = max(t.Output, 0)
	all, err := genaiMessages(a.Messages)
	if err != nil {
		return t, fmt.Errorf("gen_ai.input.messages: %w", err)
	}
	instructions := unquote(a.Instructions)
	if list, err := genaiText(instructions); err == nil {
		instructions = []byte(list)
	}
	for _, text := range [][]byte{instructions, unquote(a.Tools)} {
		t.Messages = appendMessage(t.Messages, "system", string(text))
	}
	for _, m := range all {
		t.Messages = appendMessage(t.Messages, m.Role, string(m.Content))
	}
	if n := len(t.Messages); n > 0 && t.Messages[n-1].Role != "user" && len(all) > 0 {
		t.Messages = appendMessage(t.Messages, "user", "Please go on.")
	}
	if len(all) == 0 {
		t.Messages = nil
	}
	return t, nil
}

// appendMessage adds a text to the last message if that has the same role, because many chat templates
// reject two of the same role.
func appendMessage(all []Message, role, text string) []Message {
	if strings.TrimSpace(text) == "" {
		return all
	}
	if n := len(all); n > 0 && all[n-1].Role == role {
		all[n-1].Content += Text("\n\n" + text)
		return all
	}
	return append(all, Message{Role: role, Content: Text(text)})
}

// genaiMessage is a message in OpenAI's form or in that of the semantic conventions.
type genaiMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Parts   json.RawMessage `json:"parts"`
	Calls   []struct {
		Function genaiPart `json:"function"`
	} `json:"tool_calls"`
}

// genaiPart is a text, a call of a tool or its result.
type genaiPart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
}

// genaiMessages parses the messages of a call. Calls of tools become texts of the assistant, results of
// tools texts of the user, so that they need no tools in the request.
func genaiMessages(raw json.RawMessage) (out []Message, err error) {
	text := unquote(raw)
	if len(text) == 0 {
		return nil, nil
	}
	var all []genaiMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("it is no list of messages: %w", err)
	}
	for i := range all {
		m := &all[i]
		role := map[string]string{"system": "system", "developer": "system", "user": "user", "tool": "user", "function": "user", "assistant": "assistant", "model": "assistant"}[m.Role]
		if role == "" {
			return nil, fmt.Errorf("message %d has role %.20q; use system, user, assistant or tool", i+1, m.Role)
		}
		for _, field := range []json.RawMessage{m.Content, m.Parts} {
			text, err := genaiText(field)
			if err != nil {
				return nil, fmt.Errorf("message %d: %w", i+1, err)
			}
			out = appendMessage(out, role, text)
		}
		for _, c := range m.Calls {
			out = appendMessage(out, role, c.Function.call())
		}
	}
	return out, nil
}

func (p *genaiPart) call() string {
	return p.Name + "(" + string(unquote(p.Arguments)) + ")"
}

// genaiText returns the text of a string or of a list of parts.
func genaiText(raw json.RawMessage) (string, error) {
	var parts []genaiPart
	if len(raw) == 0 || raw[0] != '[' {
		return string(unquote(raw)), nil
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("it is no list of parts: %w", err)
	}
	var out []string
	for i := range parts {
		p := &parts[i]
		switch p.Type {
		case "text", "thinking", "reasoning", "":
			out = append(out, p.Text, p.Thinking, string(unquote(p.Content)))
		case "tool_call", "tool_use":
			out = append(out, p.call())
		case "tool_call_response", "tool_result":
			out = append(out, string(unquote(p.Result)), string(unquote(p.Content)))
		default:
			return "", fmt.Errorf("part %d has type %.20q; only texts and tools can be replayed", i+1, p.Type)
		}
	}
	return strings.Join(out, ""), nil
}

// unquote returns the content of a JSON string, other JSON unchanged, and nothing for null. raw is valid
// JSON.
func unquote(raw json.RawMessage) []byte {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] != '"' || json.Unmarshal(raw, &text) != nil:
		return raw
	}
	return []byte(text)
}
