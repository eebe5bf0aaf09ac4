package workload

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// file writes a trace and returns its path.
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
	s := newSource(t, Spec{Trace: Trace{File: file(t, chats)}, Content: Content{System: "default"}, Users: Users{ThinkMin: time.Second, ThinkMax: time.Second}})
	want := []Conversation{
		{
			ID: 0, Turns: 2, Followups: []string{"u2"}, Think: []time.Duration{time.Second}, Outputs: []int{0, 0}, CharsOpening: 3,
			Opening: []Message{{Role: "system", Content: "S"}, {Role: "user", Content: "u1"}},
		},
		{
			ID: 1, Turns: 3, Followups: []string{"h2", "h3"}, Think: []time.Duration{time.Second, time.Second}, Outputs: []int{0, 0, 0}, CharsOpening: 9,
			Opening: []Message{{Role: "system", Content: "default"}, {Role: "user", Content: "h1"}},
		},
		{
			ID: 2, Turns: 1, Outputs: []int{0}, CharsOpening: 24,
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

func TestStale(t *testing.T) {
	path := file(t, chats)
	s := newSource(t, Spec{Trace: Trace{File: path}})
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

// TestContentOfManyParts checks that the parts of a text are joined in linear time, and that
// the last of two "content" keys counts, as usual in JSON.
func TestContentOfManyParts(t *testing.T) {
	const parts = 50_000
	many := `{"messages":[{"role":"user","content":"said twice","content":[` +
		strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"0123456789"},`, parts), ",") + `]}]}`
	source := newSource(t, Spec{Trace: Trace{File: file(t, many)}})
	defer source.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := source.Next()
	runtime.ReadMemStats(&after)
	if user(c) != strings.Repeat("0123456789", parts) {
		t.Fatalf("%d characters", len(user(c)))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64*uint64(len(many)) {
		t.Errorf("%d bytes were allocated for a line of %d", took, len(many))
	}
}
