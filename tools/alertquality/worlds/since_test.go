package worlds

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/tools/alertquality/engine"
)

// TestSince: alerts that end in the warm-up are not scored.
func TestSince(t *testing.T) {
	at := func(minutes int) time.Time { return Epoch().Add(time.Duration(minutes) * time.Minute) }
	span := func(alert string, from, to int) engine.Span {
		return engine.Span{Alert: alert, From: at(from), To: at(to)}
	}
	got := since([]engine.Span{span("over", 0, 10), span("on", 5, 30), span("later", 20, 21)}, at(10))
	if diff := cmp.Diff([]engine.Span{span("on", 10, 30), span("later", 20, 21)}, got, cmp.Comparer(func(a, b engine.Span) bool {
		return a.Alert == b.Alert && a.From.Equal(b.From) && a.To.Equal(b.To)
	})); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}
