package workload

import (
	"reflect"
	"testing"
	"time"
)

// TestPass checks for each kind of source that three processes which skip each other's
// conversations plan the same conversations as one, at the same times.
func TestPass(t *testing.T) {
	const parts, n = 3, 40
	for name, spec := range map[string]Spec{
		"generated": {TurnsMin: 1, TurnsMax: 4, PromptTokens: 30, FollowupTokens: 10, ThinkMax: time.Second},
		"starters":  {TurnsMax: 2, PromptTokens: 30, FollowupTokens: 10, Starters: 5, Cancel: Cancel{Share: 0.3, Max: time.Second}},
		"a file":    {ConversationsFile: "testdata/footprint.jsonl"},
		"a trace":   {Trace: Trace{File: "trace/testdata/mooncake.jsonl"}},
	} {
		spec.Seed = 4
		whole := plans(newSource(t, spec, 9), n)
		for part := range parts {
			s := newSource(t, spec, 9)
			for i, want := range whole {
				if i%parts != part {
					if at := s.Skip(); at != want.At {
						t.Errorf("%s: conversation %d is passed at %s, want %s", name, i, at, want.At)
					}
				} else if got := s.Next(); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: conversation %d of part %d is another one", name, i, part)
				}
			}
			s.Close()
		}
	}
}
