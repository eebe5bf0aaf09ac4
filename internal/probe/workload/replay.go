package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	// maxLine bounds one line of a file of conversations: some 500,000 tokens.
	maxLine = 4 << 20
	// maxReplay bounds what is kept of one file: user and system text, and
	// messageCost for each message.
	maxReplay = 256 << 20
	// messageCost is what keeping a message takes beside its text: a header of it,
	// one of its list, and what the allocator rounds up. Short messages would
	// otherwise take many times what is counted.
	messageCost = 64
)

// replay is one conversation of a file: its own system message, if any, and
// its user messages.
type replay struct {
	system string
	user   []string
}

// stamp tells two versions of a file apart; the zero value is no file.
type stamp struct {
	size     int64
	modified time.Time
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// replay fills in the conversation of the file whose turn it is. It has as
// many turns as the file has user messages for it, at most Spec.TurnsMax where
// that is set.
func (s *Source) replay(c *Conversation) {
	r := s.file[(s.salt%uint64(len(s.file))+c.ID)%uint64(len(s.file))]
	c.Turns = len(r.user)
	if s.spec.TurnsMax > 0 {
		c.Turns = min(c.Turns, s.spec.TurnsMax)
	}
	c.Opening = opening(cmp.Or(r.system, s.spec.System), r.user[0])
	c.Followups = r.user[1:c.Turns:c.Turns]
}

// readConversations reads a JSONL file: on each line an object with either
// "messages" (role, content) or "conversations" (from, value). Assistant and
// tool messages are left out, because the answers that the deployment really
// gives go into the history. Blank lines are skipped.
func readConversations(path string) ([]replay, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the file of conversations: %w", err)
	}
	defer f.Close()
	all, err := parseConversations(f)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return all, nil
}

// parseConversations reads lines; its errors begin with the line's number.
func parseConversations(r io.Reader) ([]replay, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var all []replay
	number, size := 0, 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\xef\xbb\xbf")))
		if len(line) == 0 {
			continue
		}
		one, err := parseConversation(line)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", number, err)
		}
		if size += one.size(); size > maxReplay {
			return nil, fmt.Errorf("%d: more than %d MiB of messages; split the file and use a part of it", number, maxReplay>>20)
		}
		all = append(all, one)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%d: the line is longer than %d MiB; write one conversation per line, and leave out larger ones", number+1, maxLine>>20)
	case err != nil:
		return nil, fmt.Errorf("%d: %w", number+1, err)
	case len(all) == 0:
		return nil, errors.New(`1: the file has no conversations; write one per line, such as {"messages":[{"role":"user","content":"Hello"}]}`)
	}
	return all, nil
}

type line struct {
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
	Conversations []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
}

func parseConversation(b []byte) (replay, error) {
	if b[0] == '[' {
		return replay{}, errors.New(`the line is a JSON array; write one conversation object per line (jq -c '.[]' does it)`)
	}
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return replay{}, fmt.Errorf("not a JSON object of a conversation: %w; write one per line", err)
	}
	var r replay
	for i, m := range l.Messages {
		if err := r.add("role", m.Role, string(m.Content)); err != nil {
			return replay{}, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	for i, m := range l.Conversations {
		if err := r.add("from", m.From, m.Value); err != nil {
			return replay{}, fmt.Errorf("conversations[%d]: %w", i, err)
		}
	}
	if len(r.user) == 0 {
		return replay{}, errors.New(`the conversation has no user message; add one to "messages" (or "conversations"), or remove the line`)
	}
	return r, nil
}

// add takes in one message, by the roles that both forms use.
func (r *replay) add(field, role, text string) error {
	switch role {
	case "user", "human":
		if strings.TrimSpace(text) == "" {
			return errors.New("the user message is empty; write its text or remove it")
		}
		r.user = append(r.user, text)
	case "system", "developer":
		r.system = text
	case "assistant", "gpt", "tool", "function":
	default:
		return fmt.Errorf("%s %q is unknown; use user, assistant or system (human, gpt or system in \"conversations\")", field, role)
	}
	return nil
}

func (r replay) size() int {
	n := len(r.system) + messageCost
	for _, u := range r.user {
		n += len(u) + messageCost
	}
	return n
}

// content is a message's text: a string, null, or a list of text parts.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(c))
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder // a line can hold some 100,000 parts
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("a content part has type %q; only \"text\" can be replayed", p.Type)
		}
		text.WriteString(p.Text)
	}
	*c = content(text.String())
	return nil
}
