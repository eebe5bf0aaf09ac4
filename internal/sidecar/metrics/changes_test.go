package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// TestChanges: a target has series of its three latest changes of a day, each text once, and none of what this
// process did.
func TestChanges(t *testing.T) {
	marks := sink.NewMarks(nil)
	r := newPlainRecorder(Options{Now: func() time.Time { return start }, Marks: marks})
	apply(r, jobs("east", "west"))
	for i, m := range []sink.Mark{
		{Text: "too old", At: start.Add(-25 * time.Hour)},
		{Text: "fourth", Target: "east"}, {Text: "of all"}, {Text: "again"}, {Text: "of west", Target: "west"}, {Text: "last", Target: "east"},
		{Text: "again"}, {Source: sink.MarkReload, Text: "a reload"},
	} {
		if m.At.IsZero() {
			m.At = start.Add(time.Duration(i-20) * time.Hour)
		}
		if m.Source == "" {
			m.Source = sink.MarkDeploy
		}
		marks.Add(m)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if f.GetName() == Change {
			for _, m := range f.Metric {
				got = append(got, fmt.Sprint(m.Label[0].GetValue(), " ", m.Label[1].GetValue(), " ", m.Gauge.GetValue()-float64(start.Unix())))
			}
		}
	}
	want := "again east -50400; last east -54000; of all east -64800; again west -50400; of west west -57600; of all west -64800"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("the changes are\n%s, want\n%s", text, want)
	}
}

// TestCrashIsNoChange checks that a process which started soon after a fault began has no series while the fault lasts.
func TestCrashIsNoChange(t *testing.T) {
	now := start
	marks := sink.NewMarks(nil)
	marks.Now = func() time.Time { return start.Add(time.Hour) }
	r := newPlainRecorder(Options{Now: func() time.Time { return now }, Marks: marks})
	apply(r, jobs("east"))
	failed := probe.Result{Target: "east", Workload: "chat", Kind: probe.First, Outcome: probe.ConnectError, Sent: start, End: start}
	shown := func() int {
		families, err := r.Only(func(name string) bool { return name == Change }).Gather()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range families {
			n += len(f.Metric)
		}
		return n
	}
	r.Observe(failed)
	r.Observe(failed)
	marks.Add(sink.Mark{Source: sink.MarkRestart, Target: "east", At: start.Add(time.Minute), Text: sink.RestartText})
	if now = start.Add(2 * time.Minute); shown() != 0 {
		t.Error("a restart after the fault began is a change before it")
	}
	failed.Outcome, failed.TTFT = probe.Success, probe.Some(time.Second)
	if r.Observe(failed); shown() != 1 {
		t.Error("after the fault the restart is no change")
	}
}
