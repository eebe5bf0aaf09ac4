package status

import (
	"fmt"
	"time"

	"synthetic/docs/runbooks"
	"synthetic/internal/bound"
	"synthetic/internal/redact"
	"synthetic/internal/rules"
)

const (
	// infosShown bounds the incidents that OpenIncidents returns, summaryKept the bytes of a text.
	infosShown, summaryKept = 100, 500
	// infoInterval is how long an incident keeps its texts: in a Prometheus, each other text is
	// another series.
	infoInterval = time.Minute
)

// IncidentInfo describes an open incident in short texts. A text is "" if it is unknown.
type IncidentInfo struct {
	Target, Workload, Severity string
	// Since is in RFC 3339, Factor the largest ratio to the baseline.
	Since, Factor string
	// Cause is what the server's own metrics show, Summary the sentence of the page with the change
	// before it.
	LikelyPart, Cause, Summary string
	// Runbook and Path are paths of this process.
	Runbook, Path string
}

// infos are the texts of the open incidents by id.
type infos map[string]timedInfo

type timedInfo struct {
	IncidentInfo
	at time.Time
}

// OpenIncidents returns the worst open incidents, and the end of the latest finished one; a zero
// time if none is known.
func (p *Page) OpenIncidents() (open []IncidentInfo, lastEnd time.Time) {
	all, now, next := p.incidentsNow(), p.options.Now(), infos{}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range all {
		if i.Ended.After(lastEnd) {
			lastEnd = i.Ended
		}
		if !i.Ended.IsZero() || len(open) == infosShown {
			continue
		}
		known := p.infos[i.ID]
		if known.Severity != i.severity() || now.Sub(known.at) >= infoInterval {
			known = timedInfo{i.info(), now}
		}
		next[i.ID], open = known, append(open, known.IncidentInfo)
	}
	p.infos = next
	return open, lastEnd
}

// info describes the incident.
func (i incident) info() IncidentInfo {
	name, text := i.Main().alert(), func(s string) string { return bound.Shorten(redact.Text(s), summaryKept) }
	out := IncidentInfo{
		Target: i.About.Target, Workload: i.About.Workload, Severity: i.severity(),
		Since: i.Since.UTC().Format(time.RFC3339), LikelyPart: i.Peak.part(),
		Cause: text(rules.ServerCause(i.Main().Summary)), Summary: text(i.Headline()),
		Path: "/incidents/" + i.ID,
	}
	if i.Peak.Ratio > 0 {
		out.Factor = fmt.Sprintf("%.1f", i.Peak.Ratio)
	}
	if _, err := runbooks.Files.ReadFile(name + ".md"); err == nil {
		out.Runbook = "/runbooks/" + name
	}
	return out
}

func (i incident) severity() string {
	if i.paging() {
		return "page"
	}
	return "ticket"
}
