package workload

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// FuzzReadConversations checks accepted files: every message has text, writing and reading gives the same
// conversations, and they need no more memory than the text. Errors must name the file and a position.
func FuzzReadConversations(f *testing.F) {
	f.Add(chats)
	f.Add(`{"messages":[{"role":"user","content":[]}]}`)
	f.Add(`{"messages":[{"role":"user","content":"a","content":[{"type":"text","text":"b"}]}]}`)
	f.Add(`{"messages":[{"role":"developer","content":null},{"role":"user","content":"\ud800"}],"Messages":[]}`)
	f.Add(strings.Repeat("[", 10_001))
	f.Add(`{"timestamp":1,"messages":[{"role":"user","content":" "},{"role":"user","content":"a"}]}`)
	position := regexp.MustCompile(`^(, no record can be used: (line|element) [1-9][0-9]*|, (line|element|record|conversation) [1-9][0-9]*|, after [0-9]+ bytes)?: .`)
	f.Fuzz(func(t *testing.T, text string) {
		path := file(t, text)
		all, _, err := readConversations(path)
		if err != nil {
			reason, named := strings.CutPrefix(err.Error(), path)
			if all != nil || !named || !position.MatchString(reason) || len(reason) > 500+3*len(text) {
				t.Fatalf("%d conversations and the error %q", len(all), err)
			}
			return
		}
		if len(all) == 0 {
			t.Fatal("neither conversations nor an error")
		}
		size := 0
		for _, r := range all {
			if len(r.user) == 0 || slices.ContainsFunc(r.user, func(u string) bool { return strings.TrimSpace(u) == "" }) {
				t.Errorf("a conversation with nothing to say: %q", r.user)
			}
			size += r.size()
		}
		if size > messageCost*(len(text)+1) {
			t.Errorf("%d bytes of messages from %d of text", size, len(text))
		}
		again, _, err := readConversations(file(t, written(t, all)))
		if err != nil || !slices.EqualFunc(all, again, sameReplay) {
			t.Errorf("read as %q, and again as %q: %v", all, again, err)
		}
	})
}

// written writes the conversations to a file.
func written(t *testing.T, all []fileConversation) string {
	t.Helper()
	var text strings.Builder
	for _, r := range all {
		messages := []Message{{Role: "system", Content: r.system}}
		for _, u := range r.user {
			messages = append(messages, Message{Role: "user", Content: u})
		}
		line, err := json.Marshal(map[string]any{"messages": messages})
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	return text.String()
}

func sameReplay(a, b fileConversation) bool {
	return a.system == b.system && slices.Equal(a.user, b.user)
}
