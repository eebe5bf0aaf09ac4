package workload

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// file writes a conversations file and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chats.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const chats = "\xef\xbb\xbf" + `{"messages":[{"role":"system","content":"S"},{"role":"user","content":"u1"},{"role":"assistant","content":null},{"role":"user","content":"u2"}]}

{"id":"x","conversations":[{"from":"human","value":"h1"},{"from":"gpt","value":"g1"},{"from":"human","value":"h2"},{"from":"human","value":"h3"}]}` + "\r\n" +
	`{"messages":[{"role":"user","content":[{"type":"text","text":"part 1, "},{"type":"text","text":"part 2: ü"}]},{"role":"tool","content":"ignored"}]}`

func TestReplay(t *testing.T) {
	s := newSource(t, Spec{Recorded: Recorded{ConversationsFile: file(t, chats)}, Content: Content{System: "default"}, Users: Users{ThinkMin: time.Second, ThinkMax: time.Second}})
	want := []Conversation{
		{
			ID: 0, Turns: 2, Followups: []string{"u2"}, Think: []time.Duration{time.Second}, CharsOpening: 3,
			Opening: []Message{{Role: "system", Content: "S"}, {Role: "user", Content: "u1"}},
		},
		{
			ID: 1, Turns: 3, Followups: []string{"h2", "h3"}, Think: []time.Duration{time.Second, time.Second}, CharsOpening: 9,
			Opening: []Message{{Role: "system", Content: "default"}, {Role: "user", Content: "h1"}},
		},
		{
			ID: 2, Turns: 1, Followups: []string{}, CharsOpening: 24,
			Opening: []Message{{Role: "system", Content: "default"}, {Role: "user", Content: "part 1, part 2: ü"}},
		},
	}
	if got := plans(s, 3); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if again := s.Next(); again.ID != 3 || user(again) != "u1" {
		t.Errorf("the fourth conversation is %+v, want the first again", again)
	}
}

func TestReplayTakesAtMostTurnsMax(t *testing.T) {
	s := newSource(t, Spec{Recorded: Recorded{ConversationsFile: file(t, chats)}, TurnsMax: 2})
	for i, want := range []int{2, 2, 1} {
		if c := s.Next(); c.Turns != want || len(c.Followups) != want-1 {
			t.Errorf("conversation %d has %d turns and %d follow-ups, want %d turns", i, c.Turns, len(c.Followups), want)
		}
	}
}

func TestReplayStartsAtTheSalt(t *testing.T) {
	s := newSource(t, Spec{Recorded: Recorded{ConversationsFile: file(t, chats)}}, 4)
	if got := user(s.Next()); got != "h1" {
		t.Errorf("the replay starts with %q, want the second conversation", got)
	}
}

func TestStale(t *testing.T) {
	path := file(t, chats)
	s := newSource(t, Spec{Recorded: Recorded{ConversationsFile: path}})
	if s.Stale() {
		t.Error("stale although nothing changed")
	}
	if err := os.WriteFile(path, []byte(chats+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !s.Stale() {
		t.Error("not stale although the file grew")
	}
	if newSource(t, Spec{PromptTokens: 1}).Stale() {
		t.Error("a source without a file is stale")
	}
}

func TestBadConversations(t *testing.T) {
	const good = `{"messages":[{"role":"user","content":"hi"}]}` + "\n"
	const unusable = ", no record can be used: "
	const unknown = "is a record in an unknown format; docs/how-to/traces.md lists the supported ones"
	const noUser = `the conversation has no user message; add one to "messages" (or "conversations"), or remove the line`
	const roles = `is unknown; use user, assistant or system (human, gpt or system in "conversations")`
	tests := map[string]struct{ text, want string }{
		"empty file": {"\n\n", ": the file has no records; docs/how-to/traces.md lists the supported formats"},
		"not JSON":   {good + "hello\n", ", line 2: not a JSON object with a record: invalid character 'h' looking for beginning of value; write one per line, or an array of them"},
		"no user":    {`{"messages":[{"role":"assistant","content":"hi"}]}`, unusable + "line 1: " + noUser},
		"many without": {good + strings.Repeat(`{"messages":[{"role":"assistant","content":"hi"}]}`+"\n", 11),
			": 11 of 12 records cannot be used and are left out, the first in line 2: " + noUser + "; replay the others with trace: {file: …, skip: true}"},
		"no texts":     {good + `{"input_length":7,"output_length":3}`, ", conversation 2: it has no user message; add one, or remove the line"},
		"no known key": {`{"prompt":"hi"}`, `, line 1: "{\"prompt\":\"hi\"}" ` + unknown},
		"empty user message": {`{"messages":[{"role":"user","content":" "}]}`,
			unusable + "line 1: messages[0]: the user message is empty; write its text or remove it"},
		"unknown role": {`{"messages":[{"role":"usr","content":"hi"}]}`, unusable + `line 1: messages[0]: role "usr" ` + roles},
		"unknown from": {`{"conversations":[{"from":"human","value":"a"},{"from":"dog","value":"b"}]}`,
			unusable + `line 1: conversations[1]: from "dog" ` + roles},
		"an image": {`{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`,
			unusable + `line 1: a content part has type "image_url"; only "text" can be replayed`},
		"a long line": {good + `{"messages":"` + strings.Repeat("x", 4<<20) + `"}`, ", line 2: the record is longer than 4 MiB; leave it out"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := file(t, tt.text)
			_, err := NewSource(Spec{Recorded: Recorded{ConversationsFile: path}}, 0)
			if err == nil || err.Error() != path+tt.want {
				t.Errorf("got  %v\nwant %s%s", err, path, tt.want)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := NewSource(Spec{Recorded: Recorded{ConversationsFile: missing}}, 0); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("the error of a missing file is %v", err)
	}
}

// TestContentOfManyParts checks that the parts of a text are joined in linear time, and that
// the last of two "content" keys counts, as usual in JSON.
func TestContentOfManyParts(t *testing.T) {
	const parts = 50_000
	many := `{"messages":[{"role":"user","content":"said twice","content":[` +
		strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"0123456789"},`, parts), ",") + `]}]}`
	path := file(t, many)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, _, err := readConversations(path)
	runtime.ReadMemStats(&after)
	if err != nil || all[0].user[0] != strings.Repeat("0123456789", parts) {
		t.Fatalf("%v, %v", len(all), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64*uint64(len(many)) {
		t.Errorf("%d bytes were allocated for a line of %d", took, len(many))
	}
}

// TestShortMessagesCount checks the memory bound of a file with many short messages.
func TestShortMessagesCount(t *testing.T) {
	r := fileConversation{user: slices.Repeat([]string{"a"}, 1000)}
	if kept := int(unsafe.Sizeof("")) * cap(r.user); r.size() < kept {
		t.Errorf("counted as %d bytes, at least %d are kept", r.size(), kept)
	}
}
