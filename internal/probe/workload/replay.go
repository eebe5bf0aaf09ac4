package workload

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"synthetic/internal/probe/workload/trace"
)

const (
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

// fileVersion returns a text that changes with the file, or "" if there is none.
func fileVersion(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
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

// readConversations reads a file as described at Spec.ConversationsFile. Errors name the file, the line and
// the remedy.
func readConversations(path string) (all []fileConversation, left trace.LeftOut, err error) {
	r, err := trace.Open(path, trace.Options{})
	if err != nil {
		return nil, left, err
	}
	defer r.Close()
	for size := 0; ; {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			left, err = r.LeftOut()
			return all, left, err
		}
		if err != nil {
			return nil, left, err
		}
		c := newFileConversation(record)
		if len(c.user) == 0 {
			return nil, left, fmt.Errorf("%s, conversation %d: it has no user message; add one, or remove the line", path, len(all)+1)
		}
		if size += c.size(); size > maxReplay {
			return nil, left, fmt.Errorf("%s, conversation %d: more than %d MiB of messages; split the file and use a part of it",
				path, len(all)+1, maxReplay>>20)
		}
		all = append(all, c)
	}
}

func newFileConversation(record trace.Record) (c fileConversation) {
	for _, turn := range record.Turns {
		for _, m := range turn.Messages {
			switch text := string(m.Content); {
			case m.Role == "user" && strings.TrimSpace(text) != "":
				c.user = append(c.user, text)
			case m.Role == "system":
				c.system = text
			}
		}
	}
	return c
}

func (r fileConversation) size() int {
	n := len(r.system) + messageCost
	for _, u := range r.user {
		n += len(u) + messageCost
	}
	return n
}
