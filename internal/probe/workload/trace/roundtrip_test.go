package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// writers returns functions that write records with lengths, one for each format.
func writers() map[string]func(io.Writer, []Record) {
	csv := func(head, row string, at func(time.Duration) any) func(io.Writer, []Record) {
		return func(w io.Writer, all []Record) {
			fmt.Fprintln(w, head)
			for _, r := range all {
				fmt.Fprintf(w, row+"\n", at(r.At), r.Turns[0].Prompt, r.Turns[0].Output)
			}
		}
	}
	seconds := func(d time.Duration) any { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	date := func(d time.Duration) any {
		return time.Unix(1.7e9, int64(d)).UTC().Format("2006-01-02 15:04:05.0000000")
	}
	object := func(fields func(Record) map[string]any) func(io.Writer, []Record) {
		return func(w io.Writer, all []Record) {
			for _, r := range all {
				_ = json.NewEncoder(w).Encode(fields(r)) // w is in memory
			}
		}
	}
	return map[string]func(io.Writer, []Record){
		"azure":    csv("TIMESTAMP,ContextTokens,GeneratedTokens", "%s,%d,%d", date),
		"burstgpt": csv("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type", "%s,GPT-4,%d,%d,0,API log", seconds),
		"servegen": csv("request_id,timestamp,input_tokens,output_tokens", "0,%s,%d,%d", seconds),
		"mooncake": object(func(r Record) map[string]any {
			return map[string]any{"timestamp": r.At.Milliseconds(), "input_length": r.Turns[0].Prompt, "output_length": r.Turns[0].Output, "hash_ids": r.Turns[0].Blocks}
		}),
		"bailian": object(func(r Record) map[string]any {
			return map[string]any{"chat_id": r.At.String(), "timestamp": r.At.Seconds(), "input_length": r.Turns[0].Prompt, "output_length": r.Turns[0].Output, "hash_ids": r.Turns[0].Blocks}
		}),
		"aiperf": object(func(r Record) map[string]any {
			return map[string]any{"turns": []any{map[string]any{"timestamp": r.At.Milliseconds(), "input_length": r.Turns[0].Prompt, "output_length": r.Turns[0].Output, "hash_ids": r.Turns[0].Blocks}}}
		}),
		"otel": object(func(r Record) map[string]any {
			attribute := func(key string, n int) any {
				return map[string]any{"key": key, "value": map[string]any{"intValue": strconv.Itoa(n)}}
			}
			span := map[string]any{"startTimeUnixNano": strconv.FormatInt(1.7e18+int64(r.At), 10), "attributes": []any{
				attribute("gen_ai.usage.input_tokens", r.Turns[0].Prompt), attribute("gen_ai.usage.output_tokens", r.Turns[0].Output),
			}}
			return map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": []any{span}}}}}}
		}),
	}
}

// random returns records at whole milliseconds, the first at 0.
func random(n int) []Record {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]Record, n)
	at := time.Duration(0)
	for i := range out {
		out[i] = single(at, "", Turn{Prompt: 1 + rng.IntN(9000), Output: rng.IntN(900)})
		at += time.Duration(1+rng.ExpFloat64()*1000) * ms
	}
	return out
}

// TestRoundTrip writes records in each format and reads them again, also ordered by their end.
func TestRoundTrip(t *testing.T) {
	want := random(3000)
	for name, write := range writers() {
		stirred := slices.Clone(want)
		rand.New(rand.NewPCG(3, 4)).Shuffle(1000, func(i, j int) { stirred[i], stirred[j] = stirred[j], stirred[i] })
		var b bytes.Buffer
		write(&b, stirred)
		got, err := all(&b, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d records, want %d", name, len(got), len(want))
		}
		for i, r := range got {
			if w := want[i]; (r.At-w.At).Abs() > time.Microsecond || r.Turns[0].Prompt != w.Turns[0].Prompt || r.Turns[0].Output != w.Turns[0].Output {
				t.Fatalf("%s: record %d is %+v, want %+v", name, i, r, w)
			}
		}
	}
}

// TestTextsRoundTrip does the same for the formats with texts.
func TestTextsRoundTrip(t *testing.T) {
	want := []Record{
		{Turns: []Turn{{Messages: []Message{{"system", "S"}, {"user", "one \"quoted\", ü"}}}, {Messages: user("two\nlines")}}},
		single(0, "", Turn{Messages: user("three")}),
	}
	for _, form := range []string{"messages", "conversation", "conversations"} {
		var list []any
		for _, r := range want {
			var said []any
			for _, turn := range r.Turns {
				for _, m := range turn.Messages {
					said = append(said, map[string]any{"role": m.Role, "content": m.Content, "from": m.Role, "value": m.Content})
				}
				said = append(said, map[string]any{"role": "assistant", "content": "A", "from": "gpt", "value": "A"})
			}
			list = append(list, map[string]any{"id": 1, form: said})
		}
		text, err := json.MarshalIndent(list, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		got, err := all(bytes.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sameRecords(t, got, want)
	}
}

// endless generates a trace of a given size while it is read.
type endless struct {
	form string
	left int
	n    int
	text []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.text) == 0 {
		if e.left <= 0 {
			return 0, io.EOF
		}
		e.text = []byte(e.line())
		e.left -= len(e.text)
	}
	n := copy(p, e.text)
	e.text = e.text[n:]
	return n, nil
}

func (e *endless) line() string {
	e.n++
	switch {
	case e.form == "weka":
		return wekaLine(e.n)
	case e.form == "spans":
		return spansLine(e.n)
	case e.form == "dynamo":
		return dynamoLine(e.n)
	case e.form == "agentic":
		return agenticLine(e.n)
	case e.form == "csv" && e.n == 1:
		return "Timestamp,Session ID,Request tokens,Response tokens\n"
	case e.form == "csv":
		return fmt.Sprintf("%d,s-%d,%d,20\n", e.n, e.n, e.n%9000)
	case e.form == "bailian":
		return fmt.Sprintf(`{"chat_id":%d,"parent_chat_id":%d,"timestamp":%d,"input_length":960,"output_length":20,"hash_ids":[%s%d]}`+"\n", e.n, e.n-e.n%4, e.n, strings.Repeat("1000,", 59), e.n)
	case e.form == "array" && e.n == 1:
		return "["
	case e.form == "array" && e.left < 1000:
		e.left = 0
		return `{"messages":[{"role":"user","content":"last"}]}]`
	case e.form == "array":
		return `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 200) + `"}]},` + "\n"
	}
	return fmt.Sprintf(`{"timestamp":%d,"input_length":30720,"output_length":20,"hash_ids":[%s%d]}`+"\n", e.n, strings.Repeat("100000,", 59), e.n)
}

// sampleEvery is how many bytes of a trace are read between two samples of the memory.
const sampleEvery = 1 << 20

// readThrough reads a trace of a given size. It returns the number of records and the peak
// memory in bytes.
func readThrough(tb testing.TB, form string, size int) (records int, peak uint64) {
	from := &endless{form: form, left: size}
	sampled := size
	r, err := newReader(form, from, Options{From: time.Second})
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	var m runtime.MemStats
	for {
		_, err := r.Next()
		if err == io.EOF {
			return records, peak
		}
		if err != nil {
			tb.Fatal(err)
		}
		if records++; from.left <= sampled-sampleEvery {
			sampled = from.left
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
}

// TestConstantMemory checks that the memory does not depend on the length of the trace.
func TestConstantMemory(t *testing.T) {
	const bound = 48 << 20
	for _, form := range []string{"csv", "bailian", "mooncake", "array", "weka", "spans", "dynamo", "agentic"} {
		if n, peak := readThrough(t, form, 8<<20); peak > bound || peak == 0 {
			t.Errorf("%s: %d records took %d MiB", form, n, peak>>20)
		}
	}
}

// BenchmarkReader reads 1 GB. MiB is the peak memory.
func BenchmarkReader(b *testing.B) {
	for _, form := range []string{"csv", "bailian", "mooncake", "array", "weka", "spans", "dynamo", "agentic"} {
		b.Run(form, func(b *testing.B) {
			b.SetBytes(1e9)
			for b.Loop() {
				n, peak := readThrough(b, form, 1e9)
				b.ReportMetric(float64(peak)/(1<<20), "MiB")
				b.ReportMetric(float64(n), "records")
			}
		})
	}
}

// FuzzReader checks that any input gives records with content, ordered by time, or an error
// that names the trace.
func FuzzReader(f *testing.F) {
	for name := range samples() {
		f.Add(sample(f, name))
	}
	for name := range sessionSamples() {
		f.Add(sample(f, name))
	}
	f.Add([]byte(exportedTwice()))
	f.Add([]byte("[{}]"))
	f.Add([]byte(`{"timestamp":1e300,"input_length":1}`))
	f.Add([]byte("\xef\xbb\xbf timestamp,input_tokens,output_tokens\n1e9,2,3\n\"NaN\",1,1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := all(bytes.NewReader(text), Options{})
		if err != nil && !strings.HasPrefix(err.Error(), "trace") {
			t.Errorf("the error %q", err)
		}
		for i, r := range got {
			if len(r.Turns) == 0 || r.At < 0 || i > 0 && r.At < got[i-1].At {
				t.Errorf("record %d of %d: %+v", i, len(got), r)
			}
			for k, turn := range r.Turns {
				checkNeeds(t, &r, k)
				if _, messages := r.Prompt(k); turn.Prompt == 0 && len(messages) == 0 || turn.Prompt < 0 || turn.Prompt > maxTokens || turn.Output < 0 || turn.Output > maxTokens || turn.After < 0 {
					t.Errorf("record %d: %+v", i, turn)
				}
			}
		}
	})
}
