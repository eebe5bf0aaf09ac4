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
// probable as a right answer with a wrong twin (McNemar). Twins bets that it is more probable: such a pair multiplies
// the evidence by 1+b, the opposite one by 1-b. A second test bets as Watch does that the twins, too, are wrong more
// often than answers usually were.
//
// Both tests begin with an evidence of 1 when answers become doubtful. Under its hypothesis, each of them comes to
// 1/certain with probability certain at most, however long it goes on (Ville's inequality). For that, whether a turn
// gets a twin must not depend on its own answer.
type Twins struct {
	// Since is when the answers became doubtful. Pairs of earlier turns do not count.
	Since time.Time `json:"since"`
	Pairs Pairs     `json:"pairs"`
	// Worse is the evidence that the cache makes answers wrong, for each of bets. Cold is the evidence that twins
	// are wrong more often than usual, for each of shares.
	Worse [len(bets)]float64   `json:"worse"`
	Cold  [len(shares)]float64 `json:"cold"`
	// IsWorse and IsCold are true after the mean evidence has reached 1/certain.
	IsWorse bool `json:"is_worse,omitzero"`
	IsCold  bool `json:"is_cold,omitzero"`

	// mistaken are the latest conversations with a wrong twin, of which no further twin counts as Cold.
	mistaken []string
}

// bets are for deployments whose answers are nearly always right with a cold cache, and for weak models.
var bets = [...]float64{0.95, 0.4}

const (
	// Doubtful is the score from which answers are doubtful: bursts begin, and each judged turn gets a twin. Healthy
	// models that are right in 90 or 50 % come to 0.5 six and 25 times a day, to 0.7 never and once
	// (TestBurstsOfHealthyModels).
	Doubtful = 0.7
	// mostPairs is the number of pairs after which twins are rare again.
	mostPairs = 300
)

// follow begins and ends the twins, after the evidence has changed.
func (w *Watch) follow(at time.Time) {
	switch score := w.Reading().Score; {
	case w.Twins == nil && score >= Doubtful:
		w.Twins = &Twins{Since: at, Worse: [len(bets)]float64{1, 1}, Cold: [len(shares)]float64{1, 1, 1, 1, 1}}
	case score < Doubtful/2:
		w.Twins = nil
	}
}

// AddTwin adds the twin of a turn that was sent at a time, after Add has added the turn itself. turn is the number of
// the turn in its conversation.
func (w *Watch) AddTwin(sent time.Time, conversation string, turn int, wrong, coldWrong bool) {
	t := w.Twins
	if t == nil || sent.Before(t.Since) {
		return
	}
	t.Pairs.Add(wrong, coldWrong)
	for i, b := range bets {
		switch {
		case wrong && !coldWrong:
			t.Worse[i] *= 1 + b
		case coldWrong && !wrong:
			t.Worse[i] *= 1 - b
		}
	}
	t.IsWorse = t.IsWorse || isCertain(t.Worse[:])
	if slices.Contains(t.mistaken, conversation) {
		return
	}
	if coldWrong {
		t.mistaken = append(t.mistaken[max(len(t.mistaken)-conversations+1, 0):], conversation)
	}
	usual := w.ofTurn(turn)
	for i, s := range shares {
		t.Cold[i] *= factor(usual, s, coldWrong)
	}
	t.IsCold = t.IsCold || isCertain(t.Cold[:])
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
	case t.IsWorse && t.IsCold:
		return "more often when cached"
	case t.IsWorse:
		return "only when cached"
	case t.IsCold:
		return "both when cached and when cold"
	}
	return ""
}

// isPlausible reports whether a saved state can be used.
func (t *Twins) isPlausible() bool {
	bad := func(e float64) bool { return !(e >= 0 && e <= math.MaxFloat64) }
	p := t.Pairs
	return !slices.ContainsFunc(t.Worse[:], bad) && !slices.ContainsFunc(t.Cold[:], bad) && min(p.OnlyCached, p.OnlyCold, p.Both, p.Neither) >= 0
}
