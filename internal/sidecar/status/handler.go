package status

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"synthetic/internal/probe"
)

//go:embed assets/*.html
var files embed.FS

// The pages, each within the frame that they share.
var (
	overviewPage = parsed("overview")
	turnsPage    = parsed("turns")
	alertsPage   = parsed("alerts")

	//go:embed assets/style.css
	styleSheet string
	//go:embed assets/live.js
	liveScript string
)

func parsed(name string) *template.Template {
	return template.Must(template.New("frame").ParseFS(files, "assets/frame.html", "assets/"+name+".html"))
}

// head is what every page's frame gets. Style and script stand in the page
// itself, so that a saved page is complete.
type head struct {
	Style  template.CSS
	Script template.JS
	Title  string
	Now    time.Time
}

// turnsShown bounds the turns on one page.
const turnsShown = 100

// routes serves the overview at /, the last turns one by one at /turns, the
// overview's figures as JSON at /api/status, and what Options.Alerts says at
// /alerts and as JSON at /api/alerts. The overview and the turns take the
// parameters target and workload, the turns also conversation and
// outcome=failed.
func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.serveOverview)
	mux.HandleFunc("GET /turns", p.serveTurns)
	mux.HandleFunc("GET /api/status", p.serveJSON)
	mux.HandleFunc("GET /alerts", p.serveAlerts)
	mux.HandleFunc("GET /api/alerts", p.serveAlertsJSON)
	return mux
}

func (p *Page) serveOverview(w http.ResponseWriter, r *http.Request) {
	o := newOverview(p.Snapshot(), r.URL.Query())
	o.head = p.head("synthetic")
	for i, c := range o.Cards {
		if r, ok := p.options.Canary(c.Target); ok {
			o.Cards[i].Canary = &canaryView{r}
		}
	}
	if alerts, on := p.alerts(); on {
		o.Firing, o.Stalled = alerts.firing(), alerts.Stalled
	}
	render(w, overviewPage, o)
}

func (p *Page) serveTurns(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	t := turnsView{
		head: p.head("Last turns"), Target: q.Get("target"), Workload: q.Get("workload"),
		Conversation: q.Get("conversation"), OnlyFailed: q.Get("outcome") == "failed",
	}
	for _, turn := range p.turns(q) {
		t.Turns = append(t.Turns, turnRow{turn, bars(turn)})
	}
	render(w, turnsPage, t)
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

func (p *Page) head(title string) head {
	return head{template.CSS(styleSheet), template.JS(liveScript), title, p.options.Now()}
}

// turns returns the kept turns that the query asks for, newest first.
func (p *Page) turns(q url.Values) []probe.Result {
	var out []probe.Result
	for key, j := range p.all() {
		if !matches(q, key.Target, key.Workload) {
			continue
		}
		j.mu.Lock()
		out = append(out, j.failures...)
		if q.Get("outcome") != "failed" {
			out = append(out, j.successes...)
		}
		j.mu.Unlock()
	}
	if q.Has("conversation") {
		out = slices.DeleteFunc(out, func(r probe.Result) bool { return r.Conversation != q.Get("conversation") })
	}
	slices.SortFunc(out, func(a, b probe.Result) int {
		return cmp.Or(b.End.Compare(a.End), cmp.Compare(a.TraceID, b.TraceID))
	})
	return out[:min(len(out), turnsShown)]
}

// render answers with a page. It is rendered in full first, so that a mistake
// cannot leave half a page that looks whole.
func render(w http.ResponseWriter, page *template.Template, data any) {
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		http.Error(w, "rendering the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	// Texts of foreign servers stand on this page. They are escaped; this is
	// the second wall: nothing but our own style and script runs.
	h.Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; style-src "+
		hash(styleSheet)+"; script-src "+hash(liveScript))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(b.Bytes()) // the client is gone if this fails
}

// hash names an inline style or script in a content security policy.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
