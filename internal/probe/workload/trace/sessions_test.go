package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

// sessionSamples returns the sessions of the files in testdata, as describe writes them.
func sessionSamples() map[string]string {
	return map[string]string{
		"weka.jsonl": `
0s a1
  0: lane 0, 200/20, 3 blocks of 64
  1: lane 1, 100/5, 1 blocks of 64, 1s after 0
  2: lane 2, 64/7, 1 blocks of 64, 1.5s after 0
  3: lane 1, 180/6, 2 blocks of 64 (1 shared), 1.5s after 1
  4: lane 0, 300/30, 4 blocks of 64 (3 shared), 500ms after 0, 500ms after 3, 500ms after 2
  5: lane 0, 150/10, 2 blocks of 64 (1 shared), 1h0m0s after 4
0s a2
  0: lane 0, 70/1, 1 blocks of 64
  1: lane 1, 30/2, 0 blocks of 64, 4.5s after 0`,
		"exgentic.jsonl": `
0s s-1
  0: lane 0, 60/8, system "Fix the bug.\n\n[{\"type\":\"function\",\"name\":\"ls\"}]", user "It fails."
  1: lane 0, 90/12, (2 shared) assistant "ls({\"path\":\".\"})", user "a.go", 1s after 0`,
		"inference-perf.json": `
0s fan_in
  0: lane 0, 0/0, user "Compare two cars."
  1: lane 0, 0/0, system "You know cars.", user "The first?", 500ms after 0
  2: lane 1, 21/4, (1 shared) user "The second?", 1s after 0
  3: lane 0, 0/0, user "Compare two cars.", assistant "ask({})", user "[1] and 2", 1s after 1, 1s after 2`,
		"dynamo.jsonl": `
0s root
  0: lane 0, 100/16, 2 blocks of 64
  1: lane 1, 30/5, 1 blocks of 64, 1s after 0
  2: lane 1, 70/6, 2 blocks of 64, 200ms after 1
  3: lane 0, 190/20, 3 blocks of 64 (1 shared), 500ms after 0, 500ms after 2
1.6s other
  0: lane 0, 64/3, 1 blocks of 64`,
		"dynamo-single.jsonl": `
0s req-1
  0: lane 0, 3/4, 2 blocks of 2
400ms req-2
  0: lane 0, 9/2, 0 blocks of 0`,
		"mooncake-sessions.jsonl": `
0s conv_0
  0: lane 0, 1500/20, 3 blocks of 512
  1: lane 0, 1900/30, 4 blocks of 512 (3 shared), 2s after 0
  2: lane 0, 600/5, 2 blocks of 512 (1 shared), 40s after 1`,
		"agentic-mooncake.jsonl": `
0s root
  0: lane 0, 100/16, 2 blocks of 64
  1: lane 1, 30/5, 1 blocks of 64, 2s after the start of 0
  2: lane 0, 190/20, 3 blocks of 64 (1 shared), 500ms after 1, 3.5s after 0
4.6s p
  0: lane 0, 10/1, 1 blocks of 64`,
		"agentic-mooncake-1.jsonl": `
0s root
  0: lane 0, 600/16, 2 blocks of 512
  1: lane 1, 30/5, 1 blocks of 512, 1.25s after 0
  2: lane 0, 700/20, 2 blocks of 512 (1 shared), 500ms after 0, 500ms after 1`,
	}
}

func describe(all []Record) string {
	var b strings.Builder
	for i := range all {
		r := &all[i]
		fmt.Fprintf(&b, "\n%s", strings.TrimSpace(r.At.String()+" "+r.Session))
		for k, t := range r.Turns {
			b.WriteString("\n  ")
			fmt.Fprintf(&b, "%d: lane %d, %d/%d", k, t.Lane, t.Prompt, t.Output)
			if t.After > 0 {
				fmt.Fprintf(&b, ", at %s", t.After)
			}
			describePrompt(&b, r, k)
			for _, n := range t.Needs {
				fmt.Fprintf(&b, ", %s after %s%d", n.Delay, map[bool]string{true: "the start of "}[n.Sent], n.Step)
			}
		}
	}
	return b.String()
}

func describePrompt(b *strings.Builder, r *Record, k int) {
	t := r.Turns[k]
	blocks, messages := r.Prompt(k)
	shared := ""
	if t.Shared > 0 {
		shared = fmt.Sprintf("(%d shared)", t.Shared)
	}
	if messages == nil {
		fmt.Fprintf(b, ", %s", strings.TrimSpace(fmt.Sprintf("%d blocks of %d %s", len(blocks), t.BlockTokens, shared)))
		return
	}
	for i, m := range messages[t.Shared:] {
		fmt.Fprintf(b, ", ")
		if i == 0 && shared != "" {
			fmt.Fprintf(b, "%s ", shared)
		}
		fmt.Fprintf(b, "%s %q", m.Role, string(m.Content))
	}
}

func sessionsAre(t *testing.T, got []Record, want string) {
	t.Helper()
	if diff := cmp.Diff(want, describe(got)); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	for i := range got {
		for k := range got[i].Turns {
			checkNeeds(t, &got[i], k)
		}
	}
}

// checkNeeds checks that a step needs earlier steps only, so that a session always comes to its end.
func checkNeeds(t *testing.T, r *Record, k int) {
	t.Helper()
	turn := r.Turns[k]
	if turn.Base < 0 || turn.Base >= len(r.Turns) || turn.Lane < 0 || turn.Lane > k {
		t.Errorf("turn %d: base %d, lane %d", k, turn.Base, turn.Lane)
	}
	for _, n := range turn.Needs {
		if n.Step < 0 || n.Step >= k || n.Delay < 0 {
			t.Errorf("turn %d needs %+v", k, n)
		}
	}
}

// TestSessionForms reads a sample of each format with sessions, plain and as members of a folder.
func TestSessionForms(t *testing.T) {
	for name, want := range sessionSamples() {
		t.Run(name, func(t *testing.T) {
			got, err := all(bytes.NewReader(sample(t, name)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			sessionsAre(t, got, want)
		})
	}
}

// TestFolder reads the files of a folder one after the other, compressed or not.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	lines := bytes.SplitAfter(sample(t, "dynamo.jsonl"), []byte("\n"))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Join(lines[:4], nil)) // in memory
	_ = z.Close()
	files := map[string][]byte{"trace.000000.jsonl.gz": zipped.Bytes(), "trace.000001.jsonl": bytes.Join(lines[4:], nil), ".hidden.jsonl": []byte("x"), "README.md": []byte("# x")}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sessionsAre(t, open(t, dir, Options{}), sessionSamples()["dynamo.jsonl"])
	links := t.TempDir()
	for name := range files {
		if err := os.Symlink(filepath.Join(dir, name), filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	sessionsAre(t, open(t, links, Options{}), sessionSamples()["dynamo.jsonl"])
	if err := os.WriteFile(filepath.Join(dir, "trace.000002.jsonl"), []byte("\n{\"speed\": 3}"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := dir + `, trace.000002.jsonl, line 2: "{\"speed\": 3}" is a record in an unknown format; docs/how-to/traces.md lists the supported ones`
	if _, err := r.Next(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestEmptyFolder checks that a folder without files of a trace says which names are read.
func TestEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	want := dir + ": no file of the folder is named *.json, *.jsonl or *.csv, or so with .gz or .zst; rename the files of the trace"
	if _, err := Open(dir, Options{}); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func open(t *testing.T, path string, o Options) (out []Record) {
	t.Helper()
	r, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rec)
	}
}

// TestSessionShapes reads sessions as a list, over several lines, and with pauses that are shortened.
func TestSessionShapes(t *testing.T) {
	weka := bytes.TrimSpace(sample(t, "weka.jsonl"))
	list := "\ufeff [\n" + strings.ReplaceAll(string(weka), "\n", ",\n") + "]"
	got, err := all(strings.NewReader(list), Options{MaxPause: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("1h0m0s", "2s", "4.5s", "2s").Replace(sessionSamples()["weka.jsonl"])
	sessionsAre(t, got, want)
	for _, name := range []string{"dynamo.jsonl", "agentic-mooncake.jsonl", "agentic-mooncake-1.jsonl"} {
		lines := bytes.TrimSpace(sample(t, name))
		got, err := all(strings.NewReader("["+strings.ReplaceAll(string(lines), "\n", ",\n")+"]"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sessionsAre(t, got, sessionSamples()[name])
	}
}

// TestOverlap checks requests of one list that overlap: they run side by side, and what came after all
// of them needs all of them.
func TestOverlap(t *testing.T) {
	request := func(at, took float64) string {
		return fmt.Sprintf(`{"t":%g,"type":"n","in":10,"out":1,"api_time":%g}`, at, took)
	}
	text := `{"id":"o","block_size":64,"requests":[` + strings.Join([]string{
		request(0, 10), request(1, 2), request(4, 2), request(5, 20), request(12, 1), request(30, 1),
	}, ",") + `]}`
	got, err := all(strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessionsAre(t, got, `
0s o
  0: lane 0, 10/1, 0 blocks of 64
  1: lane 1, 10/1, at 1s, 0 blocks of 64
  2: lane 1, 10/1, 0 blocks of 64, 1s after 1
  3: lane 2, 10/1, 0 blocks of 64, 2s after 1
  4: lane 0, 10/1, 0 blocks of 64, 2s after 0, 2s after 2
  5: lane 2, 10/1, 0 blocks of 64, 5s after 4, 5s after 3`)
}

// TestSubAgentReports checks that a parent waits for a sub-agent that reported back after its last request
// had ended, but only from the step that came after the report.
func TestSubAgentReports(t *testing.T) {
	text := `{"id":"d","block_size":64,"requests":[
{"t":0,"type":"n","in":10,"out":1,"api_time":1},
{"t":2,"type":"subagent","duration_ms":5000,"requests":[{"t":2,"type":"n","in":9,"out":1,"api_time":3}]},
{"t":6,"type":"n","in":20,"out":1,"api_time":1},
{"t":8,"type":"n","in":30,"out":1,"api_time":1}]}`
	got, err := all(strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessionsAre(t, got, `
0s d
  0: lane 0, 10/1, 0 blocks of 64
  1: lane 1, 9/1, 0 blocks of 64, 1s after 0
  2: lane 0, 20/1, 0 blocks of 64, 5s after 0
  3: lane 0, 30/1, 0 blocks of 64, 1s after 2, 1s after 1`)
}

// TestLateParents checks sub-agents whose parent the file names later, and one in the background.
func TestLateParents(t *testing.T) {
	request := func(session, parent string, at, took int) string {
		return fmt.Sprintf(`{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":%d,"agent_context":{"session_id":%q,"parent_session_id":%q},"request":{"request_id":"r","request_received_ms":%d,"input_tokens":7,"output_tokens":1}}`,
			at+took, session, parent, at)
	}
	text := strings.Join([]string{
		request("leaf", "middle", 1500, 200),
		request("middle", "root", 1200, 2000),
		`{"schema":"dynamo.request.trace.v1","event_type":"tool_end","event_time_unix_ms":5,"agent_context":{"session_id":"root"},"tool":{"claude":{"child_session_id":"behind","execution_mode":"background"}}}`,
		request("behind", "root", 4000, 100),
		request("root", "", 1000, 3000),
		request("root", "", 5000, 10),
		`{"schema":"dynamo.agent.trace.v1","event_type":"request_end","agent_context":{"session_id":"run","trajectory_id":"planner"},"request":{"request_id":"p","request_received_ms":6000,"total_time_ms":100,"input_tokens":8,"output_tokens":1}}`,
		`{"schema":"dynamo.agent.trace.v1","event_type":"request_end","agent_context":{"session_id":"run","trajectory_id":"researcher","parent_trajectory_id":"planner"},"request":{"request_id":"q","request_received_ms":6150,"total_time_ms":100,"input_tokens":9,"output_tokens":1}}`,
	}, "\n")
	got, err := all(strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessionsAre(t, got, `
0s middle
  0: lane 0, 7/1, 0 blocks of 0
  1: lane 1, 7/1, 0 blocks of 0, 200ms after the start of 0
  2: lane 2, 7/1, 0 blocks of 0, 300ms after the start of 1
  3: lane 3, 7/1, 0 blocks of 0, 0s after 0
  4: lane 0, 7/1, 0 blocks of 0, 1s after 0, 1s after 1
5s planner
  0: lane 0, 8/1, 0 blocks of 0
  1: lane 1, 9/1, 0 blocks of 0, 50ms after 0`)
}

// TestSessionTableIsBounded checks that a long session is cut when the table is full, and that no request
// is lost.
func TestSessionTableIsBounded(t *testing.T) {
	table := newSessionTable()
	table.most = 40_000
	n, took := 0, 0
	next := table.collect(func() ([]Record, error) {
		if n++; n > 400 {
			return nil, io.EOF
		}
		session := "long"
		if n%2 == 0 {
			session = fmt.Sprint(n)
		}
		at := time.Duration(n) * time.Second
		if n%100 == 0 { // this request took long
			at = time.Second
		}
		return nil, table.add(session, "", step{start: at, end: at + time.Second/2, turn: Turn{Prompt: 1}})
	})
	last := time.Duration(0)
	for {
		records, err := next()
		if err == io.EOF {
			break
		}
		for _, r := range records {
			took += len(r.Turns)
			if r.At < last {
				t.Errorf("a session of %s after one of %s", r.At, last)
			}
			last = r.At
		}
		if table.bytes > 42_000 {
			t.Fatalf("the table has %d bytes", table.bytes)
		}
	}
	if took != 400 || table.bytes != 0 {
		t.Errorf("%d of 400 requests, %d bytes left", took, table.bytes)
	}
}

// TestBadSessions checks that each error has the position, the value and the remedy.
func TestBadSessions(t *testing.T) {
	weka := func(request string) string {
		return `{"id":"a","block_size":64,"requests":[{"t":0,"type":"n","in":5,"out":1}]}` + "\n\n" + `{"id":"b","block_size":64,"requests":[{"t":0,"type":"n","in":5,"out":1},` + request + "]}"
	}
	event := func(fields string) string {
		return `{"schema":"dynamo.request.trace.v1","event_type":"request_end",` + fields + "}"
	}
	for _, c := range []struct{ text, want string }{
		{weka(`{"t":1,"type":"n","in":0,"out":1}`), `line 3: requests[1]: in is "0"; write 0 to 2000000 tokens`},
		{weka(`{"t":1,"type":"n","in":3,"out":-1}`), `line 3: requests[1]: out is "-1"; write 0 to 2000000 tokens`},
		{weka(`{"t":-1,"type":"n","in":3,"out":1}`), `line 3: requests[1]: t is -1; write a number of at least 0`},
		{weka(`{"t":1,"type":"x","in":3,"out":1}`), `line 3: requests[1]: type is "x"; write n, s or, in the list of the session, subagent`},
		{weka(`{"t":1,"type":"subagent","requests":[{"t":1,"type":"subagent"}]}`), `line 3: requests[1]: requests[0]: type is "subagent"; write n, s or, in the list of the session, subagent`},
		{weka(`{"t":"now"}`), `line 3: requests[1]: "t" must be a number, not string`},
		{weka(`{"t":1,"ty`), `line 3: requests[1]: unexpected EOF; copy the complete file`},
		{`{"id":"a","requests":[{"t":0,"type":"n","in":5,"out":1}]}`, `line 1: session "a": block_size is 0; write the tokens of a block of hash_ids`},
		{weka(`{"t":1,"type":"n","in":3,"out":1}`) + "\n{}", `line 4: session "": it has neither requests nor spans; docs/how-to/traces.md lists the supported formats`},
		{weka(`{"t":1,"type":"n","in":3,"out":1}`) + "\n7", `line 4: a session is not a JSON object; write one per line, or an array of them`},
		{`[{"spans":[]},`, `line 1: unexpected EOF; copy the complete file`},
		{`{"spans":[{"type":"llm_call","start_time":"x","attributes":{"gen_ai.usage.input_tokens":3}}]}`, `line 1: spans[0]: start_time: "x" is not a time; write 2026-12-01 10:00:00.25, 2026-12-01T10:00:00Z or a number`},
		{`{"spans":[{"type":"llm_call","start_time":"2026-12-01T10:00:00Z","end_time":"2026-12-01T09:00:00Z","attributes":{"gen_ai.usage.input_tokens":3}}]}`, `line 1: spans[0]: end_time "2026-12-01T09:00:00Z" is before start_time; correct one of them`},
		{`{"spans":[{"type":"llm_call","attributes":{"gen_ai.input.messages":"[{\"role\":\"cat\"}]"}}]}`, `line 1: spans[0]: gen_ai.input.messages: message 1 has role "cat"; use system, user, assistant or tool`},
		{`{"spans":[{"type":"llm_call","attributes":{"gen_ai.input.messages":[{"role":"user","parts":[{"type":"image"}]}]}}]}`, `line 1: spans[0]: gen_ai.input.messages: message 1: part 1 has type "image"; only texts and tools can be replayed`},
		{`{"spans":[{"type":"llm_call","attributes":{"gen_ai.usage.input_tokens":-3}}]}`, `line 1: spans[0]: gen_ai.usage.input_tokens is "-3"; write 0 to 2000000 tokens`},
		{event(`"request":{"output_tokens":4}`), `line 1: request.request_received_ms is missing; record with a version of Dynamo that writes it`},
		{event(`"request":{"request_received_ms":4,"input_tokens":5}`), `line 1: request.request_id is missing; write one`},
		{event(`"request":{"request_received_ms":4}`), `line 1: request.replay.input_length is "0"; write 1 to 2000000 tokens`},
		{event(`"request":{"request_received_ms":4,"input_tokens":5,"replay":{"input_sequence_hashes":[1]}}`), `line 1: request.replay.trace_block_size is "0"; write 1 to 2000000 tokens`},
		{`{"schema":"dynamo.request.trace.v2","event_type":"request_end"}`, `line 1: schema is "dynamo.request.trace.v2"; only dynamo.request.trace.v1 and dynamo.agent.trace.v1 can be replayed`},
		{`{"schema":"dynamo.agentic_mooncake","version":3,"block_size":4}`, `line 1: schema "dynamo.agentic_mooncake" of version 3 with block_size 4 is unknown; only dynamo.agentic_mooncake of version 2 can be replayed`},
		{`{"request_id":"a","play_id":"b","session_id":"c"}`, `line 1: request_id, session_id or input_length is missing; write all of them`},
		{`{"request_id":"a","play_id":"b","session_id":"c","input_length":4,"dependencies":[{"request_id":"z","trigger":"luck"}]}`, `line 1: trigger is "luck"; write dispatch or completion`},
		{`{"request_id":"a","play_id":"b","session_id":"c","input_length":4,"wait_for":["z"],"tool_wait_ms":-1}`, `line 1: delay and tool_wait_ms is -1; write a number of at least 0`},
	} {
		_, err := all(strings.NewReader(c.text), Options{})
		if want := "trace, " + c.want; err == nil || err.Error() != want {
			t.Errorf("%.120q:\ngot  %v\nwant %s", c.text, err, want)
		}
	}
}

// wekaLine returns a session of 40 requests whose prompts grow to 160 k tokens.
func wekaLine(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":"s%d","block_size":64,"hash_id_scope":"local","requests":[`, n)
	ids := ""
	for k := range 40 {
		for i := range 64 {
			ids += fmt.Sprintf("%d,", 64*k+i)
		}
		if k > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"t":%d,"type":"s","in":%d,"out":20,"hash_ids":[%s],"api_time":3}`, 10*k, 64*64*(k+1), strings.TrimSuffix(ids, ","))
	}
	b.WriteString("]}\n")
	return b.String()
}

// spansLine returns a session of 20 calls whose messages add up.
func spansLine(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"session_id":"s%d","spans":[`, n)
	messages := `{"role":"user","content":"go"}`
	for k := range 20 {
		if k > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"llm_call","start_time":"2026-02-25T10:00:%02d.0","end_time":"2026-02-25T10:00:%02d.5","attributes":{"gen_ai.usage.output_tokens":9,"gen_ai.input.messages":[%s]}}`, k, k, messages)
		messages += fmt.Sprintf(`,{"role":"assistant","content":"ls"},{"role":"user","content":"%d %s"}`, k, strings.Repeat("file ", 400))
	}
	b.WriteString("]}\n")
	return b.String()
}

// dynamoLine returns a request of one of 50 sessions at a time, each with 100 requests.
func dynamoLine(n int) string {
	generation, turn := n/5000, n%5000/50
	hashes := strings.Repeat("18446744073709551615,", 4*turn)
	return fmt.Sprintf(`{"timestamp":1,"event":{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":%d,"agent_context":{"session_id":"s%d-%d"},"request":{"request_id":"r%d","request_received_ms":%d,"total_time_ms":500,"output_tokens":9,"replay":{"trace_block_size":64,"input_length":%d,"input_sequence_hashes":[%s%d]}}}}`+"\n",
		1_700_000_000_000+100*n, generation, n%50, n, 1_700_000_000_000+100*n-500, 64*(4*turn+1), hashes, n)
}

// agenticLine returns a request of one of 50 plays at a time, each with 100 requests.
func agenticLine(n int) string {
	wait := "[]"
	if n%5000 >= 50 {
		wait = fmt.Sprintf("[\"r%d\"]", n-50)
	}
	return fmt.Sprintf(`{"request_id":"r%d","session_id":"s%d-%d","timestamp":%d,"input_length":1024,"output_length":9,"hash_ids":[1,%d],"wait_for":%s,"tool_wait_ms":20}`+"\n",
		n, n/5000, n%50, 100*n, n, wait)
}
