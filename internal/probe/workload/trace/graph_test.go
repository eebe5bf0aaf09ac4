package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"
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

// overlapping returns a session of WEKA whose requests overlap, and a later request.
func overlapping(n int) string {
	one := `{"t":0,"type":"n","in":10,"out":1,"api_time":10},`
	return `{"id":"o","block_size":64,"requests":[` + strings.Repeat(one, n) + `{"t":11,"type":"n","in":10,"out":1}]}`
}

// TestManyLanes checks the limit of the requests of one agent that overlap.
func TestManyLanes(t *testing.T) {
	got, err := all(strings.NewReader(overlapping(maxLanes)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if turns := got[0].Turns; turns[maxLanes-1].Lane != maxLanes-1 || len(turns[maxLanes].Needs) != maxLanes {
		t.Errorf("lane %d, %d needs", turns[maxLanes-1].Lane, len(turns[maxLanes].Needs))
	}
	var lines []string
	for k := range maxLanes + 1 {
		lines = append(lines, request("d", 1000+k, 1000))
	}
	for text, want := range map[string]string{
		overlapping(maxLanes + 1): `trace, line 1: session "o": more than 256 requests of one agent overlap; leave the session out`,
		strings.Join(lines, "\n"): `trace, session "d": more than 256 requests of one agent overlap; leave the session out`,
	} {
		if _, err := all(strings.NewReader(text), Options{}); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestManyNeeds checks that the needs of steps count as memory of their session.
func TestManyNeeds(t *testing.T) {
	var g graph
	g.addAgent(-1)
	for round := range 40 {
		for range maxLanes {
			start := time.Duration(round) * time.Second
			g.add(step{start: start, end: start + time.Second, turn: Turn{Prompt: 1}})
		}
	}
	if _, err := g.record("x"); err == nil || err.Error() != "the session has more than 20000 requests or 64 MiB; leave it out" {
		t.Errorf("the error is %v", err)
	}
}
