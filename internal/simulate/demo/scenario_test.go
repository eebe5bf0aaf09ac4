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
	for _, want := range []struct {
		page
		after time.Duration
	}{
		{page{alert: "SyntheticSLOFastBurn", severity: "page", slo: "availability"}, hangAt},
		{page{alert: "SyntheticRegression", severity: "page", signal: "ttft", part: "queue_prefill"}, slowAt},
	} {
		if !slices.ContainsFunc(pages, func(g page) bool {
			return g.alert == want.alert && g.severity == want.severity && g.signal == want.signal && g.slo == want.slo &&
				(want.part == "" || g.part == want.part) && g.first > want.after && g.first < want.after+4*time.Minute
		}) {
			t.Errorf("no %s within four minutes after %v", want.page, want.after)
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
