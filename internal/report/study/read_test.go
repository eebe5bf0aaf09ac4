package study

import "testing"

func TestDump(t *testing.T) {
	for _, n := range []string{"000", "001", "002", "003", "004"} {
		s, err := Read("testdata/" + n + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %q %v %v %s", n, s.Title, s.Generated, s.Objectives, s.Notes)
		for _, x := range s.Series {
			t.Logf("  %q", x.Name)
			for _, l := range x.Levels {
				t.Logf("   %g runs %d/%d %d figures", l.At, l.Valid, l.Runs, len(l.Figures))
			}
		}
		t.Log(s.Method, s.Deployment)
	}
}
