package baseline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRestoreAfter checks that a page survives a restart, but not two hours without a process.
// The baseline survives both.
func TestRestoreAfter(t *testing.T) {
	f := newFeed(options{})
	f.run(3 * day)
	if v := f.at(3, 10*time.Minute).view(); !pages(v) {
		t.Fatalf("no regression to save: %+v", v)
	}
	history, before, saved := f.archive(), f.view(), f.now
	path := filepath.Join(t.TempDir(), "state.json")
	if err := (File{Jobs: []JobState{f.state(f.now)}}).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	file, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]bool{
		time.Minute: true, 10 * time.Minute: true, time.Hour + time.Second: false, 2 * time.Hour: false,
	} {
		ill := newFeed(options{})
		ill.now, ill.ratio = saved.Add(after), 3
		ill.restart(t, options{}, file.Jobs[0], history)
		if pages(ill.view()) != want {
			t.Errorf("after %v the page stands: %v", after, !want)
		}
		near(t, "baseline", ill.view().Baseline.V, before.Baseline.V, 0.003)
		if v := ill.run(5 * time.Minute).view(); !pages(v) || v.Turns != 15 {
			t.Errorf("after %v and five minutes at ×3: %+v", after, v)
		}
		well := newFeed(options{})
		well.now = saved.Add(after)
		well.restart(t, options{}, file.Jobs[0], history)
		if v := well.run(10 * time.Minute).view(); pages(v) {
			t.Errorf("after %v and ten minutes without a slow turn: %+v", after, v)
		}
		if n := well.pagesIn(5 * time.Hour); n != 0 {
			t.Errorf("after %v: %d pages of what was over", after, n)
		}
	}
}

// TestRestoredWithoutHistory checks that a restored page ends if there is no history, and that
// the level is then learned.
func TestRestoredWithoutHistory(t *testing.T) {
	now := monday
	j := testJob(options{})
	j.restore(JobState{Saved: now, Series: []seriesState{{Page: verdict{Up: true, Began: minuteOf(now) - 9, Seen: minuteOf(now), reason: reason{Limit: 0.7}}}}}, now)
	f := newFeed(options{})
	f.job = j
	if !pages(f.view()) {
		t.Fatal("the page is not restored")
	}
	if v := f.run(30 * time.Hour).view(); pages(v) || v.Young {
		t.Errorf("a day later: %+v", v)
	}
}

// TestStateAfterATicket checks that the state of a signal without turns, whose level is
// unknown, can be saved.
func TestStateAfterATicket(t *testing.T) {
	f := newFeed(options{})
	f.run(3 * day)
	f.every = 2 * time.Second
	f.at(1.25, 4*time.Hour)
	f.series[1][1].closeTicket(false)
	known := false
	state := f.state(f.now)
	for _, s := range state.Series {
		known = known || s.Told.Level > 0
	}
	if _, err := json.Marshal(state); err != nil || !known {
		t.Errorf("after a ticket: %v, known: %v", err, known)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ text, want string }{
		"damaged":     {`{"version": 2,`, "delete the file to start learning again"},
		"of tomorrow": {`{"version": 99}`, "is of version 99, this binary reads 2"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if f, err := ReadFile(filepath.Join(dir, "none")); err != nil || len(f.Jobs) != 0 {
		t.Errorf("a file that does not exist: %+v, %v", f, err)
	}
}

// TestWriteFileLeavesNothingBehind checks that neither a success nor a failure leaves temporary
// files.
func TestWriteFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	if err := (File{}).WriteFile(filepath.Join(dir, "state.json")); err != nil {
		t.Fatal(err)
	}
	if err := (File{}).WriteFile(filepath.Join(dir, "missing", "state.json")); err == nil {
		t.Error("no error for a directory that does not exist")
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (File{}).WriteFile(filepath.Join(dir, "taken")); err == nil {
		t.Error("no error for a path that is a directory")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("%v is there, want the state file and the directory", entries)
	}
}

// TestSavedIsWallTime checks that times are saved in UTC and without the monotonic reading,
// because another process reads them.
func TestSavedIsWallTime(t *testing.T) {
	now := monday.Add(90 * time.Minute).In(time.FixedZone("east", 3600))
	text, err := json.Marshal(testJob(options{}).state(now))
	if err != nil {
		t.Fatal(err)
	}
	if want := `"saved":"2026-01-05T01:30:00Z"`; !strings.Contains(string(text), want) {
		t.Errorf("saved %s, want %s in it", text, want)
	}
}

// TestRestoreIgnoresWhatDoesNotFit checks that an edited state file neither crashes the prober
// nor keeps a page up.
func TestRestoreIgnoresWhatDoesNotFit(t *testing.T) {
	up := verdict{Up: true, Seen: minuteOf(monday), reason: reason{Limit: 0.5}}
	wild, stuck := up, up
	wild.Limit, stuck.Over = 1e300, -5
	j := testJob(options{})
	j.restore(JobState{Saved: monday, Usual: [kinds]means{{Turns: 99, TTFT: 1e300}}, Series: []seriesState{
		{Kind: 7}, {Signal: -1, Page: up}, {Page: wild, Told: reportedLevel{Level: -1e300}}, {Signal: 1, Ticket: stuck},
	}}, monday)
	for i := range signals {
		if v := j.views(monday)[0][i]; v.Page != 0 || v.Ticket != 0 {
			t.Errorf("restored %+v", v)
		}
	}
}
