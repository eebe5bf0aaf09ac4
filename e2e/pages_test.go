//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPagesInBrowser breaks a deployment and opens every page in a browser. The incident
// names the target and the start of the outage, no page or table scrolls sideways, none has
// accessibility faults in light or dark, and pages keep focus and scroll position when they refresh.
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
	incident := ""
	await(t, patience, "an incident on the page", func() error {
		body, err := get(t.Context(), "http://"+s.address+"/alerts")
		if incident = regexp.MustCompile(`incidents/[^"]+`).FindString(string(body)); incident == "" {
			return fmt.Errorf("no incident is listed: %v", err)
		}
		return nil
	}, s.process)

	b := startBrowser(t)
	for _, path := range []string{"", "?target=dynamo", "alerts", incident, "turns", "runbooks/SyntheticTargetDown"} {
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

	b.open(t, "http://"+s.address+"/"+incident, 1440)
	var head struct {
		Title, H1 string
		Drawn     int
	}
	b.eval(t, `({title: document.title, h1: document.querySelector("h1").textContent, drawn: document.querySelectorAll(".uplot").length})`, &head)
	if !regexp.MustCompile(`^dynamo is down since \d\d:\d\d \(\d+ (s|min) ago\): \d+ of \d+ turns failed \(connect_error\)`).MatchString(head.H1) {
		t.Errorf("the headline is %q", head.H1)
	}
	if !strings.HasPrefix(head.Title, "paging: ") || head.Drawn == 0 {
		t.Errorf("the title is %q, and %d charts are drawn", head.Title, head.Drawn)
	}
	b.refreshes(t)

	b.open(t, "http://"+s.address+"/?target=none", 1440)
	b.eval(t, `history.replaceState(null, "", "?target=dynamo"); void refresh()`, nil)
	await(t, patience, "charts on a page without charts", func() error {
		if b.eval(t, `document.querySelectorAll(".uplot").length`, &head.Drawn); head.Drawn == 0 {
			return fmt.Errorf("no chart is drawn")
		}
		return nil
	}, s.process)
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

// refreshes checks that focus and scroll position survive a refresh.
func (b *browser) refreshes(t *testing.T) {
	t.Helper()
	var same struct {
		Focus, Scroll bool
		Footers       []string
	}
	b.eval(t, `(async () => {
		const link = document.querySelector(".runbook a, .actions a"), footers = [];
		scrollTo(0, 300);
		link.focus({ preventScroll: true });
		for (let i = 0; i < 5; i++) {
			await refresh();
			footers.push(document.querySelector("footer").textContent);
		}
		return { focus: document.activeElement === link, scroll: scrollY === 300, footers };
	})()`, &same)
	if !same.Focus || !same.Scroll || len(same.Footers) != 5 {
		t.Errorf("after five refreshes focus and scroll are kept: %v, %v", same.Focus, same.Scroll)
	}
}
