package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"synthetic/internal/atomicfile"
)

const (
	// mooncakeBlock is the number of tokens of one block in hash_ids.
	mooncakeBlock = 512
	// maxTokens bounds the tokens of a prompt or answer.
	maxTokens = 2_000_000
)

// object is a record in any of the JSON formats.
type object struct {
	Input   *int            `json:"input_length"`
	Output  *int            `json:"output_length"`
	HashIDs []uint64        `json:"hash_ids"`
	Session json.RawMessage `json:"session_id"`
	dialogue
}

// parse parses a JSON object. unit and number describe its position for errors.
func parse(b []byte, o Options, unit string, number int) (Record, error) {
	r, err := parseObject(b, o)
	if err != nil {
		err = fmt.Errorf("%s %d: %w", unit, number, err)
	}
	return r, err
}

func parseObject(b []byte, opts Options) (Record, error) {
	var o object
	if err := json.Unmarshal(b, &o); err != nil {
		if u, ok := errors.AsType[unusable](err); ok {
			return Record{}, u
		}
		return Record{}, fmt.Errorf("not a JSON object with a record: %w; write one per line, or an array of them", atomicfile.InJSONTerms("it", err))
	}
	switch {
	case o.Input != nil && len(o.Session) > 0:
		return Record{}, errors.New("a turn of a session; write a session as one record with its messages, or remove session_id if input_length is the whole prompt")
	case o.Input != nil:
		return o.mooncake(opts)
	case o.Messages != nil || o.Conversations != nil:
		return o.dataset()
	}
	return Record{}, fmt.Errorf("%.60q is a record in an unknown format; docs/how-to/traces.md lists the supported ones", bytes.TrimSpace(b))
}

// mooncake parses a line of Mooncake.
func (o *object) mooncake(opts Options) (Record, error) {
	t := Turn{Blocks: o.HashIDs, BlockTokens: cmp.Or(opts.BlockTokens, mooncakeBlock)}
	for _, n := range []struct {
		name     string
		from, to *int
	}{{"input_length", o.Input, &t.Prompt}, {"output_length", o.Output, &t.Output}} {
		switch {
		case n.from == nil: // unknown
			continue
		case *n.from < 0 || *n.from > maxTokens:
			return Record{}, tokensError(n.name, strconv.Itoa(*n.from))
		case *n.from == 0:
			return Record{}, noTokens
		}
		*n.to = *n.from
	}
	return Record{Turns: []Turn{t}}, nil
}

// noTokens is the fault of a row of a failed request. It must not ask for an answer of the usual length.
const noTokens = unusable("a request or an answer of 0 tokens; remove the line")

// parseTokens parses a number of tokens. It accepts fractions, because some exports write them.
func parseTokens(name, text string) (int, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, noTokens
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= maxTokens) {
		return 0, tokensError(name, text)
	}
	return int(n), nil
}

func tokensError(name, text string) error {
	return fmt.Errorf("%s is %.20q; write 0 to %d tokens", name, text, maxTokens)
}

// dataset parses a conversation of a data set. Each user message is a turn.
func (o *object) dataset() (Record, error) {
	system, user, err := o.texts()
	if err != nil {
		return Record{}, err
	}
	var r Record
	for _, text := range user {
		r.Turns = append(r.Turns, Turn{Messages: []Message{{Role: "user", Content: Text(text)}}})
	}
	if first := &r.Turns[0]; system != "" {
		first.Messages = []Message{{Role: "system", Content: Text(system)}, first.Messages[0]}
	}
	return r, nil
}

// dialogue is a conversation in one of the formats of data sets.
type dialogue struct {
	Messages      []Message         `json:"messages"`      // OpenAI
	Conversations []shareGPTMessage `json:"conversations"` // ShareGPT
}

type shareGPTMessage struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

// texts returns the system message and the user messages. It drops assistant and tool messages, because the
// history contains the deployment's own answers.
func (d *dialogue) texts() (system string, user []string, err error) {
	add := func(list string, i int, field, role, text string) {
		switch role {
		case "user", "human":
			if strings.TrimSpace(text) == "" && err == nil {
				err = unusable(fmt.Sprintf("%s[%d]: the user message is empty; write its text or remove it", list, i))
			}
			user = append(user, text)
		case "system", "developer":
			system = text
		case "assistant", "gpt", "chatgpt", "bing", "bard", "tool", "function":
		default:
			unknown := unusable(fmt.Sprintf("%s[%d]: %s %q is unknown; use user, assistant or system (human, gpt or system in \"conversations\")",
				list, i, field, role))
			err = cmp.Or(err, error(unknown))
		}
	}
	for i, m := range d.Messages {
		add("messages", i, "role", m.Role, string(m.Content))
	}
	for i, m := range d.Conversations {
		add("conversations", i, "from", m.From, m.Value)
	}
	if len(user) == 0 && err == nil {
		err = unusable(`the conversation has no user message; add one to "messages" (or "conversations"), or remove the line`)
	}
	return system, user, err
}

// Text is the text of a message. In JSON it is a string, null, or a list of text parts.
type Text string

func (t *Text) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(t))
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder // a line can have 100,000 parts
	for _, p := range parts {
		if p.Type != "text" {
			return unusable(fmt.Sprintf("a content part has type %q; only \"text\" can be replayed", p.Type))
		}
		text.WriteString(p.Text)
	}
	*t = Text(text.String())
	return nil
}
