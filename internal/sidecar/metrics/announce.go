package metrics

import (
	"slices"
	"strings"
	"time"
)

// announceFor is how long a late counter is exported as 0 after a scrape first had it, so that
// increase() sees its first increase. It is shorter than the usual scrape interval of 15 s: pages read
// failures by reason, so a longer time would delay them. With a longer interval, any earlier reader of
// /metrics can end the announcement before a Prometheus has seen the 0.
const announceFor = 14 * time.Second

// announcements holds when each late counter of a job was first exported, by announcementKey. Counters that the
// first scrape already has are exported with their value, as in the mode both; their time is zero.
type announcements map[string]time.Time

// announced returns the value to export of a counter: 0 in the first announceFor, else v.
func (e *exposition) announced(name string, l labels, v float64) float64 {
	if e.announcements == nil || !slices.Contains(e.late, name) {
		return v
	}
	key := announcementKey(name, l)
	since, known := e.announcements[key]
	if !known {
		if !e.firstScrape {
			since = e.now
		}
		e.announcements[key] = since
	}
	if e.now.Sub(since) < announceFor {
		return 0
	}
	return v
}

// announcementKey identifies a late counter within its job. It leaves out the target's own labels, because a
// counter whose labels change continues.
func announcementKey(name string, l labels) string {
	var b strings.Builder
	b.WriteString(name)
	for _, p := range l {
		switch p.GetName() {
		case LabelTurn, LabelReason, labelFinish:
			b.WriteByte(0)
			b.WriteString(p.GetValue())
		}
	}
	return b.String()
}
