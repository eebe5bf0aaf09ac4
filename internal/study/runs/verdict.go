package runs

import (
	"cmp"
	"slices"
	"strings"

	"synthetic/internal/probe"
)

// Standing is what a measurement proves about a level or one of its objectives, with the confidence of the plan.
type Standing string

const (
	// Met: every objective is met.
	Met Standing = "met"
	// Missed: at least one objective is missed.
	Missed Standing = "missed"
	// Undecided: the level is too close to its limit, or was measured too briefly.
	Undecided Standing = "undecided"
	// NotJudged: the measurement says nothing about the objectives.
	NotJudged Standing = "not judged"
)

// SLOVerdict is the verdict on one objective at one level.
type SLOVerdict struct {
	Name     string   `json:"name"` // of the objective
	Standing Standing `json:"standing"`
	// Why says what an undecided objective lacks, or why it is not judged; otherwise "".
	Why string `json:"why,omitempty"`
}

// LevelVerdict is the verdict on a level. Progress, reports, a search and the gate read it.
type LevelVerdict struct {
	// Met is set if turns were judged and met every objective. Standing is the proven result.
	Met      bool     `json:"met"`
	Standing Standing `json:"standing,omitempty"`
	Lost     []string `json:"lost,omitempty"` // names the objectives that were not met
	// Confidence that every objective is met, in (0, 1). It is the least confidence of all
	// objectives, one-sided, for the effective number of turns.
	Confidence float64 `json:"confidence"`
	// SLOs has the verdict on each objective, and Why the reason if the level is not judged.
	// Files do not have them: they are derived from the turns.
	SLOs []SLOVerdict `json:"-"`
	Why  string       `json:"-"`
}

// NotJudgedBecause returns the verdict on a level that says nothing about its objectives.
func NotJudgedBecause(why string) *LevelVerdict {
	return &LevelVerdict{Standing: NotJudged, Why: why}
}

// Conclude sets Standing to what the objectives prove together. One missed objective is enough
// to miss a level. Objectives that are not judged do not count if another one is judged.
func (v *LevelVerdict) Conclude() {
	v.Standing = NotJudged
	for _, s := range v.SLOs {
		switch {
		case s.Standing == Missed:
			v.Standing = Missed
			return
		case s.Standing == Undecided, s.Standing == Met && v.Standing == NotJudged:
			v.Standing = s.Standing
		}
	}
	if v.Standing == NotJudged && len(v.SLOs) > 0 {
		v.Why = cmp.Or(v.Why, v.SLOs[0].Why)
	}
}

// Unjudged reports whether nothing was judged, so that the turns neither pass nor fail.
func (v LevelVerdict) Unjudged() bool { return v.Standing == NotJudged }

// ChanceMark follows a verdict that chance could turn.
const ChanceMark = "~"

// Measured returns the verdict by the measured percentiles, for a matrix: PASS, FAIL (TTFT+TPOT), NOT JUDGED (not
// reached). It ends with ChanceMark where chance could turn it, which ToSettle explains. label returns the printed
// name of an objective; nil prints its name.
func (v LevelVerdict) Measured(label func(name string) string) string {
	text := "PASS" + bracketed(v.reasons(NotJudged, label))
	switch {
	case v.Unjudged():
		return "NOT JUDGED" + bracketed(v.Why)
	case !v.Met:
		text = "FAIL" + bracketed(joinLabels(v.Lost, label, "+"))
	}
	if v.Standing == Undecided {
		text += " " + ChanceMark
	}
	return text
}

// ToSettle returns what would settle a verdict that chance could turn: "TTFT: 42 turns measured, about 320 needed in
// all". It returns "" for other verdicts.
func (v LevelVerdict) ToSettle(label func(name string) string) string {
	return v.reasons(Undecided, label)
}

// reasons returns the reasons of the objectives with a standing: "TTFT, TPOT: 42 turns measured,
// about 320 needed in all". Neighbours with one reason share it.
func (v LevelVerdict) reasons(standing Standing, label func(string) string) string {
	var all, names []string
	for i, s := range v.SLOs {
		if s.Standing != standing || s.Why == "" {
			continue
		}
		names = append(names, s.Name)
		if i+1 < len(v.SLOs) && v.SLOs[i+1].Standing == standing && v.SLOs[i+1].Why == s.Why {
			continue
		}
		all = append(all, joinLabels(names, label, ", ")+": "+s.Why)
		names = nil
	}
	return strings.Join(all, "; ")
}

// joinLabels returns the labels of objectives, each once; their names if label is nil.
func joinLabels(names []string, label func(string) string, between string) string {
	var all []string
	for _, name := range names {
		l := name
		if label != nil {
			l = label(name)
		}
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return strings.Join(all, between)
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// Judged counts the turns that an objective judged.
type Judged struct {
	Good uint64 `json:"good"`
	Bad  uint64 `json:"bad"`
	// Failed counts the bad turns that did not succeed; the others were too slow.
	Failed uint64 `json:"failed,omitempty"`
	// Late counts turns that it left out because the prober was too late, or could not send. They may be good or bad.
	Late uint64 `json:"late,omitempty"`
}

// judged returns the judged turns of each block. A last block has the turns that the tail lost: its turns ended under a
// falling load, so only those count that failed and that the objective counts as bad. A hang counts at its deadline, also
// after the measurement.
//
// The verdict of a sweep and the matrix of a report both use this rule.
func (r Result) judged(objective string) (blocks []Judged) {
	for _, b := range r.Blocks() {
		judged := b.SLOs[objective]
		judged.Late += b.ownFaults()
		blocks = append(blocks, judged)
	}
	if r.Tail != nil && r.Tail.SLOs[objective].Failed > 0 {
		lost := r.Tail.SLOs[objective].Failed
		blocks = append(blocks, Judged{Bad: lost, Failed: lost})
	}
	return blocks
}

// Blocks returns the blocks of all snapshots, in order.
func (r Result) Blocks() []Block {
	var all []Block
	for _, s := range r.Snapshots {
		all = append(all, s.Blocks...)
	}
	return all
}

// Ended returns the turns that ended and those among them that failed. It leaves out turns that
// the prober ended itself.
func (b Block) Ended() (turns, failed uint64) {
	for outcome, n := range b.Outcomes {
		if !outcome.Own() {
			turns += n
		}
		if outcome.Failed() {
			failed += n
		}
	}
	return turns, failed
}

// EndedTurns is Block.Ended for the whole measurement without its tail.
func (r Result) EndedTurns() (turns, failed uint64) {
	for _, b := range r.Blocks() {
		n, bad := b.Ended()
		turns, failed = turns+n, failed+bad
	}
	return turns, failed
}

// LeftOut returns how many turns say too little about the deployment because the prober was
// late or could not send, and the number of all turns.
func (r Result) LeftOut() (turns, all uint64) {
	blocks := r.Blocks()
	if r.Tail != nil {
		blocks = append(blocks, *r.Tail)
	}
	for _, b := range blocks {
		ended, _ := b.Ended()
		turns, all = turns+b.NotJudged+b.ownFaults(), all+ended+b.ownFaults()
	}
	return turns, all
}

func (b Block) ownFaults() (turns uint64) {
	for _, o := range probe.OwnFaults() {
		turns += b.Outcomes[o]
	}
	return turns
}
