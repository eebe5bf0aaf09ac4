package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// traceBytes is the size of the files of TestTraceStreams. docs/background/performance.md
// shows 1e9.
var traceBytes = flag.Int64("trace.bytes", 40<<20, "size of each trace")

// traceMemory is the memory limit for a file of 1 GB, in MiB. The program itself uses more
// than half of it, so that a file of 40 MiB would not fit.
const traceMemory = 85

// traceForms returns, for each format of recorded traffic, its n-th record, counted from 1,
// and its beginning for 0.
func traceForms() map[string]func(n int) string {
	csv := func(heading, record string) func(int) string {
		return func(n int) string {
			if n == 0 {
				return heading + "\n"
			}
			return strings.ReplaceAll(record, "@", fmt.Sprint(n)) + "\n"
		}
	}
	lines := func(record string) func(int) string { return csv("", record) }
	array := func(record string) func(int) string {
		return func(n int) string {
			switch n {
			case 0:
				return "[\n"
			case 1:
				return record + "\n"
			}
			return "," + record + "\n"
		}
	}
	words := strings.Repeat("word ", 100)
	hashes := strings.Repeat("100,", 59) + "@"
	date := func(n int) string {
		return fmt.Sprintf("2024-05-%02d %02d:%02d:%02d", 10+n/86400%20, n/3600%24, n/60%60, n%60)
	}
	return map[string]func(int) string{
		"mooncake":          lines(`{"timestamp":@,"input_length":30720,"output_length":20,"hash_ids":[` + hashes + `]}`),
		"aiperf-sessions":   lines(`{"session_id":"s-@","timestamp":@,"text_input":"` + words + `","output_length":40}`),
		"aiperf-multi-turn": lines(`{"session_id":"s-@","turns":[{"text":"` + words + `","timestamp":@},{"text":"And then?","delay":2000}]}`),
		"bailian":           lines(`{"chat_id":@,"parent_chat_id":-1,"timestamp":@,"input_length":960,"output_length":20,"turn":1,"hash_ids":[` + hashes + `]}`),
		"burstgpt":          csv("Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type", "@,s-@,2,ChatGPT,470,18,488,Conversation log"),
		"azure": func(n int) string {
			if n == 0 {
				return "TIMESTAMP,ContextTokens,GeneratedTokens\n"
			}
			return date(n/500) + fmt.Sprintf(".%03d,2160,9\n", n%500)
		},
		"servegen": csv("request_id,timestamp,input_tokens,output_tokens", "@,@,10,20"),
		"otel": func(n int) string {
			if n == 0 {
				return "\n"
			}
			return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"chat m","startTimeUnixNano":"%d","attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":"120"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"33"}}]}]}]}]}`+"\n", 1_760_000_000_000_000_000+n*1_000_000)
		},
		"weka":     lines(`{"id":"s@","block_size":64,"hash_id_scope":"local","requests":[{"t":0,"type":"n","in":3840,"out":9,"hash_ids":[` + hashes + `],"api_time":1},{"t":3,"type":"s","in":3904,"out":9,"hash_ids":[` + hashes + `,7],"api_time":1}]}`),
		"spans":    lines(`{"session_id":"s@","spans":[{"type":"llm_call","start_time":"2026-02-25T10:00:00","end_time":"2026-02-25T10:00:01","attributes":{"gen_ai.input.messages":"[{\"role\":\"user\",\"content\":\"` + words + `\"}]"}}]}`),
		"dynamo":   lines(`{"event":{"schema":"dynamo.request.trace.v1","event_type":"request_end","agent_context":{"session_id":"s@"},"request":{"request_id":"r@","request_received_ms":@,"total_time_ms":9,"output_tokens":9,"replay":{"trace_block_size":64,"input_length":3840,"input_sequence_hashes":[` + hashes + `]}}}}`),
		"sharegpt": array(`{"id":"x","conversations":[{"from":"human","value":"` + words + `"},{"from":"gpt","value":"A bay."}]}`),
		"vllm":     array(`{"id":"x","messages":[{"role":"user","content":"` + words + `"},{"role":"assistant","content":"Ice."}]}`),
		"lmsys":    lines(`{"conversation_id":"c","model":"m","turn":1,"conversation":[{"role":"user","content":"` + words + `"},{"role":"assistant","content":"Air."}]}`),
	}
}

// TestTraceStreams reads a file of each format to its end, like a sweep. The memory must
// not depend on the size of the file.
func TestTraceStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("writes long traces; make test-long runs it")
	}
	t.Parallel()
	for name, record := range traceForms() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := writeTrace(filepath.Join(dir, "trace"), strings.Contains(record(0), "["), record); err != nil {
				t.Fatal(err)
			}
			plan := fmt.Sprintf("variants: [{base_url: \"http://127.0.0.1:1/v1\"}]\nworkload: {trace: {file: %q}}\nlevels: {concurrency: [1]}\n", filepath.Join(dir, "trace"))
			if err := os.WriteFile(filepath.Join(dir, "plan.yml"), []byte(plan), 0o600); err != nil {
				t.Fatal(err)
			}
			stdout, memory, cpu := measured(t, "check", "plan", filepath.Join(dir, "plan.yml"))
			t.Logf("%d MB at most, %s of CPU: %.200s", memory, cpu, stdout)
			if memory > traceMemory {
				t.Errorf("the command took %d MB, want at most %d", memory, traceMemory)
			}
		})
	}
}

// writeTrace writes records up to the size, and closes the array if the format is one.
func writeTrace(path string, array bool, record func(int) string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	for n, size := 0, int64(0); size < *traceBytes; n++ {
		written, _ := w.WriteString(record(n)) // Flush returns the error
		size += int64(written)
	}
	if array {
		_, _ = w.WriteString("]\n")
	}
	return errors.Join(w.Flush(), file.Close())
}
