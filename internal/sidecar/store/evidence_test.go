package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/tools/testkit/smalldisk"
)

func wrongAnswer(result recall.Result, turn int) *probe.WrongAnswer {
	sent := time.Unix(1_700_000_000, 0)
	w := &probe.WrongAnswer{
		Result: probe.Result{
			Target: "a", Workload: "chat", Conversation: "c", Turn: turn, TraceID: "trace", SpanID: fmt.Sprint("span", turn), Sent: sent, End: sent.Add(2 * time.Second),
			TTFT: probe.Some(time.Second), Status: 200, Answer: "<b>a foreign text</b>", Recall: probe.Recall{Result: result, Depth: probe.Some(0)},
		},
		Codes:     probe.Codes{Asked: "2AAAA-3BBBB-4CCCC", Found: []recall.Code{"5DDDD-6EEEE-7FFFF"}},
		RequestID: "chatcmpl-7", Header: http.Header{"X-Request-Id": {"req-1"}}, AnswerBytes: 21,
	}
	return w
}

// openedEvidence opens the directory evidence of a directory.
func openedEvidence(t *testing.T, dir string, keep int) (*Evidence, *strings.Builder) {
	t.Helper()
	var said strings.Builder
	e, err := OpenEvidence(EvidenceOptions{Directory: filepath.Join(dir, "evidence"), Keep: keep, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, &said
}

// keptTurns returns the turns of the files of a result, in the order of their names.
func keptTurns(t *testing.T, e *Evidence, result recall.Result) (turns []int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(e.options.Directory, string(result)+"-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var f evidenceFile
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, f.Turn)
	}
	return turns
}

// TestEvidenceKeepsTheLatest: also after a restart, the oldest files of the same result are removed. Those of the
// other result stay. Only the owner has access.
func TestEvidenceKeepsTheLatest(t *testing.T) {
	dir := t.TempDir()
	for restart := range 2 {
		e, _ := openedEvidence(t, dir, 3)
		ctx, cancel := context.WithCancel(t.Context())
		e.Observe(*wrongAnswer(recall.Foreign, 1+restart))
		for i := range 4 {
			e.Observe(*wrongAnswer(recall.Wrong, 10+10*restart+i))
		}
		e.Observe(wrongAnswer(recall.Wrong, 1).Result)
		cancel()
		if err := e.Run(ctx); err != nil {
			t.Fatal(err)
		}
		foreign := []int{1, 2}[:1+restart]
		if got := keptTurns(t, e, recall.Foreign); !slices.Equal(got, foreign) {
			t.Errorf("foreign answers of the turns %v, want %v", got, foreign)
		}
		if got, want := keptTurns(t, e, recall.Wrong), []int{11 + 10*restart, 12 + 10*restart, 13 + 10*restart}; !slices.Equal(got, want) {
			t.Errorf("wrong answers of the turns %v, want %v", got, want)
		}
	}
	at := filepath.Join(dir, "evidence")
	for path, mode := range map[string]os.FileMode{at: 0o700, filepath.Join(at, "foreign-000002-span2.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	text, err := os.ReadFile(filepath.Join(at, "foreign-000002-span2.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "v": 1,
  "result": "foreign",
  "target": "a",
  "workload": "chat",
  "conversation": "c",
  "turn": 2,
  "trace_id": "trace",
  "span_id": "span2",
  "request_id": "chatcmpl-7",
  "asked": "2AAAA-3BBBB-4CCCC",
  "found": [
    "5DDDD-6EEEE-7FFFF"
  ],
  "sent": "2023-11-14T22:13:20Z",
  "first_token": "2023-11-14T22:13:21Z",
  "end": "2023-11-14T22:13:22Z",
  "cached": "unknown",
  "depth": 0,
  "status": 200,
  "response_headers": {
    "X-Request-Id": [
      "req-1"
    ]
  },
  "answer_bytes": 21,
  "answer": "<b>a foreign text</b>"
}
`
	if string(text) != want {
		t.Errorf("%s", text)
	}
}

// TestEvidenceAfterFSGroup: the kubelet has opened the directory and its files to a group at the mount. The prober takes that
// back, but not from files that are not its own.
func TestEvidenceAfterFSGroup(t *testing.T) {
	dir := t.TempDir()
	e, _ := openedEvidence(t, dir, 3)
	e.write(wrongAnswer(recall.Foreign, 1))
	e.Close()
	at := filepath.Join(dir, "evidence")
	kept, copied := filepath.Join(at, "foreign-000001-span1.json"), filepath.Join(at, "SHA256SUMS")
	if err := os.WriteFile(copied, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{at: 0o770 | os.ModeSetgid, kept: 0o660, copied: 0o660} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	e, said := openedEvidence(t, dir, 3)
	for path, mode := range map[string]os.FileMode{at: 0o700, kept: 0o600, copied: 0o660} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if e.write(wrongAnswer(recall.Foreign, 2)); !slices.Equal(keptTurns(t, e, recall.Foreign), []int{1, 2}) || !strings.Contains(said.String(), "mode_before=0770") {
		t.Errorf("%v\n%s", keptTurns(t, e, recall.Foreign), said)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := makePrivate(filepath.Join(dir, "empty"), slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

// TestEvidenceOfAnotherUser is refused, also by root, who could change it.
func TestEvidenceOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to another user")
	}
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o770), os.Chown(dir, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	err := makePrivate(dir, slog.New(slog.DiscardHandler))
	if info, _ := os.Stat(dir); err == nil || !strings.Contains(err.Error(), "it belongs to the user 12345") || info.Mode().Perm() != 0o770 {
		t.Errorf("%v, %v", err, info.Mode())
	}
}

// TestEvidenceNamesDiffer: a file that was moved away has another name than the next one.
func TestEvidenceNamesDiffer(t *testing.T) {
	dir := t.TempDir()
	e, _ := openedEvidence(t, dir, 3)
	e.write(wrongAnswer(recall.Foreign, 1))
	at := e.options.Directory
	if err := os.Rename(filepath.Join(at, "foreign-000001-span1.json"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	e.write(wrongAnswer(recall.Foreign, 2))
	if _, err := os.Stat(filepath.Join(at, "foreign-000001-span2.json")); err != nil {
		t.Error(err)
	}
}

// TestAFailedWriteRemovesNothing: without a full disk, the oldest file stays if the new one cannot be written.
func TestAFailedWriteRemovesNothing(t *testing.T) {
	e, _ := openedEvidence(t, t.TempDir(), 1)
	e.write(wrongAnswer(recall.Foreign, 1))
	broken := wrongAnswer(recall.Foreign, 2)
	broken.SpanID = strings.Repeat("s", 300) // too long a name
	if e.write(broken); e.Dropped() != 1 || !slices.Equal(keptTurns(t, e, recall.Foreign), []int{1}) {
		t.Errorf("%d are missing, kept %v", e.Dropped(), keptTurns(t, e, recall.Foreign))
	}
}

// TestEvidenceRefuses: a directory of other files that others can read, a file, a place without a directory above it, and the directory of
// another process.
func TestEvidenceRefuses(t *testing.T) {
	dir := t.TempDir()
	file, shared := filepath.Join(dir, "file"), filepath.Join(dir, "shared")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shared, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	openedEvidence(t, dir, 1)
	for path, want := range map[string]string{
		file: "is not a directory", shared: "it contains other files: run chmod 700 on it", filepath.Join(dir, "none", "evidence"): "the directory above it must exist",
		filepath.Join(dir, "evidence"): "is in use by process",
	} {
		_, err := OpenEvidence(EvidenceOptions{Directory: path, Keep: 1, Logger: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestEvidenceOnAFullDisk: answers that do not fit are counted, with one message, and delay nothing. At most one older file
// is removed for them. With room again, answers are kept again.
func TestEvidenceOnAFullDisk(t *testing.T) {
	disk := smalldisk.New(t, "1")
	e, said := openedEvidence(t, disk.Path, 5)
	long := func(turn int) *probe.WrongAnswer {
		w := wrongAnswer(recall.Wrong, turn)
		w.Answer = strings.Repeat("rain", 16<<10)
		return w
	}
	for turn := range 5 {
		e.write(wrongAnswer(recall.Wrong, turn+1))
	}
	disk.Fill()
	for turn := range 3 {
		e.write(long(turn + 6))
	}
	if got := keptTurns(t, e, recall.Wrong); e.Dropped() != 3 || !slices.Equal(got, []int{2, 3, 4, 5}) {
		t.Errorf("kept %v, %d are missing, on a full disk", got, e.Dropped())
	}
	disk.Free()
	e.write(long(9))
	if got := keptTurns(t, e, recall.Wrong); !slices.Equal(got, []int{2, 3, 4, 5, 9}) {
		t.Errorf("kept %v", got)
	}
	for i := range maxEvidence + 2 { // nothing reads the queue
		e.Observe(*wrongAnswer(recall.Wrong, i))
	}
	if e.Dropped() != 5 {
		t.Errorf("%d are missing, want 5", e.Dropped())
	}
	for _, text := range []string{"cannot be written", "is written again", "too slow"} {
		if n := strings.Count(said.String(), text); n != 1 {
			t.Errorf("%q was logged %d times:\n%s", text, n, said)
		}
	}
}

// TestEvidenceIsBounded: the longest answer and headers that a conversation reports, in characters that JSON escapes.
func TestEvidenceIsBounded(t *testing.T) {
	w := wrongAnswer(recall.Foreign, 1)
	w.Answer = strings.Repeat("\x01", 64<<10)
	for i := range 64 {
		w.Header.Set(fmt.Sprint("H", i), strings.Repeat("\x01", 256))
	}
	if text, err := encodeEvidence(w); err != nil || len(text) > 512<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
