package turnlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"synthetic/internal/probe"
)

func start() time.Time { return time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC) }

// whole returns a turn with all values known.
func whole() Turn {
	return Turn{
		At: start().Add(250 * time.Millisecond), Target: "chat", Workload: "short", Kind: probe.Followup, Outcome: probe.Success,
		TTFT: probe.Some(123456 * time.Microsecond), TPOT: probe.Some(20 * time.Millisecond), Duration: probe.Some(1063456 * time.Microsecond),
		PromptTokens: probe.Some(1500), CachedTokens: probe.Some(1200), OutputTokens: probe.Some(48),
		TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331", Moved: probe.Some(true), Burst: true,
	}
}

func bare(at time.Duration) Turn {
	return Turn{At: start().Add(at), Target: "chat", Workload: "short", Kind: probe.First, Outcome: probe.HTTP5xx}
}

// all reads all turns.
func all(r interface{ Next() (*Turn, error) }) (turns []Turn, err error) {
	for {
		t, err := r.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return turns, err
		}
		turns = append(turns, *t)
	}
}

func read(t *testing.T, text string) ([]Turn, error) {
	t.Helper()
	r, err := NewReader("turns.jsonl", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return all(r)
}

func lines(turns ...Turn) string {
	var b []byte
	for _, t := range turns {
		b = t.Append(b)
	}
	return string(b)
}

func TestWrittenAndRead(t *testing.T) {
	odd := whole()
	odd.Target, odd.Workload, odd.TraceID = "a \"b\"\\\n\u2028é", "<&>", ""
	studied := whole()
	studied.Study = &Study{Level: 0.5, Rate: true, Repetition: 2, Phase: Measured, Conversation: "c-17", Index: 3, AnswerTTFT: probe.Some(time.Second)}
	routed := whole()
	routed.Gateway = probe.Gateway{Retries: probe.Some(2), Fallbacks: probe.Some(0), Overhead: probe.Some(17696 * time.Microsecond)}
	failed := bare(0)
	failed.UncachedEstimate = probe.Some(300)
	want := []Turn{bare(0), failed, whole(), odd, studied, routed}
	got, err := read(t, lines(want...))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	const line = `{"at":"2026-01-05T08:00:00.250000Z","target":"chat","workload":"short","turn":"followup","outcome":"success",` +
		`"ttft_seconds":0.123456,"tpot_seconds":0.02,"duration_seconds":1.063456,"prompt_tokens":1500,"cached_prompt_tokens":1200,` +
		`"output_tokens":48,"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331","session":"lost","extra":true,"v":1}` + "\n"
	if diff := cmp.Diff(line, lines(whole())); diff != "" {
		t.Errorf("the form of a line has changed, which needs another version (-want +got):\n%s", diff)
	}
}

// TestOthersLines reads lines of other programs, with other key orders and additional keys.
func TestOthersLines(t *testing.T) {
	const must = `"target":"chat","workload":"short","turn":"first","outcome":"http_5xx"`
	for name, line := range map[string]string{
		"least":        `{"at":"2026-01-05T08:00:00Z",` + must + `}`,
		"spaces":       ` { "at" : "2026-01-05T08:00:00Z" ,` + must + " } \r",
		"offset":       `{"at":"2026-01-05T09:30:00.000+01:30",` + must + `}`,
		"unknown keys": `{"a":{"b":[1,{"c":"}"}]},"AT":1,"Target":null,"x":true,"y":"é","at":"2026-01-05T08:00:00Z",` + must + `,"v":"mine"}`,
		"null":         `{"at":"2026-01-05T08:00:00Z",` + must + `,"ttft_seconds":null}`,
		"escapes":      `{"\u0061t":"2026-01-05T08:00:00Z","target":"ch\u0061t","workload":"short","turn":"first","outcome":"http_5xx"}`,
		"twice":        `{"at":"2020-01-05T08:00:00Z","at":"2026-01-05T08:00:00Z",` + must + `}`,
		"a log's own":  `{"rate":"info","concurrency":null,"phase":7,"index":{},"at":"2026-01-05T08:00:00Z",` + must + `}`,
		"blank lines":  "\n\n" + `{"at":"2026-01-05T08:00:00Z",` + must + "}\n\n",
	} {
		got, err := read(t, line)
		if diff := cmp.Diff([]Turn{bare(0)}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	got, err := read(t, `{"at":"2026-01-05T08:00:00Z",`+must+`,"ttft_seconds":1.5e-1,"duration_seconds":0.00000000000000000000000000001,"output_tokens":48.0,"prompt_tokens":1e3}`)
	want := bare(0)
	want.TTFT, want.OutputTokens, want.PromptTokens, want.Duration = probe.Some(150*time.Millisecond), probe.Some(48), probe.Some(1000), probe.Some(time.Duration(0))
	if diff := cmp.Diff([]Turn{want}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestMistakes(t *testing.T) {
	good := strings.TrimSpace(lines(bare(0)))
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for line, want := range map[string]string{
		`[]`:                "it is not one JSON object: it has another type; each line of a turn log is one",
		`{"at":`:            "it is not one JSON object: it is incomplete",
		good + `{}`:         "more follows the object",
		"{'a':1}":           "invalid character",
		`{"target":"chat"}`: `"at" is missing; every turn needs ["at" "target" "workload" "turn" "outcome"]`,
		with(`"2026-01-05T08:00:00.000000Z"`, `1767600000`):                         `at is 1767600000; write the time the turn was sent, such as "2026-01-05T08:00:00.25Z"`,
		with(`05T08`, `05 08`):                                                      `at is "2026-01-05 08:00:00.000000Z"; write the time the turn was sent in RFC 3339`,
		with(`T08:00:00`, `T08:61:00`):                                              "in RFC 3339",
		with(`2026-01-05`, `0001-01-05`):                                            "outside the years 1971 to 2261",
		with(`"first"`, `"second"`):                                                 `turn is "second"; write one of ["first" "followup"]`,
		with(`"http_5xx"`, `"http_500"`):                                            `outcome is "http_500"; write one of ["success" "connect_error"`,
		with(`"chat"`, `""`):                                                        `target is ""; write its name as a string`,
		with(`"chat"`, `7`):                                                         `target is "7"; write its name as a string`,
		with(`"v"`, `"ttft_seconds":-1,"v"`):                                        `ttft_seconds is "-1"; write seconds from 0 to 1000000, or omit it if it is unknown`,
		with(`"v"`, `"ttft_seconds":"0.1","v"`):                                     "write seconds from 0",
		with(`"v"`, `"tpot_seconds":1e400,"v"`):                                     "write seconds from 0",
		with(`"v"`, `"output_tokens":1.5,"v"`):                                      `output_tokens is "1.5"; write a whole number from 0 to 1000000000`,
		with(`"v":1`, `"v":2`):                                                      "it has format version 2, and this program reads version 1",
		with(`"v"`, `"prompt_tokens":01,"v"`):                                       "not one JSON object",
		strings.Repeat(" ", maxLine) + good:                                         "it is longer than 65536 bytes",
		strings.TrimSpace(lines(bare(time.Hour))) + "\n" + lines(bare(time.Minute)): "line 2: the turn was sent at 2026-01-05T08:01:00Z, 59m0s earlier than a turn before it; sort the log",
	} {
		_, err := read(t, line)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "turns.jsonl, line ") {
			t.Errorf("%.200s: %v, want %q", line, err, want)
		}
	}
}

// TestLateLines checks that lines that are late by less than Slack are sorted.
func TestLateLines(t *testing.T) {
	var late, want []Turn
	for i := range 300 {
		want = append(want, bare(time.Duration(i)*time.Minute/4))
	}
	for i := 0; i < len(want); i += 30 {
		late = append(late, want[i+15:i+30]...)
		late = append(late, want[i:i+15]...)
	}
	got, err := read(t, lines(late...))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func packed(t *testing.T, text string, pack func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var b bytes.Buffer
	w := pack(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func zstandard(w io.Writer) io.WriteCloser {
	z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	return z
}

// TestLog merges files with different compressions.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parts := make([]string, 4)
	var want []Turn
	for i := range 400 {
		turn := bare(time.Duration(i) * time.Second)
		want = append(want, turn)
		if i < 100 { // the part before the log rotation
			parts[3] += lines(turn)
		} else {
			parts[i%3] += lines(turn)
		}
	}
	paths := []string{
		file("plain.jsonl", parts[0]), file("empty", ""), file("a.gz", packed(t, parts[1], gzipped)),
		file("b.zst", packed(t, parts[2], zstandard)), file("older.jsonl.zst", packed(t, parts[3], zstandard)),
	}
	l, err := Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a replay reads twice
		m := l.Read()
		got, err := all(m)
		m.Close()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestLogRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ text, want string }{
		"empty.jsonl": {"", "there is no turn in"},
		"cut.gz":      {packed(t, lines(whole(), whole()), gzipped)[:60], "copy the complete file"},
		"cut.zst":     {packed(t, lines(whole(), whole()), zstandard)[:60], "copy the complete file"},
		"bad.gz":      {"\x1f\x8b\x00\x00", "decompressing as gzip"},
		"words.txt":   {"hello", "line 1: it is not one JSON object"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open([]string{path}); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := Open([]string{filepath.Join(dir, "none")}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Open([]string{os.DevNull}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
}

// TestResult checks that Result undoes FromResult.
func TestResult(t *testing.T) {
	turn := whole()
	if diff := cmp.Diff(turn, FromResult(new(turn.Result()))); diff != "" {
		t.Errorf("(-logged +replayed):\n%s", diff)
	}
	turn.Duration.OK = false
	if got, want := turn.TotalDuration(), 123456*time.Microsecond+47*20*time.Millisecond; got != want {
		t.Errorf("a turn without a duration lasts %s, want %s", got, want)
	}
}

// scanWhole is scan written with encoding/json.
func scanWhole(line []byte, field func(key []byte, k kind, value []byte) error) error {
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("not one object: %w", err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fmt.Errorf("not one object: %w", err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("not one object: %w", err)
		}
		k, value := kindOf(raw)
		if err := field([]byte(key.(string)), k, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("not one object: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more follows the object")
	}
	return nil
}

// kindOf returns the kind of a valid JSON value.
func kindOf(raw []byte) (kind, []byte) {
	switch raw[0] {
	case '"':
		var v string
		_ = json.Unmarshal(raw, &v) // raw is valid JSON
		return textKind, []byte(v)
	case 'n':
		return nullKind, raw
	case 't', 'f', '{', '[':
		return otherKind, raw
	}
	return numberKind, raw
}

// FuzzDecode compares the decoder with encoding/json, and checks that an accepted turn can be
// written and read again.
func FuzzDecode(f *testing.F) {
	for _, line := range []string{
		lines(whole()), lines(bare(0)), `{"a":{"b":[1]},"at":"2026-01-05T08:00:00.1+01:00","x":-0.5e+3}`, `{}`, `{"a":1,}`,
		`{"ttft_seconds":0.30000000000000004441,"tpot_seconds":123456789012345678,"x":"é\n"}`, `{"a":01}`, "{\"a\":\"\x01\"}", `{"a":1}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		gather := func(into *[]string) func([]byte, kind, []byte) error {
			return func(key []byte, k kind, v []byte) error {
				if k == otherKind {
					v = nil
				}
				*into = append(*into, fmt.Sprintf("%q %d %q", key, k, v))
				return nil
			}
		}
		var ours, whole []string
		switch err, refused := scan(bytes.Clone(line), gather(&ours)), scanWhole(line, gather(&whole)); {
		case (err == nil) != (refused == nil):
			t.Fatalf("%q: %v, encoding/json says %v", line, err, refused)
		case err == nil && utf8.Valid(line): // scan replaces invalid UTF-8 differently than encoding/json
			if diff := cmp.Diff(whole, ours); diff != "" {
				t.Fatalf("%q (-encoding/json +ours):\n%s", line, diff)
			}
		}
		d := newDecoder()
		turn, err := d.decode(bytes.TrimSpace(line))
		if err != nil {
			return
		}
		first := *turn
		again, err := d.decode(bytes.TrimSpace(first.Append(nil)))
		if err != nil {
			t.Fatalf("%q became %q, which is refused: %v", line, first.Append(nil), err)
		}
		if again.Outcome != first.Outcome || again.Target != first.Target || again.OutputTokens != first.OutputTokens || first.At.Sub(again.At) >= time.Microsecond {
			t.Errorf("%q was read as %v, and again as %v", line, first, *again)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var turns []byte
	for i := range 10_000 {
		turn := whole()
		turn.At = turn.At.Add(time.Duration(i) * time.Second)
		turns = turn.Append(turns)
	}
	b.SetBytes(int64(len(turns)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader("bench", bytes.NewReader(turns))
		if err != nil {
			b.Fatal(err)
		}
		if got, err := all(discard{r}); err != nil || len(got) > 0 {
			b.Fatal(err)
		}
	}
}

// discard reads turns and drops them.
type discard struct{ *Reader }

func (d discard) Next() (*Turn, error) {
	for {
		if t, err := d.Reader.Next(); err != nil {
			return t, err
		}
	}
}
