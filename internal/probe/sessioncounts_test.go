package probe

import "testing"

// TestSessionFinding checks that few lost turns, and shares that hardly differ, are no lost cache.
func TestSessionFinding(t *testing.T) {
	const kept, lost = SessionKept, SessionLost
	type turns struct {
		n       int
		session string
		cached  Opt[int] // of 1000 prompt tokens
	}
	for _, tt := range []struct {
		turns []turns
		want  string
	}{
		{[]turns{{1, "", Some(500)}}, ""},
		{[]turns{{2, kept, Some(500)}, {1, "", Some(0)}}, "sessions kept: all 2 follow-ups reached the worker of the previous turn"},
		{[]turns{{30, lost, Opt[int]{}}, {30, kept, Some(900)}}, "30 of 60 follow-ups changed the worker"},
		{[]turns{{30, lost, Some(0)}}, "30 of 30 follow-ups changed the worker"},
		{[]turns{{1, lost, Some(0)}, {9999, kept, Some(900)}}, "1 of 10000 follow-ups changed the worker"},
		{[]turns{{19, lost, Some(0)}, {19, kept, Some(900)}}, "19 of 38 follow-ups changed the worker"},
		{[]turns{{500, lost, Some(879)}, {500, kept, Some(880)}}, "500 of 1000 follow-ups changed the worker"},
		{[]turns{{500, lost, Some(801)}, {500, kept, Some(900)}}, "500 of 1000 follow-ups changed the worker"},
		{[]turns{{500, lost, Some(950)}, {500, kept, Some(50)}}, "500 of 1000 follow-ups changed the worker"},
		{[]turns{{10, lost, Some(100)}, {10, lost, Some(200)}, {1, kept, Some(900)}}, "cache lost by routing: 20 of 21 follow-ups changed the worker, and 15 % of their prompt tokens were cached, against 90 % of the others"},
	} {
		var sum SessionCounts
		for _, turns := range tt.turns {
			var part SessionCounts
			for range turns.n {
				part.Count(turns.session, Some(1000), turns.cached)
			}
			sum.Merge(part)
		}
		if got := sum.Finding(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
