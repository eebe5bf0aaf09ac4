package recall

import (
	"math"
	"slices"
	"time"
)

// Pairs counts answers with their twins. A twin is the answer to the same history, asked again with a cold
// cache.
type Pairs struct {
	OnlyCached int `json:"wrong_only_cached"`
	OnlyCold   int `json:"wrong_only_cold"`
	Both       int `json:"wrong_both"`
	Neither    int `json:"right"`
}

// Add counts an answer with its twin.
func (p *Pairs) Add(wrong, coldWrong bool) {
	switch {
	case wrong && coldWrong:
		p.Both++
	case wrong:
		p.OnlyCached++
	case coldWrong:
		p.OnlyCold++
	default:
		p.Neither++
	}
}

// Total returns the number of pairs.
func (p Pairs) Total() int { return p.OnlyCached + p.OnlyCold + p.Both + p.Neither }

// Twins decides whether the prefix cache makes answers wrong. If it does not, a wrong answer with a right twin is as
// probable as a right answer with a wrong twin (McNemar). Worse bets that it is more probable: such a pair multiplies
// the evidence by 1+b, the opposite one by 1-b. Better makes the opposite bet. Cold bets as Watch does that the twins,
// too, are wrong more often than answers usually were.
//
// Only bets against the hypothesis that twins lose at least spared of what cached answers lose. If u is the usual share
// of wrong answers, the mean of coldWrong - u - spared*(wrong - u) is then at least 0, and so 1 - b times it is at most a
// fair bet. OnlyCold is the same with cached answers and twins exchanged.
//
// All tests begin with an evidence of 1 when answers become doubtful. Under its hypothesis, each of them comes to
// 1/certain with probability certain at most, however long it goes on (Ville's inequality). For that, whether a turn
// gets a twin must not depend on its own answer.
type Twins struct {
	// Since is when the answers became doubtful. Pairs of earlier turns do not count.
	Since time.Time `json:"since"`
	// Doubted is when answers were last doubtful. Twins are forgotten at keepTwins after it.
	Doubted time.Time `json:"doubted"`
	Pairs   Pairs     `json:"pairs"`
	// Attempts are the twins since then, also those without a result.
	Attempts int `json:"attempts"`
	// Worse and Better are the evidence that answers are wrong more often, and less often, when cached. Both have one
	// number for each of bets. Cold is the evidence that twins are wrong more often than usual, for each of shares.
	Worse  [len(bets)]float64   `json:"worse"`
	Better [len(bets)]float64   `json:"better"`
	Cold   [len(shares)]float64 `json:"cold"`
	// Only and OnlyCold are the evidence that answers are wrong only when cached, and only when not cached.
	Only     float64 `json:"only"`
	OnlyCold float64 `json:"only_cold"`
	// Each decision is true after the mean evidence of its test has reached 1/certain.
	IsWorse    bool `json:"is_worse,omitzero"`
	IsBetter   bool `json:"is_better,omitzero"`
	IsCold     bool `json:"is_cold,omitzero"`
	IsOnly     bool `json:"is_only,omitzero"`
	IsOnlyCold bool `json:"is_only_cold,omitzero"`

	// mistaken are the latest conversations with a wrong answer or twin, of which no further pair counts in Cold, Only
	// and OnlyCold.
	mistaken []string
}

// bets are for deployments whose answers are nearly always right with a cold cache, and for weak models.
var bets = [...]float64{0.95, 0.4}

const (
	// Doubtful is the score from which answers are doubtful: bursts begin, and each judged turn gets a twin. Healthy
	// models that are right in 90 or 50 % come to 0.5 six and 25 times a day, to 0.7 never and once
	// (TestBurstsOfHealthyModels).
	Doubtful = 0.7
	// Below a score of calm no more twins are asked, but those before count for keepTwins: the score can fall and rise
	// again before the alarm.
	calm      = Doubtful / 2
	keepTwins = 15 * time.Minute
	// mostPairs is the number of twins, with and without a result, after which twins are rare again.
	mostPairs = 300
	// spared is the share of the losses of one side from which on the other side loses answers, too.
	spared = 0.2
	// strong is the usual share of wrong answers from which on a model is weak.
	strong = 0.005
	// mostEvidence bounds each evidence, because an infinite one could not be saved as JSON.
	mostEvidence = 1e12
)

// follow begins and ends the twins, after the evidence has changed.
func (w *Watch) follow(at time.Time) {
	score := w.Reading().Score
	if w.Twins == nil && score >= Doubtful {
		w.Twins = newTwins(at)
	}
	switch t := w.Twins; {
	case t == nil:
	case score >= calm:
		t.Doubted = at
	case at.Sub(t.Doubted) > keepTwins:
		w.Twins = nil
	}
}

func newTwins(since time.Time) *Twins {
	t := &Twins{Since: since, Only: 1, OnlyCold: 1}
	for i := range bets {
		t.Worse[i], t.Better[i] = 1, 1
	}
	for i := range shares {
		t.Cold[i] = 1
	}
	return t
}

// AddFailedTwin adds the twin without a result of a turn that was sent at a time.
func (w *Watch) AddFailedTwin(sent time.Time) {
	if t := w.Twins; t != nil && !sent.Before(t.Since) {
		t.Attempts++
	}
}

// AddTwin adds the twin of a turn that was sent at a time, after Add has added the turn itself. turn is the number of
// the turn in its conversation.
func (w *Watch) AddTwin(sent time.Time, conversation string, turn int, wrong, coldWrong bool) {
	t := w.Twins
	if t == nil || sent.Before(t.Since) {
		return
	}
	t.Attempts++
	t.Pairs.Add(wrong, coldWrong)
	for i, b := range bets {
		switch {
		case wrong && !coldWrong:
			multiply(&t.Worse[i], 1+b)
			multiply(&t.Better[i], 1-b)
		case coldWrong && !wrong:
			multiply(&t.Worse[i], 1-b)
			multiply(&t.Better[i], 1+b)
		}
	}
	t.IsWorse = t.IsWorse || isCertain(t.Worse[:])
	t.IsBetter = t.IsBetter || isCertain(t.Better[:])
	if slices.Contains(t.mistaken, conversation) {
		return
	}
	if wrong || coldWrong {
		t.mistaken = append(t.mistaken[max(len(t.mistaken)-conversations+1, 0):], conversation)
	}
	usual := w.ofTurn(turn)
	for i, s := range shares {
		multiply(&t.Cold[i], factor(usual, s, coldWrong))
	}
	multiply(&t.Only, sparing(usual, wrong, coldWrong))
	multiply(&t.OnlyCold, sparing(usual, coldWrong, wrong))
	t.IsCold = t.IsCold || isCertain(t.Cold[:])
	t.IsOnly = t.IsOnly || isCertain([]float64{t.Only})
	t.IsOnlyCold = t.IsOnlyCold || isCertain([]float64{t.OnlyCold})
}

// multiply multiplies an evidence by the gain of a bet.
func multiply(evidence *float64, gain float64) { *evidence = min(*evidence*gain, mostEvidence) }

// sparing is the gain of the bet that a fault loses less than spared of the answers of one side than of the other.
// lost and kept say whether the answer of the other side and that of this side are wrong. The usual share is taken
// one standard error too low, because it is an estimate, and a lower one is cautious.
func sparing(usual Count, lost, kept bool) float64 {
	n, share := float64(max(usual.Turns, 1)), 1-usual.RightShare()
	bet := bets[1]
	if share < strong {
		bet = bets[0]
	}
	excess := -(1 - spared) * max(share-math.Sqrt(share*(1-share)/n), 0)
	if lost {
		excess -= spared
	}
	if kept {
		excess++
	}
	return 1 - bet*excess
}

// isCertain reports whether the mean evidence is enough.
func isCertain(evidence []float64) bool {
	sum := 0.0
	for _, e := range evidence {
		sum += e
	}
	return sum/float64(len(evidence)) >= 1/certain
}

// ofTurn returns the learned turns of a number, cached or not.
func (w *Watch) ofTurn(turn int) (n Count) {
	for _, t := range w.Usual {
		if t.Turn == min(turn, lastTurn) {
			n = n.plus(t.Count)
		}
	}
	return n
}

// where says what the twins show, "" if they show nothing.
func (t *Twins) where() string {
	switch {
	case t.IsOnly && t.IsWorse && !t.IsCold:
		return "only when cached"
	case t.IsWorse:
		return "more often when cached"
	case t.IsOnlyCold && t.IsBetter:
		return "only when not cached"
	case t.IsBetter:
		return "more often when not cached"
	case t.IsCold:
		return "also with a cold cache"
	}
	return ""
}

// isDecided reports whether more twins can show nothing more.
func (t *Twins) isDecided() bool {
	return t.IsWorse && (t.IsOnly || t.IsCold) || t.IsBetter && t.IsOnlyCold || t.Attempts >= mostPairs
}

// isPlausible reports whether a saved state can be used.
func (t *Twins) isPlausible() bool {
	bad := func(e float64) bool { return !(e >= 0 && e <= math.MaxFloat64) }
	p := t.Pairs
	all := slices.Concat(t.Worse[:], t.Better[:], t.Cold[:], []float64{t.Only, t.OnlyCold})
	return !slices.ContainsFunc(all, bad) && min(p.OnlyCached, p.OnlyCold, p.Both, p.Neither, t.Attempts) >= 0
}
