package backtest

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"synthetic/internal/turnlog"
)

// TestWriteTurns: a world becomes a log of turns in order, with its faults in
// the incidents and in the turns.
func TestWriteTurns(t *testing.T) {
	hang := Fault{Name: "hang", Kind: Hang, Length: 2 * time.Hour, At: []time.Duration{5 * time.Hour}}
	c := Campaign{Models: []Model{Quiet(), Typical()}, Faults: []Fault{hang}, Seeds: []uint64{1}, Days: 1, WarmUp: 1}
	for i := range c.Models {
		c.Models[i].ConversationsPerMinute = 1
	}
	var log, incidents bytes.Buffer
	if err := c.WriteTurns(t.Context(), &log, &incidents); err != nil {
		t.Fatal(err)
	}
	labelled, err := ReadIncidents(&incidents)
	if err != nil || len(labelled) != 2 || labelled[0].Target != "quiet" || labelled[1].Target != "typical" {
		t.Fatalf("incidents %+v, %v", labelled, err)
	}
	turns := readTurns(t, &log)
	within := map[string]Incident{"quiet": labelled[0], "typical": labelled[1]}
	targets, missed, before := map[string]int{}, 0, time.Time{}
	for _, one := range turns {
		if one.At.Before(before) {
			t.Fatalf("a turn of %s after one of %s", one.At, before)
		}
		before = one.At
		targets[one.Target]++
		hung := within[one.Target]
		if !one.At.Before(hung.From) && one.At.Before(hung.To) && !one.Outcome.Failed() {
			missed++
		}
	}
	// A conversation a minute, for two days, of four turns on average.
	if missed > 0 || targets["quiet"] < 9000 || targets["typical"] < 9000 {
		t.Errorf("%d turns that went well in a hang, turns by target: %v", missed, targets)
	}
}

func readTurns(t *testing.T, log io.Reader) (all []turnlog.Turn) {
	t.Helper()
	r, err := turnlog.NewReader("turns", log)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		one, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *one)
	}
}
