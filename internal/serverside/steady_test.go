package serverside

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestSteady checks which sequences of names are changes. Each letter of a sequence is a sighting.
func TestSteady(t *testing.T) {
	long := strings.Repeat("a", steadyFor)
	for name, tt := range map[string]struct {
		names string
		want  string // the changes: previous name, new name, number of its first sighting after long
	}{
		"changed":          {long + "bbb", "ab0"},
		"not yet":          {long + "bb", ""},
		"back":             {long + "bbabb", ""},
		"a third name":     {long + "bbccc", "ac2"},
		"too early":        {long[1:] + "bbb", ""},
		"unknown between":  {long + "b-b--b", "ab0"},
		"and back again":   {long + strings.Repeat("b", steadyFor) + "aaa", "ab0 ba100"},
		"back too early":   {long + "bbbaaa", "ab0"},
		"one of a hundred": {strings.Repeat(long[1:]+"b", 9), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var s Steady
			var got []string
			for i, c := range tt.names {
				if previous, since, changed := s.Changed(strings.Trim(string(c), "-"), time.Unix(int64(i-steadyFor), 0)); changed {
					got = append(got, fmt.Sprint(previous, string(c), since.Unix()))
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("the changes are %q, want %q", text, tt.want)
			}
		})
	}
}

// TestReplicasAreNoChange: 100,000 answers of two replicas with different names are no change, whatever the share
// of the second one from 5 % to 50 %.
func TestReplicasAreNoChange(t *testing.T) {
	for share := 5; share <= 50; share += 5 {
		random := rand.New(rand.NewPCG(1, uint64(share)))
		var s Steady
		for range 100_000 {
			name := "a"
			if random.IntN(100) < share {
				name = "b"
			}
			if _, _, changed := s.Changed(name, time.Time{}); changed {
				t.Errorf("a change at a share of %d %%", share)
			}
		}
	}
}
