package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Dialogue holds the user's side of a recorded conversation. Assistant and tool messages are
// dropped, because the history contains the deployment's own answers.
type Dialogue struct {
	System string
	User   []string
}

// dialogue is a conversation in one of the formats of data sets.
type dialogue struct {
	Messages      []Message         `json:"messages"`      // OpenAI
	Conversations []shareGPTMessage `json:"conversations"` // ShareGPT
	Conversation  []Message         `json:"conversation"`  // LMSYS
}

type shareGPTMessage struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

// ParseDialogue parses an object with "messages" or "conversation" (role, content), or
// "conversations" (from, value). Its errors name the position in the object and the remedy.
func ParseDialogue(b []byte) (Dialogue, error) {
	if b[0] == '[' {
		return Dialogue{}, errors.New(`the line is a JSON array; write one conversation object per line (jq -c '.[]' converts it)`)
	}
	var d dialogue
	if err := json.Unmarshal(b, &d); err != nil {
		return Dialogue{}, fmt.Errorf("not a JSON object with a conversation: %w; write one per line", err)
	}
	return d.userTexts()
}

func (d *dialogue) userTexts() (Dialogue, error) {
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

// add adds one message. The roles are those of all formats.
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

// Text is the text of a message. In JSON it is a string, null, or a list of text parts.
type Text string

func (t *Text) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(t))
	}
	var parts []struct{ Type, Text, Content string }
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder // a line can have 100,000 parts
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("a content part has type %q; only \"text\" can be replayed", p.Type)
		}
		text.WriteString(p.Text)
		text.WriteString(p.Content) // OpenTelemetry's name
	}
	*t = Text(text.String())
	return nil
}
