package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"synthetic/internal/probe/workload/trace"
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

func parseConversation(b []byte) (replay, error) {
	d, err := trace.ParseDialogue(b)
	return replay{d.System, d.User}, err
}

func (r replay) size() int {
	n := len(r.system) + messageCost
	for _, u := range r.user {
		n += len(u) + messageCost
	}
	return n
}
