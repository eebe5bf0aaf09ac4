package rules_test

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

// TestLineSplitsQueueAndPrefill gives turns whose time to first token is a queue
// of 0.3 s and 0.2 ms for each token that is not cached.
func TestLineSplitsQueueAndPrefill(t *testing.T) {
	h := newHouse(t, usual(), 1)
	behaving(func(n int, kind probe.TurnKind) probe.Result {
		r := ok(n, kind)
		cached := 1000 * (n % 4)
		r.PromptTokens, r.CachedTokens = probe.Some(4000), probe.Some(cached)
		r.TTFT = probe.Some(300*time.Millisecond + time.Duration(4000-cached)*200*time.Microsecond)
		return r
	})(h)
	h.scrapes(time.Hour)
	h.run(2 * time.Minute)
	near(t, "prefill", h.only(rules.RecordPrefill+`{target="a", turn="followup"}`), 0.0002, 1e-7)
	near(t, "queue", h.only(rules.RecordQueue+`{target="a", turn="followup"}`), 0.3, 1e-4)

	// Turns that are all alike say nothing of the slope.
	alike := newHouse(t, usual(), 1)
	behaving(cachedBy(50))(alike)
	alike.scrapes(time.Hour)
	alike.run(2 * time.Minute)
	if got := alike.query(rules.RecordPrefill); len(got) > 0 {
		t.Errorf("without a spread of the prompts the prefill is %v", got)
	}
}
