package demo

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestDemo checks that no alert fires before the first fault, and that the outage and the regression page
// within minutes.
func TestDemo(t *testing.T) {
	t.Parallel()
	known, err := LoadBaseline()
	if err != nil {
		t.Fatal(err)
	}
	pages := demoRun{options: Deployment(1), baseline: known, length: 12 * time.Minute}.play(t).pages(t)
	t.Logf("alerts: %v", pages)
	if len(pages) > 0 && pages[0].first < hangAt {
		t.Errorf("before the first fault: %s", pages[0])
	}
	paged := slices.DeleteFunc(pages, func(g page) bool { return g.severity != "page" })
	faults := []struct {
		after time.Duration
		slo   []string
		part  string
	}{{hangAt, []string{"availability"}, ""}, {slowAt, []string{"ttft", "tpot"}, "queue_prefill"}}
	if len(paged) != len(faults) {
		t.Fatalf("%d pages for %d faults", len(paged), len(faults))
	}
	for i, f := range faults {
		if g := paged[i]; g.alert != "SyntheticSLOFastBurn" || !slices.Contains(f.slo, g.slo) ||
			f.part != "" && g.part != f.part || g.first <= f.after || g.first >= f.after+2*time.Minute {
			t.Errorf("%s, want a page about %v and %q within two minutes after %v", g, f.slo, f.part, f.after)
		}
	}
}

func TestAnnounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		Announce(t.Context(), began, func(line string) {
			if step := Steps()[n]; time.Since(began) != step.At || line != "now: "+step.Text {
				t.Errorf("announced %q after %v, want %+v", line, time.Since(began), step)
			}
			n++
		})
		if n != len(Steps()) {
			t.Errorf("%d announcements", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		Announce(ctx, time.Now(), func(line string) { t.Errorf("announced %q after the end", line) })
	})
}
