package status

import (
	"fmt"
	"strings"

	"synthetic/internal/probe/answers"
)

// canaryView shows how a target's answers compare with the recorded ones.
type canaryView struct{ answers.Reading }

// State sums it up.
func (c canaryView) State() state {
	switch {
	case c.Score >= 1:
		return state{"bad", "the answers have changed, found " + c.Since.Format("2006-01-02 15:04 MST")}
	case c.Err != nil:
		return state{"unknown", "not compared: " + c.Err.Error()}
	}
	return state{"good", "as recorded"}
}

// Figures returns the values in words.
func (c canaryView) Figures() string {
	return fmt.Sprintf("distance %.2g, recorded up to %.2g; score %.2f", c.Distance, c.Usual, c.Score)
}

// shownText is the number of characters of an answer on the page.
const shownText = 200

// Texts returns the recorded and the current answer from shortly before their difference;
// nothing if texts may not be shown.
func (c canaryView) Texts() []string {
	if c.Was == "" && c.Is == "" {
		return nil
	}
	was, is := []rune(c.Was), []rune(c.Is)
	from := 0
	for from < min(len(was), len(is)) && was[from] == is[from] {
		from++
	}
	from = max(from-20, 0)
	return []string{excerpt(was, from), excerpt(is, from)}
}

func excerpt(text []rune, from int) string {
	from = min(from, len(text))
	shown := string(text[from:min(from+shownText, len(text))])
	if from > 0 {
		shown = "…" + shown
	}
	return strings.ToValidUTF8(shown, "?")
}
