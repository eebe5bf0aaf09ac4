package trace

import (
	"fmt"
	"strings"
	"testing"
)

// exportedTwice is a session of spans. The first span comes last in the file, after several copies of the
// second.
func exportedTwice() string {
	call := func(second int, content string) string {
		return fmt.Sprintf(`{"type":"llm_call","start_time":"2026-02-25T10:00:%02dZ","end_time":"2026-02-25T10:00:20Z","attributes":{"gen_ai.input.messages":[%s]}}`, second, content)
	}
	second := call(5, `{"role":"user","content":"a"}`)
	first := call(1, `{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}`)
	return `{"session_id":"twice","spans":[` + strings.Join([]string{second, second, second, first}, ",") + "]}"
}

// TestSpansExportedTwice checks that copies of a span count once, also if an earlier span follows them.
func TestSpansExportedTwice(t *testing.T) {
	got, err := all(strings.NewReader(exportedTwice()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessionsAre(t, got, `
0s twice
  0: lane 0, 0/0, user "a", assistant "b", user "c"
  1: lane 1, 0/0, at 4s`)
}

// event is a line of Dynamo's request trace about a session.
func event(kind, session, rest string) string {
	return fmt.Sprintf(`{"schema":"dynamo.request.trace.v1","event_type":%q,"event_time_unix_ms":5,"agent_context":{"session_id":%q},%s}`, kind, session, rest)
}

// request is a line of Dynamo's request trace. Times are in milliseconds.
func request(session string, at, took int) string {
	return event("request_end", session, fmt.Sprintf(`"request":{"request_id":"r","request_received_ms":%d,"total_time_ms":%d,"input_tokens":7,"output_tokens":1}`, at, took))
}

// TestBackgroundTools checks that tools in the background do not connect sessions.
func TestBackgroundTools(t *testing.T) {
	tool := `"tool":{"claude":{"execution_mode":"background"}}`
	got, err := all(strings.NewReader(strings.Join([]string{
		request("a", 1000, 10), event("tool_end", "a", tool), request("b", 2000, 10), event("tool_end", "b", tool),
	}, "\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessionsAre(t, got, `
0s a
  0: lane 0, 7/1, 0 blocks of 0
1s b
  0: lane 0, 7/1, 0 blocks of 0`)
}
