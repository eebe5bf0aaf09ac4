package status

import (
	"fmt"
	"time"

	"synthetic/internal/probe/answers/recall"
)

// recallCounts counts turns by the result of their reference code.
type recallCounts struct {
	Right   int `json:"right"`
	Wrong   int `json:"wrong"`
	Foreign int `json:"foreign"`
	// Usual is the learned share of right answers; null while it is learned.
	Usual share `json:"usual_right_ratio"`
	// WrongSince is when more answers than usual became wrong, zero if no more are.
	WrongSince time.Time `json:"wrong_since,omitzero"`
	// WrongWhere says what these answers have in common; "" if unknown.
	WrongWhere string `json:"wrong_where,omitempty"`
	// Twins are the turns that were asked again with a cold cache since the answers became doubtful.
	Twins   *recall.Pairs `json:"twins,omitempty"`
	watched recall.Watched
}

// compare adds how the answers compare with what was learned.
func (c *recallCounts) compare(w recall.Watched) {
	c.watched, c.WrongSince, c.WrongWhere, c.Twins = w, w.Since, "", nil
	c.Usual = share{V: w.Usual.RightShare(), OK: w.Ready}
	if !w.Since.IsZero() {
		c.WrongWhere = w.Where()
	}
	if w.Twins.Total() > 0 {
		c.Twins = &w.Twins
	}
}

func (c *recallCounts) count(r recall.Result) {
	switch r {
	case recall.Right:
		c.Right++
	case recall.Wrong:
		c.Wrong++
	case recall.Foreign:
		c.Foreign++
	}
}

// State is bad after a foreign answer, and while more answers than usual are wrong.
func (c *recallCounts) State() state {
	if c.Foreign > 0 {
		return state{"bad", fmt.Sprintf("answers with text of another conversation: %d", c.Foreign)}
	}
	switch w := c.watched; {
	case !c.WrongSince.IsZero():
		text := fmt.Sprintf("since %s more answers than usual are wrong", c.WrongSince.UTC().Format("2006-01-02 15:04"))
		if c.WrongWhere != "" {
			text += ", " + c.WrongWhere
		}
		if t := c.Twins; t != nil {
			text += fmt.Sprintf("; of %d asked again with a cold cache, %d were wrong only when cached, %d only when cold, %d both times", t.Total(), t.OnlyCached, t.OnlyCold, t.Both)
		}
		return state{"bad", text}
	case w.Unable:
		return state{"unknown", "the model cannot recall, so wrong answers cannot be found"}
	case !w.Ready:
		return state{"good", "no foreign code found; learning how often the model recalls"}
	}
	return state{"good", "as usual, no foreign code found"}
}

// recallText describes the result of a turn, "" for a right or unjudged one.
func recallText(r recall.Result) string {
	switch r {
	case recall.Foreign:
		return "the answer has a reference code of another conversation"
	case recall.Wrong:
		return "the answer lacks the reference code that was asked for"
	}
	return ""
}
