package watch

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestArchive checks that an archive is the same after a round trip, that a damaged one changes nothing, and how large one
// is.
func TestArchive(t *testing.T) {
	f := learned(8, 15*time.Second)
	archive := maps.Collect(f.Histories())[f.key()]
	if again := maps.Collect(f.copy().Histories())[f.key()]; !bytes.Equal(again, archive) {
		t.Errorf("a round trip makes %d bytes of %d", len(again), len(archive))
	}
	if n := len(archive); n > 150_000 {
		t.Errorf("a week of a job needs %d bytes", n)
	}
	edited := func(edit func(*archived)) []byte {
		var a archived
		if err := gob.NewDecoder(bytes.NewReader(archive)).Decode(&a); err != nil {
			t.Fatal(err)
		}
		edit(&a)
		var out bytes.Buffer
		if err := gob.NewEncoder(&out).Encode(a); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for name, data := range map[string][]byte{
		"empty":            {},
		"cut":              archive[:1000],
		"text":             []byte("no gob"),
		"fewer turns":      edited(func(a *archived) { a.Signals[1].History.Turns = nil }),
		"no time":          edited(func(a *archived) { a.Signals[0].Usual.Entries[1].Number = 0 }),
		"no number":        edited(func(a *archived) { a.Signals[0].Usual.Entries[3].Mean = float32(math.NaN()) }),
		"a large number":   edited(func(a *archived) { a.Signals[0].Usual.Accepted = 1e300 }),
		"two of a time":    edited(func(a *archived) { a.Signals[0].Usual.Entries[1] = a.Signals[0].Usual.Entries[0] }),
		"before all times": edited(func(a *archived) { a.Signals[0].History.First = -1 }),
		"a share above 1":  edited(func(a *archived) { a.Signals[0].Usual.Entries[0].Bad = 2 }),
	} {
		j := newJob(f.job)
		if err := j.restoreArchive(data); err == nil || j.signals[0].usual.started() || len(j.signals[0].history.Turns) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzArchive checks that damaged bytes give an error and change nothing, and that what can be read never panics.
func FuzzArchive(f *testing.F) {
	feed := newFeed(nil)
	feed.every = 2 * time.Minute
	archive := maps.Collect(feed.run(13 * time.Hour).Histories())[feed.key()]
	f.Add(archive, 0, byte(0))
	f.Add([]byte{}, 0, byte(0))
	f.Add(encoded(f, archived{Signals: [signalCount]archivedSignal{{Usual: past{Since: math.MinInt32, Accepted: -32}, History: history{First: math.MaxInt64, Means: []int16{1}, Turns: []uint8{1}}}}}), 0, byte(0))
	early := archivedSignal{History: history{Means: make([]int16, 1000), Turns: bytes.Repeat([]byte{9}, 1000)}}
	for n := range int32(40) {
		early.Usual.Entries = append(early.Usual.Entries, entry{Number: n + 1, Mean: 1, Bad: 1, Turns: 20, Learned: true})
	}
	f.Add(encoded(f, archived{Signals: [signalCount]archivedSignal{early, early}}), 0, byte(0))
	for at := range 12 {
		f.Add(archive, len(archive)*at/12, byte(1<<(at%8)))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		data = bytes.Clone(data)
		if at >= 0 && at < len(data) {
			data[at] ^= flip
		}
		next := newFeed(nil)
		next.now = monday.Add(13 * time.Hour)
		refused := false
		next.Tracker = NewTracker(TrackerOptions{Now: func() time.Time { return next.now }, HistoryRefused: func(probe.Key, error) { refused = true }})
		next.Restore(File{}, map[probe.Key][]byte{next.key(): data})
		next.Add(next.job)
		if v := next.ttft(); refused && v.HalfHours > 0 {
			t.Errorf("refused and used: %+v", v)
		}
		next.every = time.Minute
		next.run(40 * time.Minute)
		bounded(t, next)
	})
}

func encoded(f *testing.F, a archived) []byte {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(a); err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}

// bounded checks that all that is exported are numbers in their bounds, and that the state can be saved.
func bounded(t *testing.T, f *feed) {
	t.Helper()
	r := f.reading()
	for i, v := range r.Signals {
		for name, x := range map[string]float64{"page": v.Page, "ticket": v.Ticket, "ratio": v.Ratio.V, "limit": v.Limit.V, "detectable": v.Detectable.V, "usual": r.Usual[0][i].V} {
			if math.IsNaN(x) || x < 0 || math.IsInf(x, 0) && name != "detectable" {
				t.Fatalf("%s of signal %d is %g: %+v", name, i, x, v)
			}
		}
		if _, err := json.Marshal(v.Decision); err != nil {
			t.Fatalf("the decision of signal %d: %v", i, err)
		}
	}
	for k := range kinds {
		if c := r.UsualCached[k].V; c < 0 || c > 1 {
			t.Fatalf("a usual cached share of %g", c)
		}
	}
	if _, err := json.Marshal(f.States()); err != nil {
		t.Fatalf("not saved: %v", err)
	}
}

// FuzzState checks that every readable state file can be restored, used for more turns and saved again, and that the
// exported values are numbers.
func FuzzState(f *testing.F) {
	feed := newFeed(nil)
	feed.every = time.Minute
	text, err := json.Marshal(File{Version: stateVersion, Jobs: feed.run(4 * time.Hour).States().Jobs})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":4,"jobs":[{"target":"a","workload":"chat","saved":"2026-01-05T04:00:00Z","signals":[` +
		`{"classes":{"-1":{},"7":{"Turns":1e38,"Mean":-1e38}},"page":{"up":true,"seen":9223372036854775807,"decision":{"limit":{"value":-1e308}}},"told":{"rise":1e308},"third":1e308,"minutes":-1},` +
		`{"classes":{"3":{"Turns":-1}},"page":{"up":true,"seen":1,"decision":{"score":1e308,"minute":5,"window_minutes":8,"limit":{"value":0.5}}},"told":{"rise":-30,"since":1,"cleared":1}}],"usual":[{"turns":1e308,"ttft":-1e308}]}]}`))
	path := filepath.Join(f.TempDir(), "state.json")
	history := maps.Collect(feed.Histories())
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := ReadFile(path)
		if err != nil {
			return
		}
		for i := range file.Jobs {
			file.Jobs[i].Target, file.Jobs[i].Workload = "a", "chat"
		}
		next := newFeed(nil)
		next.now, next.every = feed.now, time.Minute
		next.Restore(file, maps.Clone(history))
		bounded(t, next)
		next.run(20 * time.Minute)
		bounded(t, next)
	})
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ text, want string }{
		"damaged":     {`{"version": 4,`, "delete the file to start learning again"},
		"of tomorrow": {`{"version": 99}`, "is of version 99, this binary reads 4"},
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
	if err := (File{}).WriteFile(filepath.Join(dir, "missing", "state.json")); err == nil {
		t.Error("no error for a directory that does not exist")
	}
	path := filepath.Join(dir, "state.json")
	f := newFeed(nil)
	f.now = f.now.In(time.FixedZone("east", 3600))
	if err := f.States().WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if back, err := ReadFile(path); err != nil || len(back.Jobs) != 1 || back.Jobs[0].Target != "a" {
		t.Errorf("read %+v, %v", back, err)
	}
	if text, _ := os.ReadFile(path); !strings.Contains(string(text), `"saved":"2026-01-05T00:00:00Z"`) {
		t.Errorf("the time is not saved as UTC: %s", text)
	}
}
