package workload

import "testing"

// BenchmarkNext plans conversations of 4 turns with a 4,000-token opening.
func BenchmarkNext(b *testing.B) {
	for name, starters := range map[string]int{"shared": 10, "unique": 0} {
		b.Run(name, func(b *testing.B) {
			s, err := NewSource(Spec{TurnsMin: 4, PromptTokens: 4000, FollowupTokens: 40, Starters: starters}, 0)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Next()
			}
		})
	}
}
