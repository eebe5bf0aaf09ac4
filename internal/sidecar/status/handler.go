package status

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
)

//go:embed assets/*.html
var files embed.FS

// The pages, each inside the common frame.
var (
	overviewPage = parsed("overview")
	turnsPage    = parsed("turns")
	alertsPage   = parsed("alerts")
	incidentPage = parsed("incident")
	runbookPage  = parsed("runbook")

	//go:embed assets/style.css
	ownStyle string
	//go:embed assets/live.js
	liveScript string
)

func parsed(name string) *template.Template {
	return template.Must(template.New("frame").ParseFS(files, "assets/frame.html", "assets/shared.html", "assets/"+name+".html"))
}

// head is the input of the common frame. Styles and scripts are inline, so that a saved page is
// complete.
type head struct {
	Style template.CSS
	// Charts is the script of pages with charts, "" on others.
	Charts, Live template.JS
	Title        string
	// class of the worst state
	Icon string
	// relative path to the first page
	Root string
	Now  time.Time
}

const turnsShown = 100

// Route is a path of the page.
type Route struct {
	Pattern string // of http.ServeMux
	Shows   string
	handler http.HandlerFunc
}

// Routes returns all paths. The overview and the turns accept the parameters target and workload;
// the overview also range, the turns also conversation and outcome=failed.
func (p *Page) Routes() []Route {
	return []Route{
		{"GET /{$}", "the overview", p.serveOverview},
		{"GET /turns", "the last turns", p.serveTurns},
		{"GET /api/status", "the overview as JSON", p.serveJSON},
		{"GET /alerts", "alerts and incidents", p.serveAlerts},
		{"GET /api/alerts", "alerts as JSON", p.serveAlertsJSON},
		{"GET /incidents/{id}", "an incident", p.serveIncident},
		{"GET /runbooks/{alert}", "a runbook", p.serveRunbook},
		{"GET /favicon.ico", "the worst state as an icon", p.serveIcon},
	}
}

func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	for _, r := range p.Routes() {
		mux.HandleFunc(r.Pattern, r.handler)
	}
	return gzhttp.GzipHandler(mux)
}

func (p *Page) serveOverview(w http.ResponseWriter, r *http.Request) {
	o, err := p.overview(r.URL.Query(), figureFor(r))
	if err != nil {
		http.Error(w, "drawing the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	render(w, r, overviewPage, o)
}

func (p *Page) serveTurns(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	t := turnsView{
		head: p.head("Last turns", ""), Target: q.Get("target"), Workload: q.Get("workload"),
		Conversation: q.Get("conversation"), OnlyFailed: q.Get("outcome") == "failed",
	}
	for _, turn := range p.turns(q) {
		t.Turns = append(t.Turns, turnRow{turn, bars(turn, turn.Duration())})
	}
	render(w, r, turnsPage, t)
}

func (p *Page) serveJSON(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, "status", p.Snapshot())
}

func answerJSON(w http.ResponseWriter, what string, v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, "encoding the "+what+": "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(b, '\n')) // the client is gone if this fails
}

// head returns the frame's input. A bad state precedes the title.
func (p *Page) head(title, root string) head {
	h := head{
		Style: template.CSS(string(chart.Style()) + ownStyle), Live: template.JS(liveScript),
		Title: title, Icon: "good", Root: root, Now: p.options.Now().UTC(),
	}
	for _, i := range p.incidentsNow() {
		if s := i.State(); i.Ended.IsZero() {
			h.Icon, h.Title = s.Class, s.Text+": "+i.About.String()+" – "+title
			break // the first is the worst
		}
	}
	return h
}

// When returns a time with its age, such as "14:02 (3 min ago)"; the frame names the zone.
func (h head) When(at time.Time) string {
	format, age := "15:04", h.Now.Sub(at)
	if !at.UTC().Truncate(24 * time.Hour).Equal(h.Now.Truncate(24 * time.Hour)) {
		format = "2006-01-02 15:04"
	}
	ago := short(age.Round(time.Second)) + " ago"
	switch {
	case age < time.Second:
		ago = "now"
	case age < 2*time.Minute:
		ago = fmt.Sprintf("%.0f s ago", age.Seconds())
	case age >= 48*time.Hour:
		ago = fmt.Sprintf("%.0f days ago", age.Hours()/24)
	}
	return at.UTC().Format(format) + " (" + ago + ")"
}

// Heading returns the headline of an incident for a page.
func (h head) Heading(i incident) string { return i.headline(h.When(i.Since)) }

// serveIcon draws the state as the tab's icon.
func (p *Page) serveIcon(w http.ResponseWriter, r *http.Request) {
	colour := map[string]string{"bad": "#d92d20", "warn": "#f0a020"}[cmp.Or(r.FormValue("state"), p.head("", "").Icon)]
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="%s"/><path d="M4 9l2.5 2.5L12 5" stroke="#fff" stroke-width="1.8" fill="none"/></svg>`, cmp.Or(colour, "#1a7f42"))
}

// turns returns the turns that a query selects, newest first.
func (p *Page) turns(q url.Values) []probe.Result {
	var out []probe.Result
	for key, j := range p.all() {
		if !matches(q, key.Target, key.Workload) {
			continue
		}
		j.mu.Lock()
		kept := j.failures
		if q.Get("outcome") != "failed" {
			kept = slices.Concat(kept, j.successes)
		}
		for _, r := range kept {
			out = append(out, *r)
		}
		j.mu.Unlock()
	}
	if q.Has("conversation") {
		out = slices.DeleteFunc(out, func(r probe.Result) bool { return r.Conversation != q.Get("conversation") })
	}
	slices.SortFunc(out, func(a, b probe.Result) int {
		return cmp.Or(b.End.Compare(a.End), cmp.Compare(a.TraceID, b.TraceID), cmp.Compare(a.SpanID, b.SpanID))
	})
	return out[:min(len(out), turnsShown)]
}

// A request with partHeader gets only the changing part of a page. The page's script replaces
// the previous part by it.
const partHeader = "Synthetic-Part"

// render writes a page. It renders completely first, so that an error cannot leave half a page.
func render(w http.ResponseWriter, r *http.Request, page *template.Template, data interface{ scripts() []template.JS }) {
	var b bytes.Buffer
	name := "frame"
	if r.Header.Get(partHeader) != "" {
		name = "part"
	}
	if err := page.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "rendering the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	// The page shows texts of foreign servers. They are escaped; as a second protection, the
	// browser runs only our own styles and scripts.
	policy := "default-src 'none'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; style-src " +
		chart.CSPHash(string(chart.Style())+ownStyle) + "; script-src"
	for _, s := range data.scripts() {
		policy += " " + chart.CSPHash(s)
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(b.Bytes()) // the client is gone if this fails
}

func (h head) scripts() []template.JS {
	if h.Charts == "" {
		return []template.JS{h.Live}
	}
	return []template.JS{h.Charts, h.Live}
}
