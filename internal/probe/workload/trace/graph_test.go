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
		overlapping(maxLanes + 1): `trace, line 1: session "o": more than 256 requests of one agent may run side by side; leave the session out`,
		strings.Join(lines, "\n"): `trace, session "d": more than 256 requests of one agent may run side by side; leave the session out`,
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

// TestBases checks that prompts which share only their first block are differences from the first prompt.
func TestBases(t *testing.T) {
	var weka, rows []string
	for k := range 5 {
		weka = append(weka, fmt.Sprintf(`{"t":%d,"type":"n","in":10,"out":1,"hash_ids":[1,%d]}`, k, k+2))
		rows = append(rows, fmt.Sprintf(`{"session_id":"s","input_length":10,"hash_ids":[1,%d]}`, k+2))
	}
	for _, text := range []string{
		`{"id":"o","block_size":64,"requests":[` + strings.Join(weka, ",") + "]}", strings.Join(rows, "\n"),
	} {
		got, err := all(strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k, turn := range got[0].Turns {
			if blocks, _ := got[0].Prompt(k); turn.Base != 0 || len(blocks) != 2 || len(turn.Blocks) != 1 && k > 0 {
				t.Errorf("turn %d has base %d and blocks %v of %v", k, turn.Base, turn.Blocks, blocks)
			}
		}
	}
}

// TestLargeChild checks a parent that the file names after a larger sub-agent, which has a sub-agent of its own.
func TestLargeChild(t *testing.T) {
	child := func(session, parent string, at, took int) string {
		return strings.Replace(request(session, at, took), `"agent_context":{`, `"agent_context":{"parent_session_id":"`+parent+`",`, 1)
	}
	table := newSessionTable()
	parse := &parser{sessions: table, chats: newRecent()}
	for i, line := range []string{
		request("root", 1000, 100), request("child", 1200, 100), child("leaf", "child", 1250, 10), request("child", 1400, 100),
		child("child", "root", 1600, 100), request("root", 2000, 100),
	} {
		if _, err := parse.parse([]byte(line), "line", i+1); err != nil {
			t.Fatal(err)
		}
	}
	got, err := table.take(true)
	if err != nil || table.bytes != 0 {
		t.Errorf("%d bytes are left, %v", table.bytes, err)
	}
	sessionsAre(t, got, `
1s root
  0: lane 0, 7/1, 0 blocks of 0
  1: lane 1, 7/1, 0 blocks of 0, 100ms after 0
  2: lane 2, 7/1, 0 blocks of 0, 50ms after the start of 1
  3: lane 1, 7/1, 0 blocks of 0, 100ms after 1, 100ms after 2
  4: lane 1, 7/1, 0 blocks of 0, 100ms after 3
  5: lane 0, 7/1, 0 blocks of 0, 300ms after 0, 300ms after 4`)
}

// row is a request of agentic Mooncake in a play. The needs are ids, after ">" those that need only be sent.
func row(play, session, id string, at int, needs ...string) string {
	var list []string
	for _, n := range needs {
		trigger := "completion"
		if sent, isSent := strings.CutPrefix(n, ">"); isSent {
			n, trigger = sent, "dispatch"
		}
		list = append(list, fmt.Sprintf(`{"request_id":%q,"trigger":%q}`, n, trigger))
	}
	return fmt.Sprintf(`{"request_id":%q,"play_id":%q,"session_id":%q,"input_length":9,"output_length":1,"not_before_ms":%d,"dependencies":[%s]}`,
		id, play, session, at, strings.Join(list, ","))
}

// TestNamedLanes checks that a step shares a lane only with steps that it needs, that requests may come before
// those that they need, and that plays do not share sessions.
func TestNamedLanes(t *testing.T) {
	got, err := all(strings.NewReader(strings.Join([]string{
		row("p", "s", "a", 0), row("p", "s", "b", 10, "a"), row("p", "s", "c", 20, "a"), row("p", "s", "d", 30, ">c"),
		row("p", "s", "f", 40, "e", "d"), row("p", "other", "e", 50, "c"),
		row("q", "s", "a", 60),
	}, "\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessionsAre(t, got, `
0s p
  0: lane 0, 9/1, 0 blocks of 512
  1: lane 0, 9/1, 0 blocks of 512, 0s after 0
  2: lane 1, 9/1, 0 blocks of 512, 0s after 0
  3: lane 2, 9/1, 0 blocks of 512, 0s after the start of 2
  4: lane 3, 9/1, 0 blocks of 512, 0s after 2
  5: lane 2, 9/1, 0 blocks of 512, 0s after 4, 0s after 3
60ms q
  0: lane 0, 9/1, 0 blocks of 512`)
}

// TestBadDependencies checks that a dependency is never dropped silently.
func TestBadDependencies(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{row("p", "s", "a", 0, "z"), `request "a" needs "z", which is not a request of the same play or session; correct the name or leave the session out`},
		{row("p", "s", "a", 0) + "\n" + row("p", "s", "a", 1), `request_id "a" occurs twice; rename one of the requests`},
		{row("p", "s", "a", 0, "b") + "\n" + row("p", "s", "b", 1, "a"), `request "a" needs itself, directly or through other requests; remove one of the dependencies`},
	} {
		if _, err := all(strings.NewReader(c.text), Options{}); err == nil || err.Error() != `trace, session "p": `+c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestTextsWithBlocks checks that the texts of a request are its prompt, not its blocks.
func TestTextsWithBlocks(t *testing.T) {
	text := strings.Replace(row("p", "s", "a", 0), `"play_id"`, `"hash_ids":[1,2],"messages":[{"role":"user","content":"Hi"}],"play_id"`, 1)
	got, err := all(strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessionsAre(t, got, `
0s p
  0: lane 0, 9/1, user "Hi"`)
}

// TestSubagentClock checks that a request slightly earlier than its sub-agent does not make the times of a session
// relative, and that a record with a key "schema" need not be one of Dynamo's.
func TestSubagentClock(t *testing.T) {
	got, err := all(strings.NewReader(`{"id":"w","block_size":64,"requests":[{"t":0,"type":"n","in":10,"out":1},{"t":5,"type":"subagent","requests":[{"t":4.999,"type":"n","in":10,"out":1}]}]}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessionsAre(t, got, `
0s w
  0: lane 0, 10/1, 0 blocks of 64
  1: lane 1, 10/1, 0 blocks of 64, 4.999s after 0`)
	got, err = all(strings.NewReader(`{"schema":"mine","timestamp":1,"input_length":5}`), Options{})
	if err != nil || len(got) != 1 || got[0].Turns[0].Prompt != 5 {
		t.Errorf("got %+v, %v", got, err)
	}
}
