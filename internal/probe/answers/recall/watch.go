package recall

import (
	"math"
	"slices"
	"time"
)

// Class is whether the prefix cache served the code, as the value of a label, and the number of the turn in its
// conversation. Turns of the same number are compared. Cached is only counted, because a fault can change it: a
// history that loses its middle is also served less from the cache.
type Class struct {
	Cached string
	Turn   int
}

// Count counts judged turns.
type Count struct{ Turns, Wrong int }

// Tally counts the turns of a class.
type Tally struct {
	Class
	Count
}

// Watch learns how often a deployment repeats codes, and decides whether it now does so less often. The
// zero value has learned nothing. Its exported fields are its state for a file.
//
// The test is the one of the canary's detector, for results that are right or wrong. Of n earlier turns of
// the same number, k were wrong. If the turns are exchangeable, the conformal p-value of a wrong turn is
// below c = (k+1)/(n+1) (Vovk, Nouretdinov and Gammerman 2003). Watch bets that a share s of the answers
// is lost: a wrong turn multiplies the evidence by 1 + s(1-c)/c, a right one by 1-s. These factors are at
// most a bet on the p-value whose mean is 1, however few turns were learned. Before each turn the evidence
// grows by the part of a year since the turn before, as Shiryaev and Roberts do. An alarm is an evidence of 1.
//
// The bet depends on the counts k and n, which follow from the p-values only backwards: given all later counts, a
// p-value is uniform. So, by backward induction from any turn, the product of the factors since any earlier
// turn has a mean of at most 1. The mean evidence at that turn is then at most the elapsed years, and so is the
// probability that the evidence is 1 or more there. That the mean time until a false alarm is at least a year is
// measured (TestFalseAlarms, TestFalseAlarmBound). It is proven for bets that depend on earlier p-values only
// (e-detectors: Shin, Ramdas and Rinaldo 2023).
//
// A model repeats its own mistakes, and some conversations are harder than others. So a conversation counts
// until its first wrong answer, and turns are compared with turns of the same number: among those, the
// results of different conversations are exchangeable.
type Watch struct {
	// Model is the model that was learned.
	Model string `json:"model,omitempty"`
	// Usual are the turns that were learned, without those of the alarm.
	Usual []Tally `json:"usual,omitempty"`
	// Parts are the evidence for each of shares.
	Parts [len(shares)]Part `json:"parts"`
	// Alarm is nil without an alarm.
	Alarm *Alarm `json:"alarm,omitempty"`
	// Last is the time of the latest turn.
	Last time.Time `json:"last,omitzero"`
	// Twins is nil while the answers are not doubtful.
	Twins *Twins `json:"twins,omitempty"`

	// mistaken are the latest conversations with a wrong answer.
	mistaken []string
}

// Part is the evidence for a share of lost answers. A second bet on that share restarts when its product falls below 1. So
// Begun, where the latest bet began, estimates when the fault began, however often a healthy model is wrong.
type Part struct {
	Evidence float64 `json:"evidence"`
	// Won is the logarithm of the gain of that bet.
	Won   float64 `json:"won,omitzero"`
	Begun Begun   `json:"begun,omitzero"`
}

// Begun are the turns since a time.
type Begun struct {
	Since time.Time `json:"since,omitzero"`
	Turns []Tally   `json:"turns,omitempty"`
}

// Alarm is up while more answers than usual are wrong.
//
// It ends by the same test with the sides exchanged. A wrong turn multiplies Bet by 1 + s(1-c)/c and a right one by 1-s,
// where s is Lost. While at least the share s of the answers is lost, and c is their usual share of wrong ones, the inverse
// of this factor has a mean of at most 1. So the mean time until a lasting fault ends its alarm is at least 1/recovered
// turns (Lorden 1971), which is as rare as a false alarm.
//
// c is highestUsual, because a false alarm begins where the learned share of wrong answers happens to be too low. With
// the learned share itself, the false alarm of a model that is right in 50 % of its answers never ended
// (TestFalseAlarmEnds). Lost is lower than the found share, which makes up for the greater c.
type Alarm struct {
	// Begun are the turns since the fault began. They are not learned.
	Begun Begun `json:"begun"`
	// Lost is the share of lost answers that Bet bets on. It is estimated again whenever Bet is 1, where nothing speaks
	// for a repair.
	Lost float64 `json:"lost"`
	// Bet is the product of the bets on Lost, at most 1. At recovered the alarm ends.
	Bet float64 `json:"bet"`
}

// shares are the shares of lost answers that Watch bets on.
var shares = [...]float64{0.02, 0.05, 0.1, 0.2, 0.5}

const (
	// leastLost is the smallest share that an alarm bets on. With less, it would end late.
	leastLost = 0.05
	// cautious is the part of the found share that an alarm bets on. A bet on more than the share that is lost ends
	// the alarm during the fault. doubtful is the number of usual turns that are added to the found ones: few turns
	// raise an alarm where chance adds to the fault. Of a model that is always right and loses 5 % of its answers,
	// a tenth of the alarms found a share of 67 % at first.
	cautious, doubtful = 0.7, 20
)

const (
	// learned is the number of turns after which Watch begins to compare. A model that repeats fewer than
	// leastRight of the codes cannot recall.
	learned    = 1000
	leastRight = 0.1
	// year is the mean time between false alarms, mostElapsed the longest time that counts between two
	// turns. So there is at most one false alarm in 3.15 million turns, too.
	year        = 365 * 24 * time.Hour
	mostElapsed = 10 * time.Second
	unit        = float64(mostElapsed) / float64(year)
	// An alarm ends when Alarm.Bet has fallen to recovered. With 1e-4, the alarm of a model that is always
	// right and loses 5 % of its answers ended every 313 hours.
	recovered = unit
	// After lasts without a judged turn, nothing is known about the present answers.
	lasts = time.Hour
	// conversations bounds mistaken. Turns from lastTurn on count as the same number.
	conversations, lastTurn = 64, 8
)

// Add adds a turn that asked for a code. model is "" if it is unknown, as in a log of turns.
func (w *Watch) Add(at time.Time, model, conversation string, c Class, wrong bool) {
	if model != "" && model != w.Model {
		*w = Watch{Model: model}
	}
	w.Expire(at)
	if slices.Contains(w.mistaken, conversation) || w.Reading().Unable {
		return
	}
	c.Turn = min(c.Turn, lastTurn)
	if wrong && conversation != "" {
		w.mistaken = append(w.mistaken[max(len(w.mistaken)-conversations+1, 0):], conversation)
	}
	if total(w.Usual).Turns < learned {
		w.Usual = add(w.Usual, Tally{c, count(wrong)})
		return
	}
	elapsed := min(max(at.Sub(w.Last), 0), mostElapsed)
	w.Last = at.UTC().Round(0)
	defer w.follow(w.Last)
	if w.Alarm != nil {
		w.addToAlarm(Tally{c, count(wrong)})
		return
	}
	usual := w.ofTurn(c.Turn)
	for i, s := range shares {
		w.Parts[i].add(w.Last, factor(usual, s, wrong), float64(elapsed)/float64(year), Tally{c, count(wrong)})
	}
	w.Usual = add(w.Usual, Tally{c, count(wrong)})
	if w.mean() >= 1 {
		w.raise()
	}
}

// add adds a turn with the gain of its bet. elapsed is the time since the turn before, in years.
func (p *Part) add(at time.Time, gain, elapsed float64, t Tally) {
	p.Evidence = gain * (p.Evidence + elapsed)
	if p.Won = max(p.Won+math.Log(gain), 0); p.Won == 0 {
		p.Begun = Begun{}
		return
	}
	p.Begun.add(at, t)
}

func (b *Begun) add(at time.Time, t Tally) {
	if len(b.Turns) == 0 {
		b.Since = at
	}
	b.Turns = add(b.Turns, t)
}

// addToAlarm adds a turn to the alarm, and ends it if the answers are right again.
func (w *Watch) addToAlarm(t Tally) {
	a := w.Alarm
	a.Begun.add(w.Last, t)
	a.Bet = min(a.Bet*gain(highestUsual(w.ofTurn(t.Turn)), a.Lost, t.Wrong > 0), 1)
	switch {
	case a.Bet == 1:
		a.Lost = w.lost(a.Begun)
	case a.Bet <= recovered:
		w.Alarm = nil
	}
}

// lost returns the share of lost answers that an alarm bets on after the turns since its beginning.
func (w *Watch) lost(since Begun) float64 {
	usual := max(total(w.Usual).RightShare(), leastRight)
	found := total(since.Turns)
	found.Turns += doubtful
	found.Wrong += int(math.Round(doubtful * (1 - usual)))
	lost := 1 - found.RightShare()/usual
	return min(max(cautious*lost, leastLost), shares[len(shares)-1])
}

// raise begins an alarm. The turns since the beginning of the fault, which the part with the greatest evidence
// estimates, are no longer learned.
func (w *Watch) raise() {
	strongest := w.Parts[0]
	for _, p := range w.Parts {
		if p.Evidence > strongest.Evidence {
			strongest = p
		}
	}
	for _, t := range strongest.Begun.Turns {
		w.Usual = add(w.Usual, Tally{t.Class, Count{-t.Turns, -t.Wrong}})
	}
	w.Alarm = &Alarm{Begun: strongest.Begun, Bet: 1, Lost: w.lost(strongest.Begun)}
	w.Parts = [len(shares)]Part{}
}

// Expire forgets the evidence and the alarm if no turn was judged in the last hour.
func (w *Watch) Expire(now time.Time) {
	if now.Sub(w.Last) > lasts {
		w.Forget()
	}
}

// Forget forgets the evidence and the alarm, but not what was learned.
func (w *Watch) Forget() { w.Parts, w.Alarm, w.Twins = [len(shares)]Part{}, nil, nil }

// factor is the gain of a bet that a share of the answers is lost, for a turn whose number had the earlier turns.
func factor(earlier Count, share float64, wrong bool) float64 {
	return gain(float64(earlier.Wrong+1)/float64(earlier.Turns+1), share, wrong)
}

// gain is the gain of a bet that a share of the answers is lost, for a turn that is usually wrong with probability c.
func gain(c, share float64, wrong bool) float64 {
	if !wrong {
		return 1 - share
	}
	return 1 + share*(1-c)/c
}

// highestUsual is the largest usual share of wrong answers that the learned turns of a number do not exclude: two standard
// deviations above theirs.
func highestUsual(learned Count) float64 {
	n := float64(learned.Turns + 1)
	c := float64(learned.Wrong+1) / n
	return min(c+2*math.Sqrt(c*(1-c)/n), 1)
}

// mean returns the mean evidence.
func (w *Watch) mean() (mean float64) {
	for _, p := range w.Parts {
		mean += p.Evidence / float64(len(shares))
	}
	return mean
}

// Watched is the state of a Watch.
type Watched struct {
	// Usual are the learned turns. Ready is true after enough of them.
	Usual Count
	Ready bool
	// Unable is true if the model cannot recall. Nothing is then compared.
	Unable bool
	// Score says how near the evidence is to an alarm, from 0 to 1. At 1 more answers than usual are wrong.
	Score float64
	// Since is when that began, zero without an alarm. Cached and Uncached are the turns since, by whether
	// the prefix cache served the code.
	Since            time.Time
	Cached, Uncached Count
	// NeedsTwins is true while twins are to show whether the cache makes the answers wrong. Twins are those so far.
	NeedsTwins bool
	Twins      Pairs
	// shown is what the twins show.
	shown string
}

// Reading returns the current state.
func (w *Watch) Reading() Watched {
	r := Watched{Usual: total(w.Usual)}
	r.Ready = r.Usual.Turns >= learned
	r.Unable = r.Usual.Turns == learned && r.Usual.RightShare() < leastRight
	if w.Alarm == nil {
		r.Score = min(math.Log1p(w.mean()/unit)/math.Log1p(1/unit), 0.999)
	} else {
		w.Alarm.read(&r)
	}
	if t := w.Twins; t != nil {
		r.Twins, r.shown = t.Pairs, t.where()
		r.NeedsTwins = r.Score >= calm && !t.isDecided()
	}
	return r
}

// read adds the alarm to the current state.
func (a *Alarm) read(r *Watched) {
	r.Score, r.Since = 1, a.Begun.Since
	for _, t := range a.Begun.Turns {
		switch t.Cached {
		case "yes":
			r.Cached = r.Cached.plus(t.Count)
		case "no":
			r.Uncached = r.Uncached.plus(t.Count)
		}
	}
}

// twinsAwaited is the number of turns of an alarm after which twins should have come.
const twinsAwaited = 50

// certain is the probability below which a share of wrong answers counts as another one.
const certain = 0.01

// Where says what the wrong answers have in common, for example "only when cached", or "" if it is unknown. The turns
// themselves count only if there are no twins, because a fault can change the usage that says which turns were cached.
func (r Watched) Where() string {
	if r.Twins.Total() > 0 || r.NeedsTwins && r.Cached.Turns+r.Uncached.Turns < twinsAwaited {
		return r.shown
	}
	only := func(few, many Count) bool {
		if few.Turns == 0 || many.Turns == 0 || float64(few.Wrong) > float64(few.Turns)*(1-r.Usual.RightShare())+1 {
			return false
		}
		return atMost(few.Wrong, few.Turns, float64(many.Wrong)/float64(many.Turns)) < certain
	}
	switch {
	case only(r.Uncached, r.Cached):
		return "only when cached"
	case only(r.Cached, r.Uncached):
		return "only when not cached"
	}
	return ""
}

// atMost returns the probability of at most k wrong turns of n at a share of wrong ones.
func atMost(k, n int, share float64) (sum float64) {
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(a - b - c + float64(i)*math.Log(share) + float64(n-i)*math.Log1p(-share))
	}
	return sum
}

// Plausible returns a saved state, or the zero value if the file is damaged.
func (w *Watch) Plausible() Watch {
	bad := func(t Tally) bool { return t.Wrong < 0 || t.Turns < t.Wrong || t.Turns > 1e12 }
	badPart := func(p Part) bool {
		return !(p.Evidence >= 0 && p.Evidence <= 1e12 && p.Won >= 0 && p.Won <= 1e12) || slices.ContainsFunc(p.Begun.Turns, bad)
	}
	a := w.Alarm
	badAlarm := a != nil && (!(a.Bet >= 0 && a.Bet <= 1 && a.Lost >= leastLost && a.Lost <= shares[len(shares)-1]) || slices.ContainsFunc(a.Begun.Turns, bad))
	if badAlarm || w.Twins != nil && !w.Twins.isPlausible() || slices.ContainsFunc(w.Usual, bad) || slices.ContainsFunc(w.Parts[:], badPart) {
		return Watch{}
	}
	return w.Copy()
}

// Copy returns a copy of the state.
func (w *Watch) Copy() Watch {
	c := *w
	c.Usual, c.mistaken = slices.Clone(w.Usual), nil
	for i := range c.Parts {
		c.Parts[i].Begun.Turns = slices.Clone(c.Parts[i].Begun.Turns)
	}
	if c.Alarm != nil {
		alarm := *c.Alarm
		alarm.Begun.Turns = slices.Clone(alarm.Begun.Turns)
		c.Alarm = &alarm
	}
	if c.Twins != nil {
		twins := *c.Twins
		twins.mistaken = nil
		c.Twins = &twins
	}
	return c
}

// RightShare returns the share of right turns, 0 without turns.
func (n Count) RightShare() float64 { return 1 - float64(n.Wrong)/float64(max(n.Turns, 1)) }

func (n Count) plus(o Count) Count { return Count{n.Turns + o.Turns, n.Wrong + o.Wrong} }

func count(wrong bool) Count {
	if wrong {
		return Count{1, 1}
	}
	return Count{1, 0}
}

func add(all []Tally, t Tally) []Tally {
	for i := range all {
		if all[i].Class == t.Class {
			all[i].Count = all[i].plus(t.Count)
			return all
		}
	}
	return append(all, t)
}

func total(all []Tally) (n Count) {
	for _, t := range all {
		n = n.plus(t.Count)
	}
	return n
}
