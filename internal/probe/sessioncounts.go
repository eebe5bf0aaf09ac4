package probe

import "fmt"

// Cache counts as lost if at least minLost turns changed the worker, and their cached share is at least
// lostShare percentage points smaller than that of the other turns.
const minLost, lostShare = 20, 10

// SessionCounts counts follow-up turns by whether the worker of the previous turn answered (Kept) or
// another one (Lost). Turns with an unknown worker are not counted.
type SessionCounts struct {
	Kept SessionCount `json:"kept"`
	Lost SessionCount `json:"lost"`
}

// SessionCount has a number of turns. Prompt and Cached are the prompt tokens, and the cached ones, of the
// turns that report both.
type SessionCount struct {
	Turns  uint64 `json:"turns"`
	Prompt uint64 `json:"prompt_tokens"`
	Cached uint64 `json:"cached_prompt_tokens"`
}

// Count counts a turn by its Session.
func (s *SessionCounts) Count(session string, prompt, cached Opt[int]) {
	switch session {
	case SessionKept:
		s.Kept.count(prompt, cached)
	case SessionLost:
		s.Lost.count(prompt, cached)
	}
}

func (c *SessionCount) count(prompt, cached Opt[int]) {
	c.Turns++
	if prompt.OK && cached.OK {
		c.Prompt += uint64(prompt.V)
		c.Cached += uint64(cached.V)
	}
}

// Merge adds other turns.
func (s *SessionCounts) Merge(o SessionCounts) {
	s.Kept.merge(o.Kept)
	s.Lost.merge(o.Lost)
}

func (c *SessionCount) merge(o SessionCount) {
	c.Turns, c.Prompt, c.Cached = c.Turns+o.Turns, c.Prompt+o.Prompt, c.Cached+o.Cached
}

// share returns Cached / Prompt in percent.
func (c SessionCount) share() float64 { return 100 * float64(c.Cached) / float64(max(c.Prompt, 1)) }

// Finding says in a sentence without a period how many turns changed the worker, and whether that lost
// cache; "" if no worker is known.
func (s SessionCounts) Finding() string {
	all := s.Kept.Turns + s.Lost.Turns
	switch {
	case all == 0:
		return ""
	case s.Lost.Turns == 0:
		return fmt.Sprintf("sessions kept: all %d follow-ups reached the worker of the previous turn", all)
	}
	text := fmt.Sprintf("%d of %d follow-ups changed the worker", s.Lost.Turns, all)
	known := s.Lost.Prompt > 0 && s.Kept.Prompt > 0
	if !known || s.Lost.Turns < minLost || s.Kept.share()-s.Lost.share() < lostShare {
		return text
	}
	return fmt.Sprintf("cache lost by routing: %s, and %.0f %% of their prompt tokens were cached, against %.0f %% of the others",
		text, s.Lost.share(), s.Kept.share())
}
