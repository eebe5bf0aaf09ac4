package slo

import "synthetic/internal/probe"

// HasSessions reports whether one of the objectives is on sessions.
func HasSessions(objectives []Objective) bool {
	for _, o := range objectives {
		if o.SLI == Session {
			return true
		}
	}
	return false
}

// JudgeSession judges a conversation by an objective on sessions: it is good if it ended within the threshold and
// without a failed turn. NotJudged: other objectives, a burst, a conversation that the prober or a user ended
// within its time or that was shortened, and one that only the prober's own lag may have made too long.
func (o Objective) JudgeSession(c *probe.Conversation) Judgement {
	if o.SLI != Session || c.Burst || c.Sent.IsZero() || c.Outcome.OwnFault() || !o.CoversJob(c.Target, c.Workload) {
		return NotJudged
	}
	switch late := c.Duration() > o.Threshold; {
	case c.Outcome.Failed():
		return Bad
	case late && c.Duration()-c.Lag <= o.Threshold:
		return NotJudged
	case late:
		return Bad
	case c.Outcome.Own() || c.Shortened:
		return NotJudged
	}
	return Good
}
