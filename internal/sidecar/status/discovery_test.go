package status

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"synthetic/internal/sidecar/discovery"
)

// TestGroups checks that the first page shows the targets of each discovery group, and its
// error.
func TestGroups(t *testing.T) {
	p := newPage(Options{Now: func() time.Time { return noon }, Discovery: func() []discovery.Standing {
		return []discovery.Standing{
			{Name: "files", Found: 3, At: noon, LeftOut: map[string]int{discovery.BadHost: 2, discovery.SameName: 1}},
			{Name: "module", Found: 1, At: noon, Leased: true},
			{Name: "new"},
			{Name: "pods", Found: 16, At: noon, Failing: "pods.v1 <forbidden>", Since: noon.Add(-90 * time.Second)},
		}
	}})
	w := httptest.NewRecorder()
	serve(p, w, httptest.NewRequest("GET", "/", nil))
	for _, want := range []string{
		`<p class="sub">discovery of files: 3 found, left out 2 for host, 1 for name</p>`,
		`<p class="sub">discovery of module: 1 leased</p>`,
		`<p class="alarm">discovery of new: 0 found; has not answered yet</p>`,
		`<p class="alarm">discovery of pods: 16 found; fails for 90 s: pods.v1 &lt;forbidden&gt;</p>`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("lacks %s", want)
		}
	}
}
