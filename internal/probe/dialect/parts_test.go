package dialect

import (
	"strings"
	"testing"
	"time"
)

// TestManyParts checks that the parts of a content take a time in proportion to their number.
func TestManyParts(t *testing.T) {
	const n = 200_000
	data := delta0(`{"content":["a"` + strings.Repeat(`,"a"`, n-1) + `]}`)
	begin := time.Now()
	var ev Event
	classify(&ev, []byte(data), false, newChat())
	if string(ev.Content) != strings.Repeat("a", n) {
		t.Errorf("a content of %d bytes", len(ev.Content))
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("%d parts took %v", n, took)
	}
}
