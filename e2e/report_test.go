//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportInBrowser opens a comparison report: the verdict and its picture are on the
// first screen of a desktop and of a phone, and the page has no accessibility fault.
func TestReportInBrowser(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(cached(t, "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	dir, seeds := t.TempDir(), "../internal/study/report/testdata/forms/"
	out, err := command(t, binary(t), "report", "compare", "base="+seeds+"001.json", "eagle="+seeds+"000.json", "--output.dir="+dir)
	if err != nil {
		t.Fatalf("synthetic report: %v\n%s", err, out)
	}
	b := startBrowser(t)
	for _, width := range []int{1440, 390} {
		b.open(t, "file://"+filepath.Join(dir, "report.html"), width)
		b.fits(t, "report.html", width)
		var seen struct {
			Verdict string
			Bottom  float64
			Drawn   int
		}
		b.eval(t, `({
			verdict: document.querySelector(".headline").textContent,
			bottom: document.querySelector(".answer .uplot").getBoundingClientRect().bottom,
			drawn: document.querySelectorAll(".uplot").length,
		})`, &seen)
		if !strings.HasPrefix(seen.Verdict, "eagle is worse than base: TTFT p50 25.6x as high") || seen.Bottom > 900 || seen.Drawn < 1 {
			t.Errorf("at %d pixels: %+v", width, seen)
		}
	}
	b.eval(t, string(axe)+";0", nil)
	b.accessible(t, "report.html")
}
