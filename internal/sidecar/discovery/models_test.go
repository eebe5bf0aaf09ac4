package discovery

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe/target"
)

func TestPick(t *testing.T) {
	tests := map[string]struct {
		patterns []string
		most     int
		listed   []string
		want     []string
		left     int
	}{
		"all":                             {nil, 8, []string{"b", "a"}, []string{"a", "b"}, 0},
		"all, nothing listed":             {nil, 8, nil, nil, 0},
		"too many":                        {nil, 2, []string{"c", "b", "a"}, []string{"a", "b"}, 1},
		"names are probed if not listed":  {[]string{"y", "x"}, 8, []string{"z"}, []string{"x", "y"}, 0},
		"a pattern":                       {[]string{"meta/*-8b"}, 8, []string{"meta/llama/3-8b", "meta/3-70b", "metaX8b"}, []string{"meta/llama/3-8b"}, 0},
		"a dot is a dot":                  {[]string{"v1.*"}, 8, []string{"v1.5", "v10"}, []string{"v1.5"}, 0},
		"names before matches":            {[]string{"z", "*"}, 2, []string{"b", "a", "z"}, []string{"z", "a"}, 1},
		"listed twice":                    {nil, 8, []string{"a", "a"}, []string{"a"}, 0},
		"a name that is a regexp is none": {[]string{"(.+"}, 8, []string{"a"}, []string{"(.+"}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, left := ModelSet{Patterns: tc.patterns, Most: tc.most}.Pick(tc.listed)
			if diff := cmp.Diff(tc.want, got); diff != "" || left != tc.left {
				t.Errorf("left %d, want %d (-want +got):\n%s", left, tc.left, diff)
			}
		})
	}
}

// TestModelsFollower follows the models of one target through changes, failures and reloads.
func TestModelsFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log strings.Builder
		answer, changes, asked := []string(nil), 0, 0
		err := errors.New("no route")
		f := NewModelFollower(slog.New(slog.NewTextHandler(&log, nil)), func(_ context.Context, _ target.Target, sent func()) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			asked++
			if err == nil {
				sent()
			}
			return append([]string(nil), answer...), err
		})
		set := ModelSet{Target: target.Target{Name: "a"}, Most: 2, Interval: time.Minute}
		f.Follow([]ModelSet{set, {Target: target.Target{Name: "fixed"}, Patterns: []string{"x"}, Most: 8, Interval: time.Minute}})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			_ = f.Run(ctx, func() error {
				changes++
				return nil
			})
		})
		after := func(d time.Duration, what string, wantChanges int, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(want, f.Listed()["a"]); diff != "" || changes != wantChanges {
				t.Errorf("%s: %d changes, want %d (-want +got):\n%s", what, changes, wantChanges, diff)
			}
		}
		say := func(e error, models ...string) {
			mu.Lock()
			defer mu.Unlock()
			err, answer = e, models
		}
		after(time.Second, "no answer", 0)
		if !f.Awaits("a/x") || f.Awaits("fixed/x") || f.Awaits("b/x") {
			t.Error("awaits the wrong targets")
		}
		say(nil, "y", "x")
		after(5*time.Second, "the first answer counts, and the first request is repeated soon", 1, "x", "y")
		if f.Awaits("a/x") {
			t.Error("still awaits a target after the answer")
		}
		say(nil, "x")
		after(time.Minute, "one answer lacks a model", 1, "x", "y")
		say(nil, "x", "y")
		after(time.Minute, "the model is listed again", 1, "x", "y")
		say(nil, "x", "y", "z")
		after(2*time.Minute, "two answers with a new model", 2, "x", "y", "z")
		if l := f.Listings()["a"]; l.Probed != 2 || l.LeftOut != 1 || len(f.Listings()) != 1 {
			t.Errorf("%+v", f.Listings())
		}
		known := f.Listings()["a"]
		say(errors.New("no route"))
		after(10*time.Minute, "a failure changes nothing", 2, "x", "y", "z")
		if l := f.Listings()["a"]; l.At != known.At || l.Requests != known.Requests {
			t.Errorf("known since %v by %d requests, want %v and %d", l.At, l.Requests, known.At, known.Requests)
		}
		say(nil, "x", "y", "z")
		after(time.Minute, "it answers again", 2, "x", "y", "z")
		before := asked
		f.Follow([]ModelSet{set})
		after(time.Second, "a reload without a change sends no request", 2, "x", "y", "z")
		if asked != before {
			t.Errorf("asked %d times more", asked-before)
		}
		set.Most, set.Target.Headers = 3, map[string]string{"X-Team": "a"}
		say(errors.New("no route"))
		f.Follow([]ModelSet{set})
		after(time.Second, "a changed set sends a request at once and keeps its models", 2, "x", "y", "z")
		if l := f.Listings()["a"]; asked != before+1 || f.Awaits("a/x") || l.Probed != 3 || l.At.IsZero() {
			t.Errorf("asked %d times more, %+v", asked-before, l)
		}
		set.Target.BaseURL = "http://elsewhere"
		f.Follow([]ModelSet{set})
		after(time.Second, "another address has no models yet", 2)
		f.Follow(nil)
		after(time.Hour, "no targets are left", 2)
		cancel()
		running.Wait()
		if text := log.String(); strings.Count(text, "Cannot list") != 4 || strings.Count(text, "can be listed again") != 2 || !strings.Contains(text, "left_out=1") {
			t.Errorf("log:\n%s", text)
		}
	})
}

// TestModelsThatAreGone: a model that was probed and that two answers lack is gone, until two answers list it, the
// configuration changes, or an hour has passed.
func TestModelsThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewModelFollower(slog.New(slog.DiscardHandler), nil)
		set := ModelSet{Target: target.Target{Name: "a"}, Patterns: []string{"named", "*"}, Most: 3, Interval: time.Minute}
		f.Follow([]ModelSet{set})
		start := time.Now()
		answer := func(models ...string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.record(f.sets["a"], models, nil)
			time.Sleep(time.Minute)
		}
		check := func(what string, want map[string]time.Time) {
			t.Helper()
			if diff := cmp.Diff(want, f.Listings()["a"].Gone); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		none := map[string]time.Time{}
		answer("base", "lora-a", "lora-b", "named") // lora-b is not probed: max_models is 3
		answer("base", "named")
		check("one answer lacks it", none)
		answer("base", "lora-a", "lora-b", "named")
		answer("base")
		answer("base")
		check("two answers lack it", map[string]time.Time{"lora-a": start.Add(3 * time.Minute)})
		answer("base", "lora-a")
		answer("base")
		check("only an outdated replica lists it", map[string]time.Time{"lora-a": start.Add(3 * time.Minute)})
		answer("base", "lora-a")
		answer("base", "lora-a")
		check("it is back", none)
		answer("base")
		answer("base")
		check("it is gone again", map[string]time.Time{"lora-a": start.Add(9 * time.Minute)})
		for range 60 {
			answer("base")
		}
		check("an hour has passed", none)
		answer()
		answer()
		check("the base is gone", map[string]time.Time{"base": start.Add(71 * time.Minute)})
		set.Most = 4
		f.Follow([]ModelSet{set})
		check("the configuration has changed", none)
	})
}
