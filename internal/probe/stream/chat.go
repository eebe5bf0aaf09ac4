package stream

import (
	"bytes"

	"synthetic/internal/probe/stream/jsonscan"
)

// chat decodes streamed completions and chat completions.
type chat struct {
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

// NewChat returns the Decoder of streamed completions and chat completions.
func NewChat() Decoder { return &chat{} }

func (d *chat) Decode(ev *Event, data []byte, isError bool) bool {
	var c chunk
	if !c.scan(data, d) {
		return false
	}
	if c.hasChoice && !d.indexKnown {
		d.index, d.indexKnown = c.answer, true
	}
	if len(c.model.Raw) > 0 && !d.hasModel {
		ev.Model, d.hasModel = clip(c.model.Clone().Decode()), true
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
	texts := len(d.content.Raw) + len(d.refusal.Raw) + len(d.transcript.Raw) + len(d.legacy.Raw) +
		len(d.reasoningContent.Raw) + len(d.reasoning.Raw) + len(d.details.Raw) + len(d.thinking.Raw)
	return texts == 0 && !d.hasTools && !d.hasFunction
}

// scan returns false if data is not one valid JSON object.
func (c *chunk) scan(data []byte, d *chat) bool {
	s := jsonscan.New(data)
	c.answer = d.index
	switch {
	case len(d.prefix) > 0 && bytes.HasPrefix(data, d.prefix):
		s = jsonscan.NewAt(data, len(d.prefix))
		c.readChoices(&s, d)
	case s.Peek() == '{':
		s.Enter()
	default:
		return false
	}
	for s.Another('}') {
		name := s.Key()
		if string(name) == "choices" && !s.Bad() && len(s.Scanned()) <= maxPrefix && c.blank() {
			d.prefix = append(d.prefix[:0], s.Scanned()...)
		}
		c.member(&s, name, d)
	}
	return s.Valid()
}

// maxPrefix bounds the length of a prefix in bytes.
const maxPrefix = 512

// blank reports whether the members before "choices" contained no information.
func (c *chunk) blank() bool {
	return !c.hasUsage && c.usage == Usage{} && c.fault.blank() && c.worker == ""
}

// readWorker reads {"worker_id": {"decode_worker_id": 1}}, which the frontend of NVIDIA Dynamo adds to
// one chunk if the request asks for it.
func (c *chunk) readWorker(s *jsonscan.Scanner) {
	for range s.Only("worker_id") {
		for range s.Only("decode_worker_id") {
			if next := s.Peek(); next == '-' || next-'0' <= 9 {
				c.worker = clip(s.Number())
			} else {
				s.Skip()
			}
		}
	}
}

// member reads the value of a top-level member. As in common JSON readers, the last one of repeated
// names counts.
func (c *chunk) member(s *jsonscan.Scanner, name []byte, d *chat) {
	switch string(name) {
	case "choices":
		c.choice, c.otherChoice = choice{}, false
		c.readChoices(s, d)
	case "usage":
		c.readUsage(s)
	case "x_groq":
		for range s.Only("usage") {
			c.readUsage(s)
		}
	case "model":
		c.model = s.Text()
	case "nvext":
		c.worker = ""
		c.readWorker(s)
	default:
		c.fault.memberOrSkip(s, name)
	}
}

func (c *chunk) readUsage(s *jsonscan.Scanner) {
	u, ok := readUsage(s)
	if c.hasUsage = c.hasUsage || ok; c.usage == (Usage{}) {
		c.usage = u // with its contradictions, which say something about the server
	} else if ok {
		c.usage.Add(u)
	}
}

func (c *chunk) readChoices(s *jsonscan.Scanner, d *chat) {
	for position := range s.Elements {
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

func (c *chunk) readFurtherChoice(s *jsonscan.Scanner, d *chat, position int) {
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
func (c *choice) read(s *jsonscan.Scanner, position int, calls *calls, whole *chunk) {
	c.index = position
	for name := range s.Members {
		switch string(name) {
		case "index":
			c.index = s.CountOr(c.index)
		case "delta":
			c.delta = delta{legacy: c.delta.legacy}
			c.delta.read(s, calls, &whole.fault)
		case "finish_reason":
			if s.Peek() == '{' { // SGLang's own: {"type": "stop", "matched": …}
				for range s.Only("type") {
					c.finish = s.Text()
				}
				continue
			}
			c.finish = s.Text()
		case "error": // OpenRouter
			whole.fault.read(s)
		case "usage": // Moonshot
			whole.readUsage(s)
		case "text":
			c.delta.legacy = s.Text()
		default:
			s.Skip()
		}
	}
}

// read reads the fields that hold tokens, with the servers that send the less usual ones.
func (d *delta) read(s *jsonscan.Scanner, calls *calls, fault *fault) {
	for name := range s.Members {
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
			d.refusal = s.Text()
		case "audio":
			for range s.Only("transcript") {
				d.transcript = s.Text()
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
			s.Skip()
		}
	}
}

// maxParts limits how deep texts lie in parts.
const maxParts = 4

// readContent reads a string, or a list of parts: Mistral's have {"type": "thinking", "thinking": […]} and
// {"type": "text", "text": …}.
func (d *delta) readContent(s *jsonscan.Scanner) {
	if s.Peek() != '[' {
		d.content = s.Text()
		return
	}
	d.content, d.thinking = text{}, text{}
	for range s.Elements {
		if s.Peek() == '"' {
			d.content = d.content.Append(s.Text())
			continue
		}
		for name := range s.Members {
			switch string(name) {
			case "text":
				d.content = d.content.Append(s.Text())
			case "thinking":
				d.thinking = d.thinking.Append(texts(s, maxParts))
			case "refusal":
				d.refusal = d.refusal.Append(s.Text())
			default:
				s.Skip()
			}
		}
	}
}

// texts consumes a value and returns its texts, joined: a string, or the parts of a list.
func texts(s *jsonscan.Scanner, depth int) (all text) {
	switch next := s.Peek(); {
	case next == '"':
		return s.Text()
	case next == '[' && depth > 0:
		for range s.Elements {
			all = all.Append(texts(s, depth-1))
		}
	case next == '{' && depth > 0:
		var summary text
		for name := range s.Members {
			switch string(name) {
			case "text":
				all = texts(s, depth-1)
			case "summary":
				summary = texts(s, depth-1)
			default:
				s.Skip()
			}
		}
		all = all.Or(summary)
	default:
		s.Skip()
	}
	return all
}

func (c *chunk) fill(ev *Event, data []byte, isError bool, calls *calls) {
	c.fault.fill(ev, data, isError) // before Decode, which overwrites data
	d := &c.choice.delta
	ev.Content = d.content.Or(d.transcript).Or(d.legacy).Decode()
	if ev.Reasoning = d.reasoningContent.Decode(); ev.Reasoning != nil {
		ev.ReasoningField = "reasoning_content"
	} else if ev.Reasoning = d.reasoning.Decode(); ev.Reasoning != nil {
		ev.ReasoningField = "reasoning"
	} else {
		ev.Reasoning = d.details.Or(d.thinking).Decode()
	}
	ev.Refusal = d.refusal.Decode()
	if d.hasTools || d.hasFunction {
		ev.ToolCalls = calls.decode()
	}
	ev.OtherChoice = c.otherChoice
	ev.markFinish(c.choice.finish.Decode())
	ev.Usage, ev.HasUsage = c.usage, c.hasUsage
	ev.markToken()
}
