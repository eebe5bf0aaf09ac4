package turnlog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// TestRecallIsWrittenAndRead: a judged turn has its result, and a turn that was not judged has no key of it.
func TestRecallIsWrittenAndRead(t *testing.T) {
	for want, r := range map[string]probe.Recall{
		`"recall":"wrong","recall_cached":"yes","recall_depth":700,`: {Result: recall.Wrong, Depth: probe.Some(700), Cached: probe.Some(true)},
		`"recall":"right","recall_cached":"no","recall_depth":0,`:    {Result: recall.Right, Depth: probe.Some(0), Cached: probe.Some(false)},
		`"recall":"foreign","recall_cached":"unknown",`:              {Result: recall.Foreign},
		"": {},
	} {
		turn := whole()
		turn.Recall = r
		line := string(turn.Append(nil))
		if !strings.Contains(line, want) || want == "" && strings.Contains(line, "recall") {
			t.Errorf("%+v is written as %s", r, line)
		}
		got, err := read(t, line)
		if err != nil || len(got) != 1 || !cmp.Equal(got[0].Recall, r) || got[0].Result().Recall != r {
			t.Errorf("%s is read as %+v (%v)", line, got, err)
		}
	}
}
