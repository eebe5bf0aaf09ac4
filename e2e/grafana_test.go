//go:build e2e && grafana

package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/storage"

	"synthetic/internal/dashboard"
)

// TestGrafana opens the dashboards in Grafana's frontend and reads the texts of their panels: in every scene, with 1, 2
// and 60 targets, at two widths, with the menu docked or not. It writes screenshots to the directory
// GRAFANA_SCREENSHOTS.
func TestGrafana(t *testing.T) {
	root := os.Getenv("GRAFANA_FRONTEND")
	if root == "" {
		t.Skip("GRAFANA_FRONTEND is not set: it names a directory with the public/ of Grafana 12.2, built")
	}
	axe, err := os.ReadFile(cached(t, "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Truncate(time.Minute)
	all := boardScenes()
	cfg, healthy := all[0].record(t, end)
	in := dashboard.Input{SLOs: cfg.SLOs}
	for _, j := range cfg.Jobs {
		in.Traffic = append(in.Traffic, j.Traffic)
	}
	boards, err := dashboard.Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	if old := os.Getenv("GRAFANA_DASHBOARDS"); old != "" { // of another version
		for i, b := range boards {
			if boards[i].JSON, err = os.ReadFile(filepath.Join(old, b.File)); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := startBrowser(t)
	for i, s := range all {
		t.Run(s.name, func(t *testing.T) {
			played := healthy
			if i > 0 {
				_, played = s.record(t, end)
			}
			for _, targets := range []int{1, 2, 60} {
				t.Run(fmt.Sprintf("%d targets", targets), func(t *testing.T) {
					g := startGrafana(t, root, s.serve(t, played, healthy, targets), boards)
					v := &visit{scene: s, browser: b, grafana: g, targets: targets, end: end}
					v.everyBoard(t)
					if targets == 1 {
						v.accessible(t, string(axe))
					}
				})
			}
		})
	}
}

// serve starts a Prometheus on a scene and returns its address.
func (s boardScene) serve(t *testing.T, played, healthy storage.Queryable, targets int) string {
	t.Helper()
	dir := t.TempDir()
	s.writeBlock(t, filepath.Join(dir, "data"), played, healthy, targets)
	return runPrometheus(t, "--storage.tsdb.path="+filepath.Join(dir, "data"), "global: {}\n", "--storage.tsdb.retention.time=1y").root
}

// visit looks at the dashboards in a scene.
type visit struct {
	scene   boardScene
	browser *browser
	grafana *grafana
	targets int
	end     time.Time
}

// everyBoard opens each dashboard with the menu docked or not, resizes it for each width, and opens its rows.
func (v *visit) everyBoard(t *testing.T) {
	for _, board := range []string{"slo-overview", "target-detail", "fleet", "prober-health", "study"} {
		for _, docked := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s docked %v", board, docked), func(t *testing.T) {
				v.open(t, board, "dark", docked)
				for _, width := range []int{1440, 1920} {
					t.Run(fmt.Sprint(width), func(t *testing.T) {
						v.resize(t, width, 3000)
						page := v.read(t)
						page.check(t, v, board)
						v.shoot(t, fmt.Sprintf("%s-%d-%s-%d-%v", v.scene.name, v.targets, board, width, docked))
					})
				}
				if docked { // the dashboard is narrower
					t.Run("all rows open", func(t *testing.T) {
						v.openRows(t, board)
						page := v.read(t)
						page.legible(t)
						v.shoot(t, fmt.Sprintf("%s-%d-%s-rows", v.scene.name, v.targets, board))
					})
				}
			})
		}
	}
}

// openRows opens all closed rows of a dashboard.
func (v *visit) openRows(t *testing.T, board string) {
	t.Helper()
	v.resize(t, 1440, 16000) // higher than every dashboard: panels out of view are not drawn
	var opened, closed int
	const rows = `document.querySelectorAll("[data-testid^='data-testid dashboard-row-title'][aria-expanded=false]")`
	v.browser.eval(t, `(() => {
		const rows = `+rows+`;
		for (const r of rows) { r.click(); }
		return rows.length;
	})()`, &opened)
	v.settle(t)
	v.browser.eval(t, rows+".length", &closed)
	if want := bytes.Count(v.grafana.dashboards["synthetic-"+board], []byte(`"collapsed": true`)); opened != want || closed != 0 {
		t.Errorf("%d rows were opened and %d are closed, want %d and none", opened, closed, want)
	}
}

// open loads a dashboard, and waits until its panels are drawn.
func (v *visit) open(t *testing.T, board, theme string, docked bool) {
	t.Helper()
	q := url.Values{
		"from": {fmt.Sprint(v.end.Add(-30 * time.Minute).UnixMilli())}, "to": {fmt.Sprint(v.end.UnixMilli())}, "theme": {theme},
	}
	if board == "target-detail" {
		q.Set("var-target", sceneTarget)
		q.Set("var-workload", "chat")
	}
	v.resize(t, 1440, 3000)
	var opened struct{ ErrorText string }
	v.browser.call(t, "Page.navigate", map[string]any{"url": v.grafana.server.URL + "/robots.txt"}, &opened)
	await(t, patience, "the origin", func() error {
		var origin string
		if v.browser.eval(t, "location.origin", &origin); origin != v.grafana.server.URL {
			return fmt.Errorf("the origin is %s", origin)
		}
		return nil
	})
	v.browser.eval(t, fmt.Sprintf(`localStorage.setItem("grafana.navigation.docked", "%v"); localStorage.setItem("grafana.navigation.open", "%[1]v")`, docked), nil)
	v.browser.call(t, "Page.navigate", map[string]any{"url": v.grafana.server.URL + "/d/synthetic-" + board + "/x?" + q.Encode()}, &opened)
	if opened.ErrorText != "" {
		t.Fatal(opened.ErrorText)
	}
	v.settle(t)
}

// resize sets the size of the window. Grafana draws panels only once they are in view.
func (v *visit) resize(t *testing.T, width, height int) {
	t.Helper()
	v.browser.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, &struct{}{})
}

// settle waits until all panels have their data and the page no longer changes.
func (v *visit) settle(t *testing.T) {
	t.Helper()
	last, same := "", 0
	await(t, patience, "the dashboard to be drawn", func() error {
		var now struct {
			Text    string
			Panels  int
			Loading int
		}
		v.browser.eval(t, `({text: document.body?.innerText ?? "", panels: document.querySelectorAll("section[data-testid^='data-testid Panel header']").length,
			loading: document.querySelectorAll("[aria-label='Panel loading bar'], .preloader").length})`, &now)
		if same++; now.Text != last || now.Panels == 0 || now.Loading > 0 {
			same = 0
		}
		if last = now.Text; same < 25 {
			return fmt.Errorf("%d panels, %d load", now.Panels, now.Loading)
		}
		return nil
	})
}

// shown holds the texts and the defects of a page.
type shown struct {
	Text       string
	Wide       int
	Panels     map[string]panelShown
	Overprints []string
}

type panelShown struct {
	Text            string
	Top             float64
	Rows            [][]string
	Selector, Wider bool
}

// read reads the page and finds its defects. A table that scrolls sideways is wider than its panel. A selector of frames
// below a table means that the answers of its queries were not merged. Labels whose boxes overlap cannot be read.
func (v *visit) read(t *testing.T) shown {
	t.Helper()
	v.settle(t)
	var s shown
	v.browser.eval(t, `(() => {
		const panels = {}, overprints = [];
		for (const p of document.querySelectorAll("section[data-testid^='data-testid Panel header']")) {
			const title = p.querySelector("h2")?.title ?? p.querySelector("h2")?.textContent ?? "";
			const grid = p.querySelector("[role=grid], [role=table]");
			const rows = [...p.querySelectorAll("[role=row]")].map((r) => [...r.querySelectorAll("[role=gridcell], [role=cell]")].map((c) => c.innerText.trim())).filter((r) => r.length > 0);
			panels[title] = {
				text: p.innerText, top: p.getBoundingClientRect().top, rows,
				selector: grid !== null && p.querySelector("input[role=combobox]") !== null,
				wider: grid !== null && grid.scrollWidth > grid.clientWidth + 1,
			};
			const boxes = [...p.querySelectorAll("svg text, button[class*=LegendLabel]")].map((e) => [e.textContent, e.getBoundingClientRect()]);
			for (let i = 1; i < boxes.length; i++) {
				const [a, b] = [boxes[i - 1][1], boxes[i][1]];
				if (a.width && b.width && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) {
					overprints.push(title + ": " + boxes[i - 1][0] + " and " + boxes[i][0]);
				}
			}
		}
		return { text: document.body.innerText, wide: document.documentElement.scrollWidth - innerWidth, panels, overprints };
	})()`, &s)
	return s
}

// check looks for defects of a dashboard, and for the texts that it must show in this scene.
func (s shown) check(t *testing.T, v *visit, board string) {
	t.Helper()
	s.legible(t)
	switch board {
	case "slo-overview":
		s.checkOverview(t, v)
	case "target-detail":
		if !regexp.MustCompile(v.scene.state).MatchString(s.Panels["State"].Text) {
			t.Errorf("the state is %q, want %s", s.Panels["State"].Text, v.scene.state)
		}
		if len(s.Panels) > 20 {
			t.Errorf("%d panels are open", len(s.Panels))
		}
	}
}

// legible checks the rules that all dashboards have in common.
func (s shown) legible(t *testing.T) {
	t.Helper()
	for _, wrong := range []string{"No data", "-∞", "NaN", "Infinity", "undefined", "Invalid date", "unknown unit"} {
		if i := strings.Index(s.Text, wrong); i >= 0 {
			t.Errorf("it shows %q: ...%s", wrong, s.Text[max(0, i-80):min(len(s.Text), i+80)])
		}
	}
	if regexp.MustCompile(`-\d+ ?%`).MatchString(s.Text) {
		t.Error("it shows a negative share")
	}
	if s.Wide > 0 {
		t.Errorf("it is %d pixels too wide", s.Wide)
	}
	for _, o := range s.Overprints {
		t.Errorf("labels overprint each other: %s", o)
	}
	for title, p := range s.Panels {
		if p.Selector {
			t.Errorf("%q has a selector of frames", title)
		}
		if p.Wider {
			t.Errorf("the table %q scrolls sideways", title)
		}
		for _, row := range p.Rows {
			if !slices.ContainsFunc(row, func(cell string) bool { return cell != "" && cell != "–" }) {
				t.Errorf("%q has an empty row", title)
			}
		}
	}
}

func (s shown) checkOverview(t *testing.T, v *visit) {
	t.Helper()
	incidents, targets := s.Panels["Incidents"], s.Panels["Targets, the worst first"]
	if incidents.Text == "" || incidents.Top > 400 || targets.Top < incidents.Top {
		t.Errorf("the incidents are at %v and the targets at %v", incidents.Top, targets.Top)
	}
	if !strings.Contains(incidents.Text, v.scene.says) {
		t.Errorf("the incidents do not say %q: %q", v.scene.says, incidents.Text)
	}
	states := regexp.MustCompile("^(as usual|not judged|a little slower|slower|SLO burns|failing)$")
	for i, row := range targets.Rows {
		if !slices.ContainsFunc(row, states.MatchString) {
			t.Errorf("a target has no state: %q", row)
		}
		if i == 0 && !slices.ContainsFunc(row, regexp.MustCompile("^("+v.scene.state+")$").MatchString) {
			t.Errorf("the first target is %q, want %s", row, v.scene.state)
		}
	}
	if least := min(v.targets, 4); len(targets.Rows) < least {
		t.Errorf("%d targets are shown, want at least %d", len(targets.Rows), least)
	}
	if objectives := s.Panels["Objectives"]; len(objectives.Rows) != 3 {
		t.Errorf("the objectives are %q", objectives.Rows)
	}
}

// shoot writes a screenshot of the first 900 pixels, or of the whole page if a check failed.
func (v *visit) shoot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("GRAFANA_SCREENSHOTS")
	if dir == "" {
		return
	}
	var size struct{ W, H int }
	v.browser.eval(t, `({w: innerWidth, h: innerHeight})`, &size)
	if !t.Failed() {
		size.H = 900
	}
	var shot struct{ Data string }
	v.browser.call(t, "Page.captureScreenshot", map[string]any{"format": "png", "clip": map[string]any{"x": 0, "y": 0, "width": size.W, "height": size.H, "scale": 1}}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// accessible checks the panels with axe, in both themes and also on a narrow screen. In an outage it opens all rows of
// all dashboards; otherwise it checks the first screens. It leaves out Grafana's own frame around the panels.
func (v *visit) accessible(t *testing.T, axe string) {
	boards := []string{"slo-overview", "target-detail"}
	outage := v.scene.name == "outage"
	if outage {
		boards = append(boards, "fleet", "prober-health", "study")
	}
	for _, theme := range []string{"dark", "light"} {
		for _, board := range boards {
			t.Run("axe "+board+" "+theme, func(t *testing.T) {
				v.open(t, board, theme, true)
				if outage {
					v.openRows(t, board)
				}
				v.browser.eval(t, axe+";0", nil)
				for _, width := range []int{1440, 390} {
					v.resize(t, width, 30000) // panels are below each other on a narrow screen
					if page := v.read(t); page.Wide > 0 {
						t.Errorf("at %d pixels it is %d pixels too wide", width, page.Wide)
					}
					var found struct {
						Faults []string
						Passed int
					}
					v.browser.eval(t, `axe.run({include: [".react-grid-layout"]}, {runOnly: ["wcag2a", "wcag2aa", "best-practice"]}).then((r) => ({
						faults: r.violations.map((v) => v.id + ": " + v.nodes.length + " × " + v.nodes[0].html.slice(0, 160)), passed: r.passes.length,
					}))`, &found)
					for _, f := range found.Faults {
						t.Errorf("at %d pixels: %s", width, f)
					}
					if found.Passed == 0 {
						t.Errorf("at %d pixels axe checked nothing", width)
					}
					v.shoot(t, fmt.Sprintf("%s-%s-%s-%d", v.scene.name, board, theme, width))
				}
			})
		}
	}
}
