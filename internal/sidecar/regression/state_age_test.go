package regression

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// regressed is a job in the middle of a regression, all of whose sums alert.
func regressed(t *testing.T) *feed {
	t.Helper()
	f := newFeed(Options{})
	f.run(8 * day)
	f.median = 600 * time.Millisecond
	f.run(10 * time.Minute)
	if v := f.view(); v.Cusum < v.Limit || v.Step < 1 {
		t.Fatalf("no regression to save: %+v", v)
	}
	return f
}

// TestRestoreAfter: a page outlives a restart, and not two days in which nobody
// looked; what is usual outlives both.
func TestRestoreAfter(t *testing.T) {
	f := regressed(t)
	saved, before := f.State("a", "chat", f.now), f.view()
	timeless := saved
	timeless.Saved = time.Time{}
	for name, tt := range map[string]struct {
		state JobState
		after time.Duration
		want  bool // the page stands
	}{
		"half a minute":          {saved, 30 * time.Second, true},
		"an hour":                {saved, time.Hour, true},
		"a little more":          {saved, time.Hour + time.Second, false},
		"two days":               {saved, 2 * day, false},
		"a clock that went back": {saved, -2 * day, true},
		"a file without a time":  {timeless, 30 * time.Second, false},
	} {
		f := newFeed(Options{})
		f.now = monday.Add(8*day + 10*time.Minute + tt.after)
		f.Restore(tt.state, f.now)
		v := f.view()
		if cusum, step := v.Cusum >= v.Limit, v.Step >= 1; cusum != tt.want || step != tt.want {
			t.Errorf("after %s: the CUSUM alerts: %v, the step: %v, want %v", name, cusum, step, tt.want)
		}
		if !tt.want && (v.Cusum != 0 || v.Step != 0) {
			t.Errorf("after %s the sums begin at %v and %v, want 0", name, v.Cusum, v.Step)
		}
		near(t, "after "+name+" the baseline", v.Baseline, before.Baseline, 1e-6)
		near(t, "after "+name+" the noise", v.Noise, before.Noise, 1e-6)
		near(t, "after "+name+" the limit", v.Limit, before.Limit, 1e-6)
	}
}

// TestBackAfterDays: of a deployment that is well by then nothing is paged, and
// one that is not is paged as soon as any.
func TestBackAfterDays(t *testing.T) {
	f := regressed(t)
	saved := f.State("a", "chat", f.now)
	back := func(median time.Duration) *feed {
		n := newFeed(Options{})
		n.now, n.median = f.now.Add(2*day), median
		n.Restore(saved, n.now)
		return n
	}
	well := back(200 * time.Millisecond)
	for range 60 {
		if v := well.run(time.Minute).view(); v.Cusum >= v.Limit || v.Step >= 1 {
			t.Fatalf("paged at %v, and no turn was slow: %+v", well.now, v)
		}
	}
	ill := back(600 * time.Millisecond)
	if v := ill.run(4 * time.Minute).view(); v.Cusum < v.Limit {
		t.Errorf("four minutes at three times the baseline, and no page: %+v", v)
	}
}

// TestSavedIsWallTime: the file is read by another process, perhaps in another
// time zone.
func TestSavedIsWallTime(t *testing.T) {
	now := monday.Add(90 * time.Minute).In(time.FixedZone("east", 3600))
	text, err := json.Marshal(NewJob(Options{}).State("a", "chat", now))
	if err != nil {
		t.Fatal(err)
	}
	if want := `"saved":"2026-01-05T01:30:00Z"`; !strings.Contains(string(text), want) {
		t.Errorf("saved %s, want %s in it", text, want)
	}
}
