package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Dialogue is what the user says in a recorded conversation. Assistant and tool
// messages are left out, because the answers that the deployment really gives go
// into the history.
type Dialogue struct {
	System string
	User   []string
}

// dialogue is a conversation in one of the forms that data sets have.
type dialogue struct {
	Messages      []Message `json:"messages"`      // OpenAI's
	Conversations []said    `json:"conversations"` // ShareGPT's
	Conversation  []Message `json:"conversation"`  // LMSYS'
}

type said struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

// ParseDialogue reads an object with "messages" or "conversation" (role, content),
// or "conversations" (from, value). Its errors have the place in the object and
// the remedy.
func ParseDialogue(b []byte) (Dialogue, error) {
	if b[0] == '[' {
		return Dialogue{}, errors.New(`the line is a JSON array; write one conversation object per line (jq -c '.[]' does it)`)
	}
	var d dialogue
	if err := json.Unmarshal(b, &d); err != nil {
		return Dialogue{}, fmt.Errorf("not a JSON object of a conversation: %w; write one per line", err)
	}
	return d.users()
}

// users takes the user's part.
func (d *dialogue) users() (Dialogue, error) {
	var out Dialogue
	for _, list := range []struct {
		name string
		all  []Message
	}{{"messages", d.Messages}, {"conversation", d.Conversation}} {
		for i, m := range list.all {
			if err := out.add("role", m.Role, string(m.Content)); err != nil {
				return Dialogue{}, fmt.Errorf("%s[%d]: %w", list.name, i, err)
			}
		}
	}
	for i, m := range d.Conversations {
		if err := out.add("from", m.From, m.Value); err != nil {
			return Dialogue{}, fmt.Errorf("conversations[%d]: %w", i, err)
		}
	}
	if len(out.User) == 0 {
		return Dialogue{}, errors.New(`the conversation has no user message; add one to "messages" (or "conversations"), or remove the line`)
	}
	return out, nil
}

// add takes in one message, by the roles that all forms use.
func (d *Dialogue) add(field, role, text string) error {
	switch role {
	case "user", "human":
		if strings.TrimSpace(text) == "" {
			return errors.New("the user message is empty; write its text or remove it")
		}
		d.User = append(d.User, text)
	case "system", "developer":
		d.System = text
	case "assistant", "gpt", "tool", "function":
	default:
		return fmt.Errorf("%s %q is unknown; use user, assistant or system (human, gpt or system in \"conversations\")", field, role)
	}
	return nil
}

// Text is a message's text: in JSON a string, null, or a list of text parts.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(t))
	}
	var parts []struct{ Type, Text, Content string }
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder // a line can hold some 100,000 parts
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("a content part has type %q; only \"text\" can be replayed", p.Type)
		}
		text.WriteString(p.Text)
		text.WriteString(p.Content) // as OpenTelemetry calls it
	}
	*t = Text(text.String())
	return nil
}
