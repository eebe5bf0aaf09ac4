package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"synthetic/internal/probe"
	"synthetic/tools/testkit/smalldisk"
	"synthetic/tools/testkit/turns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func result(sent time.Time, took time.Duration) probe.Result {
	return probe.Result{
		Target: "a", Workload: "chat", Kind: probe.First, Sent: sent, End: sent.Add(took), Outcome: probe.Success,
		TTFT: probe.Some(took / 2), Err: "a secret error",
		Asked: probe.Asked{Turn: 1},
		Texts: probe.Texts{Answer: "a secret answer"},
	}
}

// opened returns a log in a new directory.
func opened(t *testing.T, o Options) (*Log, *strings.Builder) {
	t.Helper()
	var said strings.Builder
	o.Logger = slog.New(slog.NewTextHandler(&said, nil))
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "turns.jsonl")
	}
	o.MaxSize, o.Keep = max(o.MaxSize, 1), max(o.Keep, 1)
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, &said
}

// running runs a log until stop is called.
func running(l *Log) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- l.Run(ctx) }()
	return func() {
		cancel()
		<-done
	}
}

// readBack returns the times at which the turns in log files were sent.
func readBack(t *testing.T, paths ...string) (sent []time.Time) {
	t.Helper()
	all, err := turns.Read(paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range all {
		sent = append(sent, turn.At)
	}
	return sent
}

// TestWritten checks that turns are written within 5 s, and all of them at the end, and are read in the order of
// sending.
func TestWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "turns.jsonl")
	synctest.Test(t, func(t *testing.T) {
		l, _ := opened(t, Options{Path: path, MaxSize: 1 << 20})
		stop := running(l)
		begin := time.Now()
		time.Sleep(2 * time.Minute)
		l.Observe(result(begin.Add(50*time.Second), 10*time.Second))
		l.Observe(probe.Start{Target: "a", Workload: "chat"})
		l.Observe(result(begin.Add(time.Second), 119*time.Second))
		time.Sleep(writeEvery)
		synctest.Wait()
		want := []time.Time{begin.Add(time.Second).UTC(), begin.Add(50 * time.Second).UTC()}
		if diff := cmp.Diff(want, readBack(t, path)); diff != "" {
			t.Errorf("while it runs (-want +got):\n%s", diff)
		}
		l.Observe(result(begin.Add(110*time.Second), time.Second))
		stop()
		if diff := cmp.Diff(append(want, begin.Add(110*time.Second).UTC()), readBack(t, path)); diff != "" {
			t.Errorf("at its end (-want +got):\n%s", diff)
		}
	})
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "secret") || strings.Count(string(text), "\n") != 3 {
		t.Errorf("%v: the log has\n%s", err, text)
	}
}

// TestRotation checks that older files are compressed, the oldest are removed, and the rest
// reads as one log.
func TestRotation(t *testing.T) {
	l, _ := opened(t, Options{MaxSize: 1000, Keep: 3})
	begin := time.Now().Add(-time.Hour).Truncate(time.Microsecond)
	const turns = 100
	for i := range turns { // as if each were written alone
		l.add(lineOf(result(begin.Add(time.Duration(i)*time.Second), time.Second)))
		l.write()
	}
	l.Close()
	older, err := filepath.Glob(strings.TrimSuffix(l.options.Path, ".jsonl") + "-*.jsonl.zst")
	if err != nil || len(older) != 3 {
		t.Fatalf("%v: older files %q, want 3", err, older)
	}
	sent := readBack(t, append(older, l.options.Path)...)
	for i, at := range sent {
		if want := begin.Add(time.Duration(turns-len(sent)+i) * time.Second).UTC(); !at.Equal(want) {
			t.Fatalf("turn %d of %d was sent at %s, want %s", i, len(sent), at, want)
		}
	}
	if len(sent) < 10 || len(sent) > 30 {
		t.Errorf("%d turns are left in files of 1000 bytes", len(sent))
	}
	entries, err := os.ReadDir(filepath.Dir(l.options.Path))
	if err != nil || len(entries) != 5 { // and the lock
		t.Errorf("%v: the directory has %v", err, entries)
	}
}

// TestReopened checks that the log repairs the file that a crash left.
func TestReopened(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "turns.jsonl")
	at := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	line := func(at time.Time) string {
		return string(lineOf(result(at, time.Second)))
	}
	for name, text := range map[string]string{
		path: line(at.Add(time.Minute)) + `{"at":"2026-01-0`,
		filepath.Join(dir, "turns-20260105T080030.000000Z.jsonl"): line(at),
		filepath.Join(dir, ".turns.jsonl.zst1234567890123"):       "half",
		filepath.Join(dir, "turns-mine.jsonl"):                    "mine",
		filepath.Join(dir, "other-20260105T080030.000000Z.jsonl"): "theirs",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, _ := opened(t, Options{Path: path, MaxSize: 1 << 20})
	if second, err := Open(l.options); err == nil {
		second.Close()
		t.Error("a second process may write the same log")
	}
	l.Observe(result(at.Add(2*time.Minute), time.Second))
	running(l)()
	want := []time.Time{at, at.Add(time.Minute), at.Add(2 * time.Minute)}
	if diff := cmp.Diff(want, readBack(t, path, filepath.Join(dir, "turns-20260105T080030.000000Z.jsonl"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("%v: the directory has %v", err, entries)
	}
}

func TestRefusesOthersFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"notes.txt": "to do", "one.json": `{"a":1}`} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Options{Path: path, MaxSize: 1, Keep: 1}); err == nil || !strings.Contains(err.Error(), "is not a turn log; name another file") {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(path); string(after) != text {
			t.Errorf("%s became %q", name, after)
		}
	}
	if _, err := Open(Options{Path: filepath.Join(dir, "none", "turns.jsonl")}); err == nil || !strings.Contains(err.Error(), "its directory must exist") {
		t.Errorf("no directory: %v", err)
	}
}

// TestUnwritable checks that a log that cannot be written delays no turn, counts the missing
// ones and logs one error.
func TestUnwritable(t *testing.T) {
	l, said := opened(t, Options{MaxSize: 1 << 20})
	at := time.Now().Add(-time.Hour)
	for i := range maxQueued + 7 { // nothing reads the queue
		l.Observe(result(at.Add(time.Duration(i)*time.Millisecond), time.Second))
	}
	if got := l.Dropped(); got != 7 {
		t.Errorf("%d turns did not fit, want 7", got)
	}
	path := l.options.Path
	if err := errors.Join(os.Rename(path, path+".aside"), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		l.add(<-l.queue)
	}
	l.write()
	if got := l.Dropped(); got != 107 {
		t.Errorf("%d turns are missing, want 107", got)
	}
	if err := errors.Join(os.Remove(path), os.Rename(path+".aside", path)); err != nil {
		t.Fatal(err)
	}
	running(l)()
	if got := len(readBack(t, path)); got != maxQueued-100 {
		t.Errorf("%d turns were written, want %d", got, maxQueued-100)
	}
	for _, what := range []string{"cannot keep up", "cannot be written", "is written again"} {
		if n := strings.Count(said.String(), what); n != 1 {
			t.Errorf("%q was said %d times:\n%s", what, n, said)
		}
	}
}

// TestRemovedDirectory checks that turns are counted as missing while the directory of the log is removed, and
// written to the file of that name afterwards.
func TestRemovedDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, said := opened(t, Options{Path: filepath.Join(dir, "turns.jsonl"), MaxSize: 1 << 20})
	at := time.Now().Add(-time.Hour)
	write := func() {
		l.add(lineOf(result(at, time.Second)))
		l.write()
	}
	write()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	write()
	if l.Dropped() != 1 || !strings.Contains(said.String(), "cannot be written") {
		t.Errorf("%d turns are counted as missing, want 1; log:\n%s", l.Dropped(), said)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write()
	if got := len(readBack(t, l.options.Path)); got != 1 {
		t.Errorf("%d turns can be read, want 1", got)
	}
}

// TestFullDisk checks that only whole lines are missing while the disk is full, and that turns
// are written again when it has room.
func TestFullDisk(t *testing.T) {
	disk := smalldisk.New(t, "1")
	l, said := opened(t, Options{Path: filepath.Join(disk.Path, "turns.jsonl"), MaxSize: 1 << 20})
	at := time.Now().Add(-time.Hour)
	write := func(from, n int) {
		for i := range n {
			l.add(lineOf(result(at.Add(time.Duration(from+i)*time.Millisecond), time.Second)))
		}
		l.write()
	}
	write(0, 10)
	disk.Fill()
	write(1000, 2000) // 400 kB
	if l.Dropped() == 0 {
		t.Error("all fitted on a full disk")
	}
	disk.Free()
	write(5000, 10)
	if got, want := len(readBack(t, l.options.Path)), 2020-int(l.Dropped()); got != want {
		t.Errorf("%d turns can be read, want %d:\n%s", got, want, said)
	}
	if n := strings.Count(said.String(), "cannot be written"); n != 1 {
		t.Errorf("that it cannot be written was said %d times:\n%s", n, said)
	}
}

// TestReadOnlyVolume makes the volume of the log read-only and writable again. Turns are counted as
// missing meanwhile, and written afterwards.
func TestReadOnlyVolume(t *testing.T) {
	disk := smalldisk.New(t, "1")
	l, said := opened(t, Options{Path: filepath.Join(disk.Path, "turns.jsonl"), MaxSize: 1 << 20})
	write := func() {
		l.add(lineOf(result(time.Now(), time.Second)))
		l.write()
	}
	write()
	disk.SetReadOnly(true)
	write()
	if l.Dropped() != 1 || !strings.Contains(said.String(), "read-only file system") {
		t.Errorf("%d turns are counted as missing, want 1; log:\n%s", l.Dropped(), said)
	}
	disk.SetReadOnly(false)
	write()
	if got := len(readBack(t, l.options.Path)); got != 2 {
		t.Errorf("%d turns can be read, want 2", got)
	}
}

func lineOf(r probe.Result) []byte { return r.AppendLine(nil) }
