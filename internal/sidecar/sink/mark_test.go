package sink

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"synthetic/internal/redact"
)

// TestMarksOfOneChange: of the marks of one change by several sources, the one that tells most is kept, with the time
// of the first mark of the same target unless the sender gave one. Other changes stay.
func TestMarksOfOneChange(t *testing.T) {
	at := func(minute int) time.Time {
		return time.Unix(1_700_000_000, 0).Add(time.Duration(minute) * time.Minute)
	}
	restart := Mark{At: at(0), Source: MarkRestart, Target: "pods/a", Text: "server restarted"}
	version := Mark{At: at(1), Source: MarkVersion, Target: "pods/a", Text: "version 1 → 2"}
	release := Mark{At: at(2), Source: MarkDeploy, Target: "pods", Text: "router 2"}
	everywhere := Mark{At: at(3), Source: MarkGitHub, Text: "deployment of router 2 to production"}
	for name, tt := range map[string]struct {
		marks []Mark
		want  string // texts and minutes
	}{
		"more detail replaces less":    {[]Mark{restart, version}, "version 1 → 2 0"},
		"less detail is dropped":       {[]Mark{version, restart}, "version 1 → 2 1"},
		"a mark of the whole group":    {[]Mark{restart, version, release}, "router 2 2"},
		"a restart of another target":  {[]Mark{{At: at(0), Source: MarkRestart, Target: "pods/b", Text: "server restarted"}, {At: at(2), Source: MarkDeploy, Text: "router 2"}}, "router 2 2"},
		"a given time":                 {[]Mark{restart, {At: at(2), Source: MarkDeploy, Target: "pods/a", Text: "router 2", IsExact: true}}, "router 2 2"},
		"some targets of a group":      {[]Mark{{At: at(0), Source: MarkRollout, Target: "pods", Only: []string{"pods/b"}, Text: "1"}, {At: at(1), Source: MarkRollout, Target: "pods", Only: []string{"pods/a"}, Text: "1"}}, "1 1"},
		"less detail, more targets":    {[]Mark{release, everywhere}, "router 2 2, deployment of router 2 to production 3"},
		"the same text again":          {[]Mark{restart, {At: at(9), Source: MarkRestart, Target: "pods/a", Text: "server restarted"}}, "server restarted 0"},
		"later":                        {[]Mark{restart, {At: at(11), Source: MarkRestart, Target: "pods/a", Text: "server restarted"}}, "server restarted 0, server restarted 11"},
		"two releases":                 {[]Mark{release, {At: at(3), Source: MarkDeploy, Target: "pods", Text: "vllm 3"}}, "router 2 2, vllm 3 3"},
		"another target":               {[]Mark{{At: at(1), Source: MarkVersion, Target: "pods/b", Text: "version 1 → 2"}, restart}, "server restarted 0"},
		"a model and a start are kept": {[]Mark{release, {At: at(2), Source: MarkModel, Target: "pods/a", Text: "b"}, {At: at(2), Source: MarkStart, Text: "x"}}, "router 2 2, b 2, x 2"},
	} {
		t.Run(name, func(t *testing.T) {
			told := ""
			m := NewMarks(func(m Mark) { told = m.Text })
			for _, mark := range tt.marks {
				m.Add(mark)
			}
			var got []string
			for _, mark := range m.About("pods/a") {
				got = append(got, fmt.Sprint(mark.Text, " ", mark.At.Sub(at(0)).Minutes()))
			}
			if text := strings.Join(got, ", "); text != tt.want || told == "" || told == "x" {
				t.Errorf("got %q, the last change told is %q, want %q", text, told, tt.want)
			}
		})
	}
}

// TestMarkTexts: the text of a mark is one short line without secrets, and the number of marks is bounded.
func TestMarkTexts(t *testing.T) {
	redact.Key("correct-horse&battery")
	m := NewMarks(nil)
	for range marksKept + 5 {
		m.Add(Mark{Source: MarkStart})
	}
	m.Add(Mark{Source: MarkDeploy, At: time.Now().Add(time.Hour), Text: " a\n\x1b[31mred\t\xff \u202e <b>& key correct-horse&battery " + strings.Repeat("µ", markText)})
	all := m.About("any")
	if len(all) != marksKept+1 {
		t.Errorf("%d marks are kept, want %d", len(all), marksKept+1)
	}
	if at := all[len(all)-1].At; at.After(time.Now()) {
		t.Errorf("the time %v is in the future", at)
	}
	text := all[len(all)-1].Text
	if !strings.HasPrefix(text, "a [31mred ‹b›+ key ‹redacted› µ") || !strings.HasSuffix(text, "µ…") || len(text) > markText+len("…") {
		t.Errorf("the text is %q", text)
	}
}

// TestSourcesThatExplain: the events of the prober and a restart alone do not delay pages, and a restart after the
// start of a fault does not explain it.
func TestSourcesThatExplain(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	for source, want := range map[MarkSource]struct{ deployment, before, after bool }{
		MarkStart: {}, MarkReload: {}, MarkIncident: {},
		MarkModel: {false, true, true}, MarkRestart: {false, true, false},
		MarkVersion: {true, true, true}, MarkFingerprint: {true, true, true}, MarkRollout: {true, true, true},
		MarkGitHub: {true, true, true}, MarkDeploy: {true, true, true},
	} {
		m := Mark{At: at, Source: source}
		if m.IsDeployment() != want.deployment || m.Explains(at.Add(time.Minute)) != want.before || m.Explains(at.Add(-time.Minute)) != want.after {
			t.Errorf("%s: deployment %v, explains a later fault %v, and an earlier one %v; want %+v",
				source, m.IsDeployment(), m.Explains(at.Add(time.Minute)), m.Explains(at.Add(-time.Minute)), want)
		}
	}
}
