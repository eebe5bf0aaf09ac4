//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPagesInBrowser breaks a deployment and opens the page in a browser. It names the alert and its first step, neither
// the page nor a table scrolls sideways, it has no accessibility faults in light or dark, and it keeps the scroll
// position when it refreshes.
func TestPagesInBrowser(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(cached(t, "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	d := startDeployment(t)
	s := startConfigured(t, fmt.Sprintf(configuration, d.api())+"\nalerting: {interval: 1s, alertmanagers: [{url: \"http://127.0.0.1:9\"}]}\n")
	s.awaitTurns(t, 20)
	d.kill()
	await(t, patience, "an alert on the page", func() error {
		body, err := get(t.Context(), "http://"+s.address+"/")
		if !strings.Contains(string(body), "runbooks/SyntheticTargetDown") {
			return fmt.Errorf("no alert is shown: %v", err)
		}
		return nil
	}, s.process)

	b := startBrowser(t)
	for _, path := range []string{"", "?target=dynamo", "?target=none"} {
		for _, width := range []int{1440, 390} {
			b.open(t, "http://"+s.address+"/"+path, width)
			b.fits(t, path, width)
			b.eval(t, string(axe)+";0", nil)
			for _, scheme := range []string{"dark", "light"} { // the page is open when it changes
				b.call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": scheme}}}, &struct{}{})
				b.accessible(t, path+" "+scheme)
			}
		}
	}

	b.open(t, "http://"+s.address+"/", 1440)
	var head struct {
		Title, Step string
		Drawn       int
	}
	b.eval(t, `({title: document.title, step: document.querySelector(".step").textContent, drawn: document.querySelectorAll(".uplot").length})`, &head)
	if !strings.HasPrefix(head.Step, "First step: ") || !strings.HasPrefix(head.Title, "paging: dynamo ") || head.Drawn == 0 {
		t.Errorf("the title is %q, the first step %q, and %d charts are drawn", head.Title, head.Step, head.Drawn)
	}
	b.refreshes(t)
}

// fits checks that the page has one heading, and that neither it nor a table scrolls sideways.
func (b *browser) fits(t *testing.T, path string, width int) {
	t.Helper()
	var page struct{ Wide, Headings, Clipped int }
	b.eval(t, `({
		wide: document.documentElement.scrollWidth, headings: document.querySelectorAll("h1").length,
		clipped: [...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1).length,
	})`, &page)
	if strings.HasPrefix(path, "report") {
		page.Clipped = 0 // tables of a report have as many columns as it has levels, and scroll
	}
	if page.Wide > width || page.Headings != 1 || page.Clipped > 0 {
		t.Errorf("/%s at %d pixels is %d wide, has %d headings of the first level and %d clipped tables", path, width, page.Wide, page.Headings, page.Clipped)
	}
}

// accessible checks that axe, which is loaded on the page, finds no fault.
func (b *browser) accessible(t *testing.T, path string) {
	t.Helper()
	var found struct {
		Faults []string
		Passed int
	}
	b.eval(t, `axe.run().then((r) => ({
		faults: r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 200) + " " + n.failureSummary).join("; ")),
		passed: r.passes.length,
	}))`, &found)
	for _, f := range found.Faults {
		t.Errorf("/%s: %s", path, f)
	}
	if found.Passed == 0 {
		t.Errorf("/%s: axe checked nothing", path)
	}
}

// refreshes checks that the scroll position and the charts survive a refresh.
func (b *browser) refreshes(t *testing.T) {
	t.Helper()
	var same struct {
		Scroll bool
		Drawn  int
	}
	b.eval(t, `(async () => {
		scrollTo(0, 300);
		for (let i = 0; i < 5; i++) await refresh();
		return { scroll: scrollY === 300, drawn: document.querySelectorAll(".uplot").length };
	})()`, &same)
	if !same.Scroll || same.Drawn == 0 {
		t.Errorf("after five refreshes the scroll position is kept: %v, and %d charts are drawn", same.Scroll, same.Drawn)
	}
}
