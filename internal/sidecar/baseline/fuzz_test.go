package baseline

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzState checks that every readable state file can be restored, used for more turns and
// saved again, that the exported values are numbers, and that a second save and restore changes
// nothing.
func FuzzState(f *testing.F) {
	j := testJob(options{})
	for i := range 40 {
		j.observe(success(time.Duration(1+i%3)*100*time.Millisecond), monday.Add(time.Duration(i)*5*time.Minute))
	}
	text, err := json.Marshal(File{Version: stateVersion, Jobs: []JobState{j.state(monday)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":2,"jobs":[{"target":"a","workload":"b","saved":"2026-01-05T00:00:00Z","series":[` +
		`{"onset":{"since":-9223372036854775808},"page":{"up":true,"began":-9,"seen":9223372036854775807,"limit":-1e308,"over":1e308},"told":{"level":1e308,"tail":-1e308}}` +
		`],"usual":[{"turns":1e308,"connect":-1e308,"ttft":1e308,"tpot":1e308,"output":1e308}]}]}`))
	path := filepath.Join(f.TempDir(), "state.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := ReadFile(path)
		if err != nil {
			return
		}
		for _, st := range file.Jobs[:min(len(file.Jobs), 10)] {
			checkState(t, st)
		}
	})
}

func checkState(t *testing.T, st JobState) {
	t.Helper()
	now := monday.Add(time.Minute)
	restored := func(st JobState) (*job, JobState, []byte) {
		j := testJob(options{})
		j.restore(st, now)
		out := j.state(now)
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatalf("restored, and not saved again: %v", err)
		}
		return j, out, text
	}
	_, first, text := restored(st)
	j, _, again := restored(first)
	if string(text) != string(again) {
		t.Errorf("saved as\n%s\nand after a restart as\n%s", text, again)
	}
	for i := range 20 {
		j.observe(success(time.Second), now.Add(time.Duration(i)*time.Minute))
		checkViews(t, j, now.Add(time.Duration(i)*time.Minute))
	}
	if _, err := json.Marshal(j.state(now)); err != nil {
		t.Errorf("not saved after some turns: %v", err)
	}
}

func checkViews(t *testing.T, j *job, at time.Time) {
	t.Helper()
	views := j.views(at)
	for k := range kinds {
		for s := range signals {
			v := views[k][s]
			for name, x := range map[string]float64{"page": v.Page, "ticket": v.Ticket, "moments": v.Log2 + v.BaselineLog2} {
				if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
					t.Fatalf("%s of kind %d, signal %d is %g: %+v", name, k, s, x, v)
				}
			}
		}
		for i, part := range j.parts[k].excess().V {
			if math.IsInf(part, 0) {
				t.Fatalf("part %d of kind %d is %g", i, k, part)
			}
		}
		if c := j.cached[k].usual(j.wall(at)).V; c < 0 || c > 1 {
			t.Fatalf("a usual cached share of %g", c)
		}
	}
}
