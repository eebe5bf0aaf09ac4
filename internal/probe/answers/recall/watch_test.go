package recall_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/workload"
)

// The defaults are short. docs/how-to/recall.md has the commands of its figures.
var (
	alarms    = flag.Int("alarms", 20, "alarms of each kind of fault")
	learned   = flag.Int("learned", 5000, "turns before a fault")
	toRepair  = flag.Int("to-repair", 120, "turns from an alarm to the repair")
	stayTurns = flag.Int("stay-turns", 2000, "turns of each fault that is not repaired")
)

var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// world asks a model for codes, three times in a conversation, every ten seconds.
type world struct {
	recall.Watch
	rng    *rand.Rand
	now    time.Time
	number int
	// right is the share of right answers. Of the cached ones, the share lost becomes wrong.
	right, lost float64
	// spread moves the share of each conversation up or down.
	spread float64
	// uncached is the share of turns whose code is not cached.
	uncached float64
	// share is the share of turns with a twin. Twins and uncached turns lose the share coldLost.
	share, coldLost float64
}

func newWorld(seed uint64, right float64) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 7)), now: start, right: right}
}

func (w *world) conversation(every time.Duration) {
	w.number++
	right := w.right + w.spread*(2*w.rng.Float64()-1)
	name := fmt.Sprint(w.number)
	for turn := range 3 {
		w.now = w.now.Add(every)
		class, wrong := recall.Class{Cached: "yes", Turn: turn + 2}, w.rng.Float64() >= right
		if w.rng.Float64() < w.uncached {
			class.Cached = "no"
			wrong = wrong || w.coldLost > 0 && w.rng.Float64() < w.coldLost
		} else {
			wrong = wrong || w.rng.Float64() < w.lost
		}
		twin := w.rng.Float64() < w.share
		w.Add(w.now, "m", name, class, wrong)
		if twin {
			w.AddTwin(w.now, name, class.Turn, wrong, w.rng.Float64() >= right || w.rng.Float64() < w.coldLost)
		}
	}
}

func (w *world) turns(n int) (alarms int) {
	for range n / 3 {
		before := w.Reading().Score
		w.conversation(10 * time.Second)
		if before < 1 && w.Reading().Score == 1 {
			alarms++
		}
	}
	return alarms
}

// TestFalseAlarms: five models recall as they did, for 350,000 turns or 41 days each. The conversations of the last
// one differ. The bound promises 0.6 alarms of all of them together, so two are too many.
func TestFalseAlarms(t *testing.T) {
	alarms := 0
	for i, tt := range []struct{ right, spread float64 }{{1, 0}, {0.99, 0}, {0.9, 0}, {0.5, 0}, {0.5, 0.5}} {
		w := newWorld(uint64(i), tt.right)
		w.spread, w.uncached = tt.spread, 0.2
		alarms += w.turns(350_000)
	}
	if t.Logf("%d false alarms", alarms); alarms > 1 {
		t.Errorf("%d false alarms", alarms)
	}
}

// TestFalseAlarmBound: at 20 times the accepted rate of alarms, which a score of 0.8 has, healthy
// turns stay below the promised number. So the promise is kept where it can be measured.
func TestFalseAlarmBound(t *testing.T) {
	const score, turns = 0.8, 30_000
	for i, right := range []float64{0.99, 0.9, 0.5} {
		w, reached, above := newWorld(uint64(i+50), right), 0, false
		for range turns {
			w.conversation(10 * time.Second)
			switch now := w.Reading().Score; {
			case !above && now >= score:
				above = true
				reached++
			case now < score/2: // the same evidence does not count twice
				above = false
			}
		}
		// ln(1 + evidence) / ln(1 + 3.15 million) = 0.8 is an evidence of 157,000 turns.
		if reached > 3 {
			t.Errorf("a model that is right in %v came to %d times of the evidence that one in 157,000 turns has", right, reached)
		}
	}
}

// detection returns the times until the alarm in some runs, sorted. Conversations begin as with the
// default traffic, with its bursts.
func detection(runs, learned int, right, lost float64) (took []time.Duration) {
	for seed := range runs {
		w := newWorld(uint64(seed+1000), right)
		w.turns(learned)
		w.lost = lost
		pace := workload.NewPace(workload.Traffic{Arrival: workload.Arrival{Rate: 1.0 / 30}, BurstRate: 1.0 / 5})
		from := w.now
		for at := from; w.Reading().Score < 1 && at.Sub(from) < 2*time.Hour; at = at.Add(5 * time.Second) {
			w.now = at
			if pace.Decide(at, workload.Sign{Wrong: w.Reading().Score}).Due {
				w.conversation(time.Second)
			}
		}
		took = append(took, w.now.Sub(from))
	}
	slices.Sort(took)
	return took
}

// TestBurstsOfHealthyModels: wrong answers of models that are as usual hardly ever begin bursts.
func TestBurstsOfHealthyModels(t *testing.T) {
	const days = 5
	for _, right := range []float64{0.99, 0.9, 0.7, 0.5} {
		w, bursts := newWorld(77, right), 0
		w.turns(20_000)
		pace := workload.NewPace(workload.Traffic{Arrival: workload.Arrival{Rate: 1.0 / 30}, BurstRate: 1.0 / 5})
		for at := w.now; at.Sub(start) < 20_000*10*time.Second+days*24*time.Hour; at = at.Add(5 * time.Second) {
			w.now = at
			s := pace.Decide(at, workload.Sign{Wrong: w.Reading().Score})
			if s.Reason != "" {
				bursts++
			}
			if s.Due {
				w.conversation(time.Second)
			}
		}
		if t.Logf("right %v: %.1f bursts a day", right, float64(bursts)/days); bursts > 2*days {
			t.Errorf("a healthy model that is right in %v begins %d bursts in %d days", right, bursts, days)
		}
	}
}

// TestDetectionTimes measures the table of docs/how-to/recall.md.
func TestDetectionTimes(t *testing.T) {
	for _, tt := range []struct {
		learned     int
		right, lost float64
		median, p90 time.Duration
	}{
		{1000, 1, 0.1, 12 * time.Minute, 20 * time.Minute},
		{5000, 1, 0.1, 8 * time.Minute, 15 * time.Minute},
		{5000, 0.99, 0.1, 12 * time.Minute, 25 * time.Minute},
		{5000, 0.9, 0.1, 2 * time.Hour, 2 * time.Hour},
		{5000, 0.5, 0.5, 40 * time.Minute, time.Hour},
	} {
		took := detection(60, tt.learned, tt.right, tt.lost)
		median, p90 := took[len(took)/2], took[len(took)*9/10]
		t.Logf("learned %d, right %v, lost %v: median %v, 90 %% %v", tt.learned, tt.right, tt.lost, median, p90)
		if median > tt.median || p90 > tt.p90 {
			t.Errorf("learned %d, right %v, lost %v: median %v, 90 %% %v", tt.learned, tt.right, tt.lost, median, p90)
		}
	}
}

// raised returns a world with an alarm, and when its fault began.
func raised(seed uint64, right, lost float64) (w *world, faulty time.Time) {
	w = newWorld(seed, right)
	for w.turns(*learned); w.Reading().Score == 1; { // a false alarm
		w.conversation(10 * time.Second)
	}
	w.lost, faulty = lost, w.now
	for w.Reading().Score < 1 {
		w.conversation(10 * time.Second)
	}
	return w, faulty
}

// TestEndOfAlarm: however often a healthy model is wrong, an alarm says when the fault began, and ends soon after the
// repair, by default 20 minutes later. The limits are in turns, of which the default traffic has six a minute.
func TestEndOfAlarm(t *testing.T) {
	for _, tt := range []struct {
		right, lost            float64
		median, p90, sinceErrs int
	}{
		{1, 0.5, 80, 120, 30},
		{1, 0.1, 300, 400, 60},
		{0.99, 0.1, 500, 800, 100},
		{0.9, 0.5, 150, 250, 60},
		{0.9, 0.1, 1200, 2500, 400},
		{0.5, 0.5, 700, 1500, 300},
	} {
		var ends, errs []int
		for seed := range *alarms {
			w, faulty := raised(uint64(seed+500), tt.right, tt.lost)
			errs = append(errs, int(w.Reading().Since.Sub(faulty).Abs()/(10*time.Second)))
			w.turns(*toRepair)
			w.lost = 0
			repaired := w.now
			for w.Reading().Score == 1 {
				w.conversation(10 * time.Second)
			}
			ends = append(ends, int(w.now.Sub(repaired)/(10*time.Second)))
		}
		slices.Sort(ends)
		slices.Sort(errs)
		median, p90, sinceErrs := ends[len(ends)/2], ends[len(ends)*9/10], errs[len(errs)*9/10]
		t.Logf("right %v, lost %v: ends after %d turns, 90 %% %d; 90 %% of the starts are wrong by %d turns at most", tt.right, tt.lost, median, p90, sinceErrs)
		if median > tt.median || p90 > tt.p90 || sinceErrs > tt.sinceErrs {
			t.Errorf("right %v, lost %v: want %d, %d and %d at most", tt.right, tt.lost, tt.median, tt.p90, tt.sinceErrs)
		}
	}
}

// TestAlarmStaysDuringTheFault: hardly any alarm ends during a fault, also of one that chance made look larger when the
// alarm began.
func TestAlarmStaysDuringTheFault(t *testing.T) {
	for _, tt := range []struct{ right, lost float64 }{{1, 0.05}, {1, 0.1}, {0.99, 0.1}, {0.9, 0.1}, {0.5, 0.5}} {
		ended, turns := 0, 0
		for seed := range *alarms {
			w, _ := raised(uint64(seed+600), tt.right, tt.lost)
			for n := 0; n < *stayTurns; n += 3 {
				turns += 3
				if w.conversation(10 * time.Second); w.Reading().Score < 1 {
					ended++
					break
				}
			}
		}
		if t.Logf("right %v, lost %v: %d of %d alarms ended in %d turns", tt.right, tt.lost, ended, *alarms, turns); ended > turns/1_000_000 {
			t.Errorf("right %v, lost %v: %d alarms ended during the fault", tt.right, tt.lost, ended)
		}
	}
}

// TestFalseAlarmEnds: a model is right in 50 % of its answers, and was in 53 % of the few that it learned from. The alarm
// that this caused ends, although the answers stay as they are.
func TestFalseAlarmEnds(t *testing.T) {
	for seed := range 20 {
		w := newWorld(uint64(seed), 0.5)
		w.Model, w.Last = "m", w.now
		learned := func(turn, turns, wrong int) recall.Tally {
			return recall.Tally{Class: recall.Class{Cached: "yes", Turn: turn}, Count: recall.Count{Turns: turns, Wrong: wrong}}
		}
		w.Usual = []recall.Tally{learned(2, 1275, 598), learned(3, 677, 320), learned(4, 356, 164)}
		w.Alarm = &recall.Alarm{Bet: 1, Lost: 0.07, Begun: recall.Begun{Since: w.now, Turns: []recall.Tally{learned(2, 600, 330)}}}
		n := 0
		for ; w.Reading().Score == 1 && n < 40_000; n += 3 {
			w.conversation(10 * time.Second)
		}
		if n >= 40_000 {
			t.Errorf("seed %d: the alarm lasts after %d turns", seed, n)
		}
	}
}

// TestEvidenceExpires: an hour without judged turns ends the evidence and the alarm. What was learned stays.
func TestEvidenceExpires(t *testing.T) {
	for name, lost := range map[string]float64{"evidence": 0.05, "alarm": 0.5} {
		w := newWorld(3, 1)
		w.turns(2000)
		w.lost = lost
		for w.Reading().Score < 0.5 || lost == 0.5 && w.Reading().Score < 1 {
			w.conversation(10 * time.Second)
		}
		before := w.Reading()
		if w.Expire(w.Last.Add(time.Hour)); w.Reading() != before {
			t.Errorf("%s: %+v within the hour, %+v before", name, w.Reading(), before)
		}
		if w.Expire(w.Last.Add(time.Hour + time.Second)); w.Reading().Score > 0 || !w.Reading().Since.IsZero() || !w.Reading().Ready {
			t.Errorf("%s: %+v after an hour", name, w.Reading())
		}
	}
}

// TestWatchStates: the states of a Watch are learning, as usual, alarm and recovered, and each of them survives
// a restart.
func TestWatchStates(t *testing.T) {
	w := newWorld(1, 1)
	restart := func() {
		text, err := json.Marshal(w.Copy())
		if err != nil {
			t.Fatal(err)
		}
		var saved recall.Watch
		if err := json.Unmarshal(text, &saved); err != nil {
			t.Fatal(err)
		}
		before := w.Reading()
		if w.Watch = saved.Plausible(); w.Reading() != before {
			t.Errorf("%+v after a restart, %+v before", w.Reading(), before)
		}
	}
	w.uncached = 0.3
	w.turns(900)
	restart()
	if r := w.Reading(); r.Ready || r.Usual.Turns != 900 {
		t.Errorf("%+v, want to be learning", r)
	}
	w.turns(900)
	if r := w.Reading(); !r.Ready || r.Unable || r.Score > 0.3 || r.Usual.RightShare() != 1 {
		t.Errorf("%+v, want to be as usual", r)
	}
	restart()
	w.lost = 0.5
	faulty := w.now
	w.turns(300)
	restart()
	r := w.Reading()
	if r.Score != 1 || r.Since.Before(faulty) || r.Since.After(faulty.Add(2*time.Minute)) || r.Where() != "only when cached" {
		t.Errorf("%+v, %q, want an alarm since %v, only when cached", r, r.Where(), faulty)
	}
	w.lost = 0
	if w.turns(300); w.Reading().Score == 1 || w.Reading().Usual.RightShare() != 1 {
		t.Errorf("%+v, want no alarm, and wrong answers that are not learned", w.Reading())
	}
	w.Watch.Add(w.now, "another model", "x", recall.Class{}, false)
	if r := w.Reading(); r.Usual.Turns != 1 {
		t.Errorf("%+v, want to learn another model", r)
	}
	w.Alarm = &recall.Alarm{Bet: 99}
	if r := w.Plausible(); len(r.Usual) > 0 {
		t.Errorf("took the damaged state %+v", r)
	}
}

// TestModelThatCannotRecall: it is not compared, also if it then recalls.
func TestModelThatCannotRecall(t *testing.T) {
	w := newWorld(2, 0.01)
	w.turns(9000)
	if r := w.Reading(); !r.Unable || r.Usual.Turns != 1000 {
		t.Errorf("%+v, want a model that cannot recall after 1,000 turns", r)
	}
}

// TestWhere: shares that chance explains are no difference.
func TestWhere(t *testing.T) {
	usual := recall.Count{Turns: 1000, Wrong: 10}
	for _, tt := range []struct {
		cached, uncached recall.Count
		want             string
	}{
		{recall.Count{Turns: 100, Wrong: 20}, recall.Count{Turns: 50, Wrong: 1}, "only when cached"},
		{recall.Count{Turns: 50}, recall.Count{Turns: 100, Wrong: 20}, "only when not cached"},
		{recall.Count{Turns: 100, Wrong: 20}, recall.Count{Turns: 10}, ""},
		{recall.Count{Turns: 100, Wrong: 20}, recall.Count{Turns: 100, Wrong: 18}, ""},
		{recall.Count{Turns: 100, Wrong: 100}, recall.Count{Turns: 100}, "only when cached"},
		{recall.Count{Turns: 100, Wrong: 20}, recall.Count{}, ""},
	} {
		if got := (recall.Watched{Usual: usual, Cached: tt.cached, Uncached: tt.uncached}).Where(); got != tt.want {
			t.Errorf("%v cached, %v uncached: %q, want %q", tt.cached, tt.uncached, got, tt.want)
		}
	}
}
