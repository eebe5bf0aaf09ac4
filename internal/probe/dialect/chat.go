package dialect

import (
	"bytes"

	"synthetic/internal/probe/workload"
)

// chatBody returns the fields for OpenAI's /chat/completions, or Azure's.
func chatBody(t *Turn) fields {
	f := fields{
		"model": t.Model, "messages": convertAll(t.History, chatMessage),
		"stream": true, "stream_options": fields{"include_usage": true},
	}
	limit := maxTokens
	if t.leavesOut(limit) {
		limit = maxCompletionTokens
	}
	put(f, limit, t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	putAll(f, "tools", t.Spec.Tools, chatTool)
	addToolChoice(f, t, sameWord, func(name string) any {
		return fields{"type": "function", "function": fields{"name": name}}
	})
	if schema := t.Spec.ResponseSchema; schema != nil {
		f["response_format"] = fields{
			"type": "json_schema", "json_schema": fields{"name": schemaName, "strict": true, "schema": schema},
		}
	}
	return f
}

// chatMessage converts a message. It always contains content, which is null beside tool calls,
// because strict servers reject a message with neither.
func chatMessage(m *workload.Message) fields {
	out := fields{"role": m.Role, "content": nil}
	switch {
	case len(m.Images) > 0:
		parts := []fields{{"type": "text", "text": m.Content}}
		for _, i := range m.Images {
			parts = append(parts, fields{"type": "image_url", "image_url": fields{"url": i.URL()}})
		}
		out["content"] = parts
	case m.Content != "" || len(m.ToolCalls) == 0:
		out["content"] = m.Content
	}
	reasoningField := "reasoning_content"
	if m.ReasoningField == "reasoning" {
		reasoningField = m.ReasoningField
	}
	put(out, reasoningField, m.Reasoning)
	put(out, "tool_call_id", m.ToolCallID)
	putAll(out, "tool_calls", m.ToolCalls, func(c *workload.ToolCall) wrapped {
		return wrapped{c.ID, "function", toolCall{c.Name, c.Arguments}}
	})
	return out
}

// chatDecoder decodes streamed completions and chat completions.
type chatDecoder struct {
	// prefix is the beginning of the last chunk, up to the value of "choices". The chunks of a stream
	// repeat the same id, time and model. A prefix that was valid JSON without information is not
	// scanned again if the next chunk has the same one.
	prefix []byte
	// index is the index of the choice that is the answer, which is the first one that came. No
	// request asks for more than one.
	index      int
	indexKnown bool
	calls      calls
	// A stream repeats its model in each chunk; only the first one is decoded.
	hasModel bool
}

func newChat() Decoder { return &chatDecoder{} }

func (d *chatDecoder) Decode(ev *Event, data []byte, isError bool) bool {
	var c chunk
	if !c.scan(data, d) {
		return false
	}
	if c.hasChoice && !d.indexKnown {
		d.index, d.indexKnown = c.answer, true
	}
	if len(c.model.raw) > 0 && !d.hasModel {
		ev.Model, d.hasModel = clip(c.model.clone().decode()), true
	}
	ev.Worker = c.worker
	c.fill(ev, data, isError, &d.calls)
	return true
}

// chunk is the content of one event, with its strings still escaped.
type chunk struct {
	choice      choice
	otherChoice bool // another choice has a delta
	// answer is the index of the choice that is the answer.
	answer    int
	hasChoice bool
	usage     Usage
	hasUsage  bool
	fault     fault
	model     text
	worker    string // from the extension of NVIDIA Dynamo
}

// choice is the element of "choices" that is the answer.
type choice struct {
	index  int
	delta  delta
	finish text
}

// delta has the texts of an event. Several kinds of reasoning repeat the same text.
type delta struct {
	content, refusal, transcript, legacy           text
	reasoningContent, reasoning, details, thinking text
	// hasTools means tool_calls, hasFunction the older function_call.
	hasTools, hasFunction bool
}

func (d *delta) empty() bool {
	texts := len(d.content.raw) + len(d.refusal.raw) + len(d.transcript.raw) + len(d.legacy.raw) +
		len(d.reasoningContent.raw) + len(d.reasoning.raw) + len(d.details.raw) + len(d.thinking.raw)
	return texts == 0 && !d.hasTools && !d.hasFunction
}

// scan returns false if data is not one valid JSON object.
func (c *chunk) scan(data []byte, d *chatDecoder) bool {
	s := newScanner(data)
	c.answer = d.index
	switch {
	case len(d.prefix) > 0 && bytes.HasPrefix(data, d.prefix):
		s = scannerAt(data, len(d.prefix))
		c.readChoices(&s, d)
	case s.peek() == '{':
		s.enter()
	default:
		return false
	}
	for s.another('}') {
		name := s.key()
		if string(name) == "choices" && !s.bad && len(s.scanned()) <= maxPrefix && c.blank() {
			d.prefix = append(d.prefix[:0], s.scanned()...)
		}
		c.member(&s, name, d)
	}
	return s.valid()
}

// maxPrefix bounds the length of a prefix in bytes.
const maxPrefix = 512

// blank reports whether the members before "choices" contained no information.
func (c *chunk) blank() bool {
	return !c.hasUsage && c.usage == Usage{} && c.fault.blank() && c.worker == ""
}

// readWorker reads {"worker_id": {"decode_worker_id": 1}}, which the frontend of NVIDIA Dynamo adds to
// one chunk if the request asks for it.
func (c *chunk) readWorker(s *scanner) {
	for range s.only("worker_id") {
		for range s.only("decode_worker_id") {
			if next := s.peek(); next == '-' || next-'0' <= 9 {
				c.worker = clip(s.number())
			} else {
				s.skip()
			}
		}
	}
}

// member reads the value of a top-level member. As in common JSON readers, the last one of repeated
// names counts.
func (c *chunk) member(s *scanner, name []byte, d *chatDecoder) {
	switch string(name) {
	case "choices":
		c.choice, c.otherChoice = choice{}, false
		c.readChoices(s, d)
	case "usage":
		c.readUsage(s)
	case "x_groq":
		for range s.only("usage") {
			c.readUsage(s)
		}
	case "model":
		c.model = s.text()
	case "nvext":
		c.worker = ""
		c.readWorker(s)
	default:
		c.fault.memberOrSkip(s, name)
	}
}

func (c *chunk) readUsage(s *scanner) {
	u, ok := readUsage(s)
	if c.hasUsage = c.hasUsage || ok; c.usage == (Usage{}) {
		c.usage = u // with its contradictions, which say something about the server
	} else if ok {
		c.usage.Add(u)
	}
}

func (c *chunk) readChoices(s *scanner, d *chatDecoder) {
	for position := range s.elements {
		if position > 0 { // rare
			c.readFurtherChoice(s, d, position)
			continue
		}
		c.choice.read(s, 0, &d.calls, c)
		if !d.indexKnown && !c.hasChoice {
			c.answer = c.choice.index
		}
		c.hasChoice = true
		if c.choice.index != c.answer {
			c.otherChoice = !c.choice.delta.empty()
			c.choice = choice{index: noChoice}
		}
	}
}

const noChoice = -1

func (c *chunk) readFurtherChoice(s *scanner, d *chatDecoder, position int) {
	var further choice
	var itsCalls calls
	further.read(s, position, &itsCalls, c)
	if further.index == c.answer && c.choice.index == noChoice {
		c.choice, d.calls = further, itsCalls
		return
	}
	c.otherChoice = c.otherChoice || !further.delta.empty()
}

// read reads a choice, and its errors and usage into the whole chunk. Its position in the list is the default of its index.
func (c *choice) read(s *scanner, position int, calls *calls, whole *chunk) {
	c.index = position
	for name := range s.members {
		switch string(name) {
		case "index":
			c.index = s.countOr(c.index)
		case "delta":
			c.delta = delta{legacy: c.delta.legacy}
			c.delta.read(s, calls, &whole.fault)
		case "finish_reason":
			if s.peek() == '{' { // SGLang's own: {"type": "stop", "matched": …}
				for range s.only("type") {
					c.finish = s.text()
				}
				continue
			}
			c.finish = s.text()
		case "error": // OpenRouter
			whole.fault.read(s)
		case "usage": // Moonshot
			whole.readUsage(s)
		case "text":
			c.delta.legacy = s.text()
		default:
			s.skip()
		}
	}
}

// read reads the fields that hold tokens, with the servers that send the less usual ones.
func (d *delta) read(s *scanner, calls *calls, fault *fault) {
	for name := range s.members {
		switch string(name) {
		case "content":
			d.readContent(s)
		case "reasoning_content": // DeepSeek, SGLang, vLLM before 0.11
			d.reasoningContent = texts(s, maxParts)
		case "reasoning": // vLLM, OpenRouter, Groq
			d.reasoning = texts(s, maxParts)
		case "reasoning_details": // MiniMax; OpenRouter, beside reasoning
			d.details = texts(s, maxParts)
		case "refusal":
			d.refusal = s.text()
		case "audio":
			for range s.only("transcript") {
				d.transcript = s.text()
			}
		case "tool_calls":
			calls.reset()
			d.hasTools = calls.readAll(s)
		case "function_call":
			if !d.hasTools {
				calls.reset()
			}
			d.hasFunction = calls.read(s, 0)
		case "error":
			fault.read(s)
		default:
			s.skip()
		}
	}
}

// maxParts limits how deep texts lie in parts.
const maxParts = 4

// readContent reads a string, or a list of parts: Mistral's have {"type": "thinking", "thinking": […]} and
// {"type": "text", "text": …}.
func (d *delta) readContent(s *scanner) {
	if s.peek() != '[' {
		d.content = s.text()
		return
	}
	d.content, d.thinking = text{}, text{}
	for range s.elements {
		if s.peek() == '"' {
			d.content = d.content.append(s.text())
			continue
		}
		for name := range s.members {
			switch string(name) {
			case "text":
				d.content = d.content.append(s.text())
			case "thinking":
				d.thinking = d.thinking.append(texts(s, maxParts))
			case "refusal":
				d.refusal = d.refusal.append(s.text())
			default:
				s.skip()
			}
		}
	}
}

// texts consumes a value and returns its texts, joined: a string, or the parts of a list.
func texts(s *scanner, depth int) (all text) {
	switch next := s.peek(); {
	case next == '"':
		return s.text()
	case next == '[' && depth > 0:
		for range s.elements {
			all = all.append(texts(s, depth-1))
		}
	case next == '{' && depth > 0:
		var summary text
		for name := range s.members {
			switch string(name) {
			case "text":
				all = texts(s, depth-1)
			case "summary":
				summary = texts(s, depth-1)
			default:
				s.skip()
			}
		}
		all = all.or(summary)
	default:
		s.skip()
	}
	return all
}

func (c *chunk) fill(ev *Event, data []byte, isError bool, calls *calls) {
	c.fault.fill(ev, data, isError) // before Decode, which overwrites data
	d := &c.choice.delta
	ev.Content = d.content.or(d.transcript).or(d.legacy).decode()
	if ev.Reasoning = d.reasoningContent.decode(); ev.Reasoning != nil {
		ev.ReasoningField = "reasoning_content"
	} else if ev.Reasoning = d.reasoning.decode(); ev.Reasoning != nil {
		ev.ReasoningField = "reasoning"
	} else {
		ev.Reasoning = d.details.or(d.thinking).decode()
	}
	ev.Refusal = d.refusal.decode()
	if d.hasTools || d.hasFunction {
		ev.ToolCalls = calls.decode()
	}
	ev.OtherChoice = c.otherChoice
	ev.markFinish(c.choice.finish.decode())
	ev.Usage, ev.HasUsage = c.usage, c.hasUsage
	ev.markToken()
}
