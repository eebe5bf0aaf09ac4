package recall_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/workload"
)

// fault is a fault of a model that was right in a share of the learned turns.
type fault struct {
	learned                         int
	right, lost, coldLost, uncached float64
}

// named returns the sorted times until the alarm says where the answers are wrong, and those until it needs no more
// twins, with what it says then.
func named(runs int, f fault) (first, last []time.Duration, where map[string]int) {
	where = map[string]int{}
	for seed := range runs {
		w := newWorld(uint64(seed+2000), f.right)
		w.turns(f.learned)
		w.lost, w.coldLost, w.uncached = f.lost, f.coldLost, f.uncached
		pace := workload.NewPace(workload.Traffic{Arrival: workload.Arrival{Rate: 1.0 / 30}, BurstRate: 1.0 / 5})
		from, said := w.now, time.Duration(0)
		for at := from; at.Sub(from) < 3*time.Hour; at = at.Add(5 * time.Second) {
			w.now = at
			watched := w.Reading()
			if said == 0 && watched.Score == 1 && watched.Where() != "" {
				said = w.now.Sub(from)
			}
			if said > 0 && watched.Score == 1 && !watched.NeedsTwins {
				break
			}
			w.share = workload.Sign{NeedsTwins: watched.NeedsTwins}.TwinShare()
			if pace.Decide(at, workload.Sign{Wrong: watched.Score, NeedsTwins: watched.NeedsTwins}).Due {
				w.conversation(time.Second)
			}
		}
		if said == 0 {
			said = w.now.Sub(from)
		}
		first, last = append(first, said), append(last, w.now.Sub(from))
		where[w.Reading().Where()]++
	}
	slices.Sort(first)
	slices.Sort(last)
	return first, last, where
}

// TestTwinsNameTheCache measures the table of docs/how-to/recall.md: the times from the start of a fault until the
// twins name it. In each row, at most three of a hundred names may be wrong.
func TestTwinsNameTheCache(t *testing.T) {
	runs := 100
	if testing.Short() {
		runs = 5
	}
	const (
		only, more, also   = "only when cached", "more often when cached", "also with a cold cache"
		onlyCold, moreCold = "only when not cached", "more often when not cached"
	)
	for _, tt := range []struct {
		fault
		want []string
		p90  time.Duration
	}{
		{fault{1000, 1, 0.1, 0, 0}, []string{only, more}, 25 * time.Minute},
		{fault{5000, 1, 0.1, 0, 0}, []string{only, more}, 18 * time.Minute},
		{fault{5000, 0.99, 0.1, 0, 0}, []string{only, more}, 35 * time.Minute},
		{fault{5000, 0.9, 0.5, 0, 0}, []string{only, more}, 15 * time.Minute},
		{fault{5000, 1, 0.5, 0.1, 0}, []string{more}, 15 * time.Minute},
		{fault{5000, 1, 0.3, 0.1, 0}, []string{more, also}, 15 * time.Minute},
		{fault{5000, 1, 0.1, 0.1, 0}, []string{also}, 15 * time.Minute},
		{fault{5000, 0.9, 0.5, 0.5, 0}, []string{also}, 15 * time.Minute},
		{fault{5000, 1, 0, 0.5, 0.2}, []string{onlyCold, moreCold}, 35 * time.Minute},
	} {
		first, last, where := named(runs, tt.fault)
		wrong := runs - where[""]
		for _, name := range tt.want {
			wrong -= where[name]
		}
		p90 := first[runs*9/10]
		t.Logf("%+v: named after %v, 90 %% %v; decided after %v, 90 %% %v: %v", tt.fault, first[runs/2], p90, last[runs/2], last[runs*9/10], where)
		if p90 > tt.p90 || wrong > 1+runs/50 {
			t.Errorf("%+v: 90 %% after %v, %d names are wrong: %v", tt.fault, p90, wrong, where)
		}
	}
}

// doubtful returns a world with doubtful answers.
func doubtful(t *testing.T) *world {
	w := newWorld(1, 1)
	w.turns(2000)
	for i := range 4 {
		w.now = w.now.Add(time.Second)
		w.Add(w.now, "m", string(rune('a'+i)), recall.Class{Cached: "yes", Turn: 2}, true)
	}
	if w.Twins == nil {
		t.Fatalf("four wrong answers are not doubtful: %+v", w.Reading())
	}
	return w
}

// TestManyTwinsCanBeSaved: however many pairs say the same, the state is finite.
func TestManyTwinsCanBeSaved(t *testing.T) {
	for _, pair := range []struct{ wrong, cold bool }{{true, false}, {false, true}, {true, true}, {false, false}} {
		w := doubtful(t)
		for i := range 10_000 {
			w.now = w.now.Add(time.Second)
			w.Add(w.now, "m", fmt.Sprint(i), recall.Class{Cached: "yes", Turn: 3}, i%5 == 0)
			w.AddTwin(w.now, fmt.Sprint(i), 3, pair.wrong, pair.cold)
		}
		if text, err := json.Marshal(w.Copy()); err != nil || w.Twins.Pairs.Total() != 10_000 {
			t.Errorf("%+v: %v, %s", pair, err, text)
		}
		if again := w.Plausible(); again.Twins == nil {
			t.Errorf("%+v: the state is not plausible: %+v", pair, w.Twins)
		}
	}
}

// TestTwinsOutliveTheAlarm: what twins showed is known for 15 minutes after the last doubt, but no more are asked.
func TestTwinsOutliveTheAlarm(t *testing.T) {
	w := doubtful(t)
	w.AddTwin(w.now, "p", 2, true, false)
	for w.Reading().Score >= recall.Doubtful/2 {
		w.conversation(time.Second)
	}
	if r := w.Reading(); w.Twins == nil || r.NeedsTwins || r.Twins.Total() != 1 {
		t.Errorf("after the alarm: %+v", r)
	}
	w.now = w.now.Add(14 * time.Minute)
	if w.conversation(time.Second); w.Twins == nil {
		t.Error("forgotten after 14 minutes")
	}
	w.now = w.now.Add(time.Minute)
	if w.conversation(time.Second); w.Twins != nil {
		t.Error("known after 15 minutes")
	}
}

// TestTwinsWithoutResult: they end the need for twins as those with one do.
func TestTwinsWithoutResult(t *testing.T) {
	w := doubtful(t)
	for i := range 300 {
		if !w.Reading().NeedsTwins {
			t.Fatalf("no more twins after %d", i)
		}
		w.AddFailedTwin(w.now)
	}
	if w.Reading().NeedsTwins {
		t.Error("needs more than 300 twins")
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
	w := doubtful(t)
	w.AddTwin(w.Twins.Since.Add(-time.Second), "a", 2, true, false)
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
