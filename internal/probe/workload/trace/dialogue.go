package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

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
