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
	// maxLine bounds one line of a conversations file. It is about 500,000 tokens.
	maxLine = 4 << 20
	// maxReplay bounds the memory of one file: user and system texts plus messageCost for each
	// message.
	maxReplay = 256 << 20
	// messageCost is the memory of a message besides its text: string headers and the rounding
	// of the allocator. Without it a file of short messages would need many times its limit.
	messageCost = 64
)

// fileConversation is one conversation of a file.
type fileConversation struct {
	system string // or ""
	user   []string
}

// stamp is the version of a file. The zero value means no file.
type stamp struct {
	size     int64
	modified time.Time
}

func stampFile(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// replayFile fills in the next conversation of the file. It has one turn for each user message,
// but at most Spec.TurnsMax if that is set.
func (s *Source) replayFile(c *Conversation) {
	r := s.conversations[(s.salt%uint64(len(s.conversations))+c.ID)%uint64(len(s.conversations))]
	c.Turns = len(r.user)
	if s.spec.TurnsMax > 0 {
		c.Turns = min(c.Turns, s.spec.TurnsMax)
	}
	c.Opening = opening(cmp.Or(r.system, s.spec.System), r.user[0])
	c.Followups = r.user[1:c.Turns:c.Turns]
}

// readConversations reads a file as described at Spec.ConversationsFile.
func readConversations(path string) ([]fileConversation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the conversations file: %w", err)
	}
	defer f.Close()
	all, err := parseConversations(f)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return all, nil
}

// parseConversations reads the lines. Its errors start with the line number.
func parseConversations(r io.Reader) ([]fileConversation, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var all []fileConversation
	number, size := 0, 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\xef\xbb\xbf")))
		if len(line) == 0 {
			continue
		}
		var c fileConversation
		var err error
		if c.system, c.user, err = trace.ParseDialogue(line); err != nil {
			return nil, fmt.Errorf("%d: %w", number, err)
		}
		if size += c.size(); size > maxReplay {
			return nil, fmt.Errorf("%d: more than %d MiB of messages; split the file and use a part of it", number, maxReplay>>20)
		}
		all = append(all, c)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%d: the line is longer than %d MiB; write one conversation per line, and leave out larger ones",
			number+1, maxLine>>20)
	case err != nil:
		return nil, fmt.Errorf("%d: %w", number+1, err)
	case len(all) == 0:
		return nil, errors.New(`1: the file has no conversations; write one per line, such as {"messages":[{"role":"user","content":"Hello"}]}`)
	}
	return all, nil
}

func (r fileConversation) size() int {
	n := len(r.system) + messageCost
	for _, u := range r.user {
		n += len(u) + messageCost
	}
	return n
}
