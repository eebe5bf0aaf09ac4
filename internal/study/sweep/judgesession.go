package sweep

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
)

// judgedSession is the verdict of an objective on a session that has ended.
type judgedSession struct {
	sent, over time.Time // over is when the time of the session was over: sent + the threshold
	runfile.JudgedSession
}

// judgeSession judges a conversation by the objectives on sessions. A conversation that the end of the level cut was
// going on until now, perhaps between two turns. The caller holds mu.
func (c *collector) judgeSession(sum probe.Conversation) {
	if len(c.spans) == 0 {
		return
	}
	if sum.Outcome == probe.Canceled {
		sum.End = time.Now()
	}
	leftOut := false
	for _, o := range c.objectives {
		if o.SLI != slo.Session {
			continue
		}
		v := runfile.JudgeSession(&sum, o)
		if leftOut {
			v.LeftOut = 0 // another objective has counted its turns
		}
		leftOut = leftOut || v.LeftOut > 0
		c.judged = append(c.judged, judgedSession{sum.Sent, sum.Sent.Add(o.Threshold), v})
	}
}

// settle counts the judged sessions of the cohort: those that were sent in the measurement, and whose time was over
// before its end and before now. Each counts in the block in which it was sent. Good sessions are known sooner than slow
// ones, so that without this rule the last part of a measurement would have good ones only. A measurement that counts
// conversations, and has seen all of them end, has no such part. The caller holds mu.
func (c *collector) settle(now time.Time) {
	if len(c.spans) == 0 {
		return
	}
	if end := c.spans[len(c.spans)-1].end; end.Before(now) {
		now = end
	}
	allEnded := c.total > 0 && c.ended >= c.total
	c.judged = slices.DeleteFunc(c.judged, func(j judgedSession) bool {
		if j.over.After(now) && !allEnded {
			return false
		}
		if s := c.find(j.sent); s != nil {
			c.blockAt(s, j.sent).CountSession(j.JudgedSession)
		}
		return true
	})
}
