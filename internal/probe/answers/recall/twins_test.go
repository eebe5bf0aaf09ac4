package recall_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/workload"
)

// named returns the times until the twins say where the answers are wrong, and what they say. The cold answers lose the
// share coldLost.
func named(runs, learned int, right, lost, coldLost float64) (took []time.Duration, where map[string]int) {
	where = map[string]int{}
	for seed := range runs {
		w := newWorld(uint64(seed+2000), right)
		w.turns(learned)
		w.lost, w.coldLost = lost, coldLost
		pace := workload.NewPace(workload.Traffic{Arrival: workload.Arrival{Rate: 1.0 / 30}, BurstRate: 1.0 / 5})
		from := w.now
		for at := from; at.Sub(from) < 2*time.Hour; at = at.Add(5 * time.Second) {
			w.now = at
			watched := w.Reading()
			if watched.Score == 1 && watched.Where() != "" {
				break
			}
			w.share = workload.Sign{NeedsTwins: watched.NeedsTwins}.TwinShare()
			if pace.Decide(at, workload.Sign{Wrong: watched.Score, NeedsTwins: watched.NeedsTwins}).Due {
				w.conversation(time.Second)
			}
		}
		took = append(took, w.now.Sub(from))
		where[w.Reading().Where()]++
	}
	slices.Sort(took)
	return took, where
}

// TestTwinsNameTheCache measures the table of docs/how-to/recall.md: the times from the start of a fault until the
// twins name it. At most one in a hundred names may be wrong.
func TestTwinsNameTheCache(t *testing.T) {
	runs := 100
	if testing.Short() {
		runs = 10
	}
	for _, tt := range []struct {
		learned               int
		right, lost, coldLost float64
		want                  string
		p90                   time.Duration
	}{
		{1000, 1, 0.1, 0, "only when cached", 25 * time.Minute},
		{5000, 1, 0.1, 0, "only when cached", 18 * time.Minute},
		{5000, 0.99, 0.1, 0, "only when cached", 35 * time.Minute},
		{5000, 0.9, 0.5, 0, "only when cached", 15 * time.Minute},
		{5000, 1, 0.1, 0.1, "both when cached and when cold", 15 * time.Minute},
		{5000, 0.9, 0.5, 0.5, "both when cached and when cold", 15 * time.Minute},
	} {
		took, where := named(runs, tt.learned, tt.right, tt.lost, tt.coldLost)
		median, p90 := took[runs/2], took[runs*9/10]
		t.Logf("learned %d, right %v, lost %v cached and %v cold: median %v, 90 %% %v, %v", tt.learned, tt.right, tt.lost, tt.coldLost, median, p90, where)
		if wrong := runs - where[tt.want] - where[""]; p90 > tt.p90 || wrong > 1+runs/50 {
			t.Errorf("learned %d, right %v, lost %v cached and %v cold: 90 %% after %v, %d names are wrong: %v", tt.learned, tt.right, tt.lost, tt.coldLost, p90, wrong, where)
		}
	}
}

// TestTwinsOfHealthyModels: a model whose answers are as usual hardly ever needs more twins than the usual share.
func TestTwinsOfHealthyModels(t *testing.T) {
	for _, right := range []float64{1, 0.99, 0.9, 0.5} {
		w, needed := newWorld(78, right), 0
		const turns = 60_000 // of seven days
		w.turns(1000)
		for range turns / 3 {
			needs := w.Reading().NeedsTwins
			if w.share = (workload.Sign{NeedsTwins: needs}).TwinShare(); needs {
				needed += 3
			}
			w.conversation(10 * time.Second)
		}
		if t.Logf("right %v: %d of %d turns need a twin", right, needed, turns); needed > turns/100 {
			t.Errorf("right %v: %d of %d turns need a twin", right, needed, turns)
		}
	}
}

// TestTwinsOfEarlierTurnsDoNotCount: the turn whose wrong answer made answers doubtful had to be wrong, so its twin
// shows nothing. Twins survive a restart, and a damaged state is dropped.
func TestTwinsOfEarlierTurnsDoNotCount(t *testing.T) {
	w := newWorld(1, 1)
	w.turns(2000)
	sent := w.now
	for i := range 4 {
		w.now = w.now.Add(time.Second)
		w.Add(w.now, "m", string(rune('a'+i)), recall.Class{Cached: "yes", Turn: 2}, true)
	}
	if w.Twins == nil {
		t.Fatalf("four wrong answers are not doubtful: %+v", w.Reading())
	}
	w.AddTwin(sent, "a", 2, true, false)
	if got := w.Reading().Twins; got != (recall.Pairs{}) {
		t.Errorf("an earlier turn counts: %+v", got)
	}
	for i, tt := range []struct{ cached, cold bool }{{true, false}, {false, true}, {true, true}, {false, false}} {
		w.AddTwin(w.now.Add(time.Second), string(rune('p'+i)), 3, tt.cached, tt.cold)
	}
	if got := w.Reading().Twins; got != (recall.Pairs{OnlyCached: 1, OnlyCold: 1, Both: 1, Neither: 1}) {
		t.Errorf("one pair of each kind is %+v", got)
	}
	text, err := json.Marshal(w.Copy())
	if err != nil {
		t.Fatal(err)
	}
	var saved recall.Watch
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	if again := saved.Plausible(); again.Reading() != w.Reading() {
		t.Errorf("%+v after a restart, %+v before", again.Reading(), w.Reading())
	}
	saved.Twins.Worse[0] = -1
	if again := saved.Plausible(); again.Twins != nil {
		t.Error("took a damaged state")
	}
}
