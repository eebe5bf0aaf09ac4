package status

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"synthetic/docs/runbooks"
	"synthetic/internal/chart"
)

var (
	//go:embed assets/page.html
	pageText string
	//go:embed assets/style.css
	ownStyle string
	//go:embed assets/live.js
	liveScript string

	page = template.Must(template.New("page").Parse(pageText))
)

// Route is a path of the page.
type Route struct {
	Pattern string // of http.ServeMux
	Shows   string
	Handler http.Handler
}

// Routes returns all paths. The page accepts the parameters target and workload.
func (p *Page) Routes() []Route {
	packed := func(handle http.HandlerFunc) http.Handler { return gzhttp.GzipHandler(handle) }
	return []Route{
		{"GET /{$}", "the status page", packed(p.servePage)},
		{"GET /api/status", "the status and the alerts as JSON", packed(p.serveJSON)},
		{"GET /runbooks/{alert}", "a runbook as text", packed(serveRunbook)},
		{"GET /favicon.ico", "the worst state as an icon", packed(serveIcon)},
	}
}

// inTurn runs render while no other page is rendered. It returns false after it has answered with an error, or if the
// client has gone before.
func (p *Page) inTurn(w http.ResponseWriter, r *http.Request, render func() error) bool {
	select {
	case p.rendering <- struct{}{}:
	case <-r.Context().Done():
		return false
	}
	defer func() { <-p.rendering }()
	err := render()
	if err != nil {
		http.Error(w, "rendering: "+err.Error(), http.StatusInternalServerError)
	}
	return err == nil
}

func (p *Page) servePage(w http.ResponseWriter, r *http.Request) {
	var v view
	var b bytes.Buffer // an error must not leave half a page
	rendered := p.inTurn(w, r, func() (err error) {
		if v, err = p.view(r.URL.Query()); err == nil {
			err = page.Execute(&b, v)
		}
		return err
	})
	if !rendered {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	// The page shows texts of foreign servers. They are escaped; as a second protection, the browser runs only our own
	// styles and scripts.
	h.Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; style-src "+
		chart.CSPHash(v.Style)+"; script-src "+chart.CSPHash(v.Charts)+" "+chart.CSPHash(v.Live))
	h.Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(b.Bytes()) // the client is gone if this fails
}

func (p *Page) serveJSON(w http.ResponseWriter, r *http.Request) {
	var b []byte
	rendered := p.inTurn(w, r, func() (err error) {
		b, err = json.MarshalIndent(p.Snapshot(), "", "  ")
		return err
	})
	if !rendered {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(b, '\n')) // the client is gone if this fails
}

func serveRunbook(w http.ResponseWriter, r *http.Request) {
	text, err := runbooks.Files.ReadFile(r.PathValue("alert") + ".md")
	if err != nil {
		http.Error(w, fmt.Sprintf("there is no runbook for the alert %.100q", r.PathValue("alert")), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(text) // the client is gone if this fails
}

// serveIcon draws the state as the tab's icon.
func serveIcon(w http.ResponseWriter, r *http.Request) {
	colour := map[string]string{"bad": "#d92d20", "warn": "#f0a020", "unknown": "#8a93a0"}[r.FormValue("state")]
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="%s"/><path d="M4 9l2.5 2.5L12 5" stroke="#fff" stroke-width="1.8" fill="none"/></svg>`, cmp.Or(colour, "#1a7f42"))
}

// Start returns when the fault of an alert began, such as "since 14:02, 3 min ago"; the page names the zone. If the summary
// has the time, it returns the age alone.
func (v view) Start(a openAlert) string {
	format := "15:04"
	if !a.Since.UTC().Truncate(24 * time.Hour).Equal(v.Now.Truncate(24 * time.Hour)) {
		format = "2006-01-02 15:04"
	} else if a.Told {
		return "began " + v.Ago(a.Since)
	}
	return "since " + a.Since.UTC().Format(format) + ", " + v.Ago(a.Since)
}

// Ago returns the age of a time, such as "3 min ago".
func (v view) Ago(at time.Time) string {
	switch age := v.Now.Sub(at); {
	case age < time.Second:
		return "now"
	case age < 2*time.Minute:
		return fmt.Sprintf("%.0f s ago", age.Seconds())
	case age >= 48*time.Hour:
		return fmt.Sprintf("%.0f days ago", age.Hours()/24)
	default:
		return short(age.Round(time.Second)) + " ago"
	}
}
