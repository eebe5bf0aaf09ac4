package metrics

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// TestRecall: right and wrong turns are counted by cache and depth. Foreign ones have one series, which is 0
// before the first turn.
func TestRecall(t *testing.T) {
	c := &clock{now: start}
	r := newTestRecorder(c, "east")
	recalled := func(result recall.Result, tokens int) {
		turn := turn("east", probe.Followup, c.now, time.Second, time.Millisecond, 4)
		turn.Recall = probe.Recall{Result: result, Depth: probe.Some(tokens), Cached: probe.Some(true)}
		run(r, turn)
	}
	const none = `synthetic_recall_turns_total{cached="unknown",depth="unknown",result="foreign",target="east",workload="chat"} 0`
	if text := exposed(t, r); !strings.Contains(text, none) || strings.Contains(text, `depth="1k-8k"`) {
		t.Errorf("before the first turn:\n%s", recallLines(text))
	}
	recalled(recall.Foreign, 2000)
	recalled(recall.Right, 2000)
	recalled(recall.Right, 2000)
	run(r, turn("east", probe.First, c.now, time.Second, time.Millisecond, 4))
	text := exposed(t, r)
	if n := strings.Count(text, `result="foreign",target="east"`); n != 1 {
		t.Errorf("%d series of foreign turns, want 1", n)
	}
	for _, want := range []string{
		`synthetic_recall_turns_total{cached="yes",depth="1k-8k",result="right",target="east",workload="chat"} 2`,
		`synthetic_recall_turns_total{cached="yes",depth="1k-8k",result="wrong",target="east",workload="chat"} 0`,
		`synthetic_recall_turns_total{cached="unknown",depth="unknown",result="foreign",target="east",workload="chat"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, recallLines(text))
		}
	}
}

func recallLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "synthetic_recall") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func exposed(t *testing.T, r *testRecorder) string {
	t.Helper()
	return scrape(t, r, "text/plain; version=0.0.4").String()
}
