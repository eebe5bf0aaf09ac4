package trace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// all reads all records.
func all(from io.Reader, o Options) (out []Record, err error) {
	r, err := newReader("trace", from, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, rec)
	}
}

func sameRecords(t *testing.T, got, want []Record) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Record{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func user(text string) []Message { return []Message{{Role: "user", Content: Text(text)}} }

// single returns a record of one turn.
func single(t Turn) Record { return Record{Turns: []Turn{t}} }

// samples returns the expected records of the files in testdata.
func samples() map[string][]Record {
	return map[string][]Record{
		"mooncake.jsonl": {
			single(Turn{Prompt: 1100, Output: 40, Blocks: []uint64{7, 8, 9}, BlockTokens: 512}),
			single(Turn{Prompt: 1300, Output: 12, Blocks: []uint64{7, 8, 10}, BlockTokens: 512}),
			single(Turn{Prompt: 600, Output: 3, Blocks: []uint64{11, 12}, BlockTokens: 512}),
		},
		"burstgpt.csv": {
			single(Turn{Prompt: 470, Output: 18}),
			single(Turn{Prompt: 1080, Output: 230}),
		},
		"azure.csv": {
			single(Turn{Prompt: 370, Output: 44}),
			single(Turn{Prompt: 390, Output: 109}),
			single(Turn{Prompt: 20000, Output: 5000}),
		},
		"azure-2024.csv": {
			single(Turn{Prompt: 2160, Output: 9}),
			single(Turn{Prompt: 2395, Output: 4}),
		},
		"servegen.csv": {single(Turn{Prompt: 10, Output: 20}), single(Turn{Prompt: 15, Output: 25})},
		"sharegpt.json": {
			{Turns: []Turn{{Messages: []Message{{"system", "Be kind."}, {"user", "What is a fjord?"}}}, {Messages: user("Where?")}}},
			single(Turn{Messages: user("Write a haiku.")}),
		},
		"vllm-multi-turn.json": {
			{Turns: []Turn{{Messages: user("Count to three.")}, {Messages: user("Backwards.")}}},
			single(Turn{Messages: user("What is ice?")}),
		},
	}
}

func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestForms reads a sample of each format, plain and compressed.
func TestForms(t *testing.T) {
	for name, want := range samples() {
		t.Run(name, func(t *testing.T) {
			data := sample(t, name)
			var zipped, zst bytes.Buffer
			g := gzip.NewWriter(&zipped)
			z, err := zstd.NewWriter(&zst)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range []io.WriteCloser{g, z} {
				if _, err := w.Write(data); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			for _, from := range []io.Reader{bytes.NewReader(data), &zipped, &zst} {
				got, err := all(from, Options{})
				if err != nil {
					t.Fatal(err)
				}
				sameRecords(t, got, want)
			}
		})
	}
}

// TestBadTraces checks that each error has the position, the value and the remedy.
func TestBadTraces(t *testing.T) {
	const good = `{"input_length": 5}` + "\n"
	for _, c := range []struct{ text, want string }{
		{"", "trace: the file has no records; docs/how-to/traces.md lists the supported formats"},
		{good + `{"timestamp": 1, "input_length": -5}`, "trace, line 2: input_length is \"-5\"; write 0 to 2000000 tokens"},
		{good + `{"timestamp": 1, "input_length": 5, "output_length": 3000000}`, "trace, line 2: output_length is \"3000000\"; write 0 to 2000000 tokens"},
		{good + `{"timestamp": 1`, "trace, line 2: not a JSON object with a record: unexpected end of JSON input; write one per line, or an array of them"},
		{good + `{"speed": 3}`, `trace, line 2: "{\"speed\": 3}" is a record in an unknown format; docs/how-to/traces.md lists the supported ones`},
		{`{"input_length": "many"}`, `trace, line 1: not a JSON object with a record: "input_length" must be a whole number in range, not string; write one per line, or an array of them`},
		{`{"session_id": "a", "input_length": 3}`, "trace, line 1: a turn of a session; write a session as one record with its messages, or remove session_id if input_length is the whole prompt"},
		{`{"messages": [{"role": "assistant", "content": "x"}]}`, `trace, no record can be used: line 1: the conversation has no user message; add one to "messages" (or "conversations"), or remove the line`},
		{`[{"conversations": [{"from": "cat", "value": "x"}]}]`, `trace, no record can be used: element 1: conversations[0]: from "cat" is unknown; use user, assistant or system (human, gpt or system in "conversations")`},
		{`[{"input_length": 5}`, "trace, element 2: unexpected EOF; copy the complete file"},
		{"PAR1\x15\x00\n", `trace, line 1: "par1\x15\x00" is neither JSON nor a CSV header with known columns; docs/how-to/traces.md lists the supported formats`},
		{"timestamp,input_tokens\n1,2\n", `trace, line 1: "timestamp,input_tokens" has no column for the output tokens; name it generatedtokens or response tokens or output_tokens or output_length or completion_tokens`},
		{"timestamp,input_tokens,output_tokens\n1,x,3\n", `trace, line 2: the number of prompt tokens is "x"; write 0 to 2000000 tokens`},
		{"timestamp,input_tokens,output_tokens\n1,2,-3\n", `trace, line 2: the number of output tokens is "-3"; write 0 to 2000000 tokens`},
		{"timestamp,input_tokens,output_tokens\n1,2\n", "trace, line 2: wrong number of fields; write as many columns as in the first line"},
		{"\x1f\x8bnonsense", "trace: decompressing as gzip: gzip: invalid header; copy the complete file"},
		{`{"text": "` + strings.Repeat("a", maxLine) + `"}`, "trace, line 1: the record is longer than 4 MiB; leave it out"},
		{`[{"text": "` + strings.Repeat("a", 3*maxLine) + `"}]`, "trace, element 1: the record is longer than 4 MiB; leave it out; copy the complete file"},
	} {
		_, err := all(strings.NewReader(c.text), Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%.80q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}
