package status

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/redact"
	"synthetic/internal/sidecar/sink"
)

// TestOpenIncidents checks the texts of the open incidents: they say what the page says, contain no
// secret, keep their words for a minute, and are gone at the end.
func TestOpenIncidents(t *testing.T) {
	redact.Key("correct-horse-battery")
	now := noon
	p := New(Options{Now: func() time.Time { return now }})
	slow(p)
	p.Add(jobOf("t", "w"))
	fires := told("SyntheticRegression", "page", 10*time.Minute, 0, func(c *AlertChange) {
		c.Annotations["summary"] = "t/w: slower; the server queues: 94 requests wait for correct-horse-battery"
	})
	p.options.Marks.Add(sink.Mark{At: noon.Add(-25 * time.Minute), Source: sink.MarkDeploy, Text: "vllm 0.33.1"})
	p.Alert(fires)
	open, lastEnd := p.OpenIncidents()
	want := []IncidentInfo{{
		Target: "t", Workload: "w", Severity: "page", Since: noon.Add(-20 * time.Minute).UTC().Format(time.RFC3339), Factor: "4.7",
		LikelyPart: "queue or prefill", Cause: "the server queues: 94 requests wait for " + redact.Mark,
		Summary: p.incidentsNow()[0].Headline() + ", after a change at 11:35 UTC: vllm 0.33.1", Runbook: "/runbooks/SyntheticRegression", Path: "/incidents/" + p.incidentsNow()[0].ID,
	}}
	if diff := cmp.Diff(want, open); diff != "" || !lastEnd.IsZero() || !strings.Contains(open[0].Summary, "4.7 × usual") {
		t.Errorf("the last end is %v; the incident (-want +got):\n%s", lastEnd, diff)
	}

	fires.Annotations["summary"] = "t/w: slower; the server queues: 95 requests wait"
	p.Alert(fires)
	now = now.Add(infoInterval - time.Second)
	if again, _ := p.OpenIncidents(); again[0] != open[0] {
		t.Errorf("within a minute the texts changed to %+v", again[0])
	}
	now = now.Add(time.Second)
	if later, _ := p.OpenIncidents(); later[0].Cause != "the server queues: 95 requests wait" {
		t.Errorf("after a minute the cause is still %q", later[0].Cause)
	}
	fires.Annotations["summary"] = "t/w: slower; the server queues: " + strings.Repeat("µ", summaryKept)
	p.Alert(fires)
	now = now.Add(infoInterval)
	if long, _ := p.OpenIncidents(); !utf8.ValidString(long[0].Cause) || !strings.HasSuffix(long[0].Cause, "µ…") {
		t.Errorf("a long cause is cut within a character, which no label may have: %q", long[0].Cause)
	}
	fires.Firing, fires.Lasted = false, 5*time.Minute
	p.Alert(fires)
	if open, lastEnd := p.OpenIncidents(); len(open) != 0 || !lastEnd.Equal(noon.Add(-5*time.Minute)) {
		t.Errorf("after its end %+v, last end %v", open, lastEnd)
	}
}
