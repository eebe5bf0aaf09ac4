package regression

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ text, want string }{
		"damaged":     {`{"version": 1,`, "delete the file to learn anew"},
		"of tomorrow": {`{"version": 99}`, "are of version 99, this binary reads 1"},
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

// TestWriteFileLeavesNothingBehind: neither on success nor on failure.
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

// TestRestoreIgnoresWhatDoesNotFit: a state file of another build, or one that
// was edited, must not crash the prober.
func TestRestoreIgnoresWhatDoesNotFit(t *testing.T) {
	j := NewJob(Options{})
	j.Restore(JobState{Series: []SeriesState{
		{Kind: 7, Signal: 0}, {Kind: 0, Signal: -1},
		{Kind: 0, Signal: 0, Cusum: -5, Slots: []SlotState{{Slot: 99, Entries: []Entry{{N: 5}}}, {Slot: 3, Entries: []Entry{{N: 0}, {Mean: -1, N: 9}}}}},
	}}, monday)
	v := j.View(0, 0, monday)
	if v.Cusum != 0 || v.Samples != 9 || !v.Young {
		t.Errorf("restored %+v, want the one good entry", v)
	}
	wild := 1e300
	j.Restore(JobState{Saved: monday, Usual: [kinds]means{{Turns: 99, TTFT: wild}}, Series: []SeriesState{{
		Cusum: wild, Gap: wild, Step: StepState{Sum: wild, Recent: -wild, Up: true}, Below: deviations{N: 1, Squares: wild}, Anchor: &wild,
		Slots: []SlotState{{Entries: []Entry{{Mean: 3e38, N: 9}, {Mean: -1, Variance: -1, N: 9}, {Mean: -1, N: 9}}}},
	}}}, monday)
	if v := j.View(0, 0, monday); v.Cusum != 0 || v.Step != 0 || v.Samples != 9 || !math.IsNaN(j.Parts(0)[0]) {
		t.Errorf("restored %+v and the parts %v, want the one good entry", v, j.Parts(0))
	}
	if _, err := json.Marshal(j.State("a", "b", monday)); err != nil {
		t.Errorf("what was restored cannot be saved: %v", err)
	}
}
