//go:build e2e && grafana

package e2e

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"synthetic/internal/dashboard"
)

// boot holds the settings and the user of a Grafana that shows dashboards and does nothing else.
//
//go:embed grafana/boot.json
var bootJSON []byte

// grafana serves Grafana's built frontend with dashboards. Queries go to a real Prometheus; their
// answers have the form that Grafana's own server gives them.
type grafana struct {
	root       string // directory that has public/build
	prometheus string
	dashboards map[string]json.RawMessage // by UID
	server     *httptest.Server
	page       *template.Template
	entries    map[string]struct{ Assets struct{ JS, CSS []string } }
	failed     func(format string, args ...any) // reports a query that failed
}

// asset is a script or a style sheet, as Grafana's index page names it.
type asset struct{ FilePath string }

func startGrafana(t *testing.T, root, prometheus string, boards []dashboard.Dashboard) *grafana {
	t.Helper()
	g := &grafana{root: root, prometheus: prometheus, dashboards: map[string]json.RawMessage{}, failed: t.Errorf}
	for _, b := range boards {
		g.dashboards[b.UID] = b.JSON
	}
	var manifest struct {
		Entrypoints map[string]struct{ Assets struct{ JS, CSS []string } }
	}
	mustRead(t, filepath.Join(root, "public/build/assets-manifest.json"), &manifest)
	g.entries = manifest.Entrypoints
	g.page = template.Must(template.New("index.html").Delims("[[", "]]").ParseFiles(filepath.Join(root, "public/views/index.html")))
	g.server = httptest.NewServer(g.routes(t))
	t.Cleanup(g.server.Close)
	return g
}

func mustRead(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func (g *grafana) routes(t *testing.T) http.Handler {
	settings := g.settings(t)
	source, err := url.Parse(g.prometheus)
	if err != nil {
		t.Fatal(err)
	}
	proxy := http.StripPrefix("/api/datasources/uid/prometheus/resources", httputil.NewSingleHostReverseProxy(source))
	m := http.NewServeMux()
	m.Handle("/public/", http.FileServer(http.Dir(g.root)))
	m.HandleFunc("POST /api/ds/query", g.query)
	m.Handle("/api/datasources/uid/prometheus/resources/", proxy)
	m.HandleFunc("/api/dashboards/uid/{uid}", g.dashboard)
	m.HandleFunc("/api/search", g.search)
	m.HandleFunc("/api/frontend/settings", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, settings) })
	for _, empty := range []string{"annotations", "user/stars", "user/orgs", "teams", "folders", "library-elements/", "plugins", "playlists", "annotations/tags"} {
		m.HandleFunc("/api/"+empty, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, []int{}) })
	}
	m.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, map[string]any{}) })
	m.HandleFunc("/apis/", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, map[string]any{"items": []int{}}) })
	m.HandleFunc("/robots.txt", func(http.ResponseWriter, *http.Request) {})
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { g.index(w, r, settings) })
	return m
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the browser may be gone
}

// settings returns Grafana's settings with the plugins that the frontend contains.
func (g *grafana) settings(t *testing.T) map[string]any {
	var boot struct{ Settings map[string]any }
	if err := json.Unmarshal(bootJSON, &boot); err != nil {
		t.Fatal(err)
	}
	sources := g.plugins(t, "datasource")
	source := func(name, kind string, id int) map[string]any {
		return map[string]any{
			"id": id, "uid": kind, "name": name, "type": kind, "meta": sources[kind], "module": "core:plugin/" + kind, "url": "/api/datasources/proxy/uid/" + kind,
			"access": "proxy", "isDefault": id > 0, "readOnly": true, "cachingConfig": map[string]any{},
			"jsonData": map[string]any{"timeInterval": "15s", "httpMethod": "POST", "prometheusType": "Prometheus", "prometheusVersion": "2.50.0"},
		}
	}
	all := map[string]any{"Prometheus": source("Prometheus", "prometheus", 1)}
	for _, kind := range []string{"grafana", "mixed", "dashboard"} {
		all["-- "+strings.ToUpper(kind[:1])+kind[1:]+" --"] = source("-- "+strings.ToUpper(kind[:1])+kind[1:]+" --", kind, -1)
	}
	boot.Settings["panels"], boot.Settings["datasources"] = g.plugins(t, "panel"), all
	boot.Settings["FeatureToggles"] = map[string]bool{"assetSriChecks": false} // read by the index page
	return boot.Settings
}

// plugins returns the plugins of a kind that the frontend contains.
func (g *grafana) plugins(t *testing.T, kind string) map[string]any {
	files, err := filepath.Glob(filepath.Join(g.root, "public/app/plugins", kind, "*/plugin.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no plugins of kind %s: %v", g.root, kind, err)
	}
	out := map[string]any{}
	for _, f := range files {
		var p map[string]any
		mustRead(t, f, &p)
		name := filepath.Base(filepath.Dir(f))
		base := "public/app/plugins/" + kind + "/" + name
		maps.Copy(p, map[string]any{"module": "core:plugin/" + name, "baseUrl": base, "signature": "internal", "loadingStrategy": "script", "angular": map[string]any{}, "sort": 10})
		out[fmt.Sprint(p["id"])] = p
	}
	return out
}

// index serves the page that loads the frontend, in the theme that the URL names.
func (g *grafana) index(w http.ResponseWriter, r *http.Request, settings any) {
	var boot struct{ User map[string]any }
	_ = json.Unmarshal(bootJSON, &boot) // settings has decoded it before
	theme := "dark"
	if r.URL.Query().Get("theme") == "light" {
		theme = "light"
	}
	boot.User["theme"], boot.User["lightTheme"] = theme, theme == "light"
	assets := func(files []string) (out []asset) {
		for _, f := range files {
			out = append(out, asset{f})
		}
		return out
	}
	app := g.entries["app"].Assets
	dark, light := g.entries["dark"].Assets.CSS[0], g.entries["light"].Assets.CSS[0]
	var page bytes.Buffer
	err := g.page.Execute(&page, map[string]any{
		"User": boot.User, "Settings": settings, "NavTree": []any{
			map[string]any{"id": "dashboards/browse", "text": "Dashboards", "url": "/dashboards", "icon": "apps"},
		},
		"AppTitle": "Grafana", "AppSubUrl": "", "FavIcon": "public/img/fav32.png", "AppleTouchIcon": "", "ThemeType": theme, "AppNameBodyClass": "app-grafana",
		"LoadingLogo": "public/img/grafana_icon.svg", "Nonce": "", "CSPEnabled": false, "GoogleTagManagerId": "", "CSPContent": "", "IsDevelopmentEnv": false,
		"Assets": map[string]any{"JSFiles": assets(app.JS), "CSSFiles": assets(app.CSS), "Dark": dark, "Light": light, "ContentDeliveryURL": ""},
	})
	if err != nil {
		g.failed("Grafana's index page: %v", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w) // the browser may be gone
}

func (g *grafana) dashboard(w http.ResponseWriter, r *http.Request) {
	uid := r.PathValue("uid")
	var board map[string]any
	if err := json.Unmarshal(g.dashboards[uid], &board); err != nil {
		http.Error(w, `{"message": "Dashboard not found"}`, http.StatusNotFound)
		return
	}
	board["id"], board["version"] = 1, 1
	at := "2026-01-01T00:00:00Z"
	writeJSON(w, map[string]any{"dashboard": board, "meta": map[string]any{
		"type": "db", "slug": uid, "url": "/d/" + uid + "/x", "canEdit": true, "canStar": true, "created": at, "updated": at, "expires": at, "version": 1, "folderTitle": "General",
	}})
}

// search lists the dashboards, for the links between them.
func (g *grafana) search(w http.ResponseWriter, _ *http.Request) {
	var out []map[string]any
	for i, uid := range slices.Sorted(maps.Keys(g.dashboards)) {
		var board struct {
			Title string
			Tags  []string
		}
		_ = json.Unmarshal(g.dashboards[uid], &board) // Generate has encoded it
		out = append(out, map[string]any{"id": i, "uid": uid, "title": board.Title, "url": "/d/" + uid + "/x", "type": "dash-db", "tags": board.Tags})
	}
	writeJSON(w, out)
}

// panelQuery is a query of a panel, as the frontend sends it.
type panelQuery struct {
	RefID, Expr, Interval, LegendFormat string
	IntervalMS, MaxDataPoints           float64
	Instant, Range, Exemplar            bool
	Datasource                          struct{ UID string }
}

func (g *grafana) query(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		From, To string
		Queries  []panelQuery
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	from, _ := strconv.ParseFloat(asked.From, 64)
	to, _ := strconv.ParseFloat(asked.To, 64)
	results := map[string]any{}
	for _, q := range asked.Queries {
		frames := []any{}
		if q.Datasource.UID == "prometheus" {
			var err error
			if frames, err = g.frames(q, from/1000, to/1000); err != nil {
				g.failed("%v: %s", err, q.Expr)
				results[q.RefID] = map[string]any{"status": 400, "error": err.Error(), "frames": []any{}}
				continue
			}
		}
		results[q.RefID] = map[string]any{"status": 200, "frames": frames}
	}
	writeJSON(w, map[string]any{"results": results})
}

// frames answers a query. Grafana's Prometheus plugin computes the step and the windows likewise.
func (g *grafana) frames(q panelQuery, from, to float64) ([]any, error) {
	least := q.IntervalMS / 1000
	if d, err := time.ParseDuration(q.Interval); err == nil {
		least = d.Seconds()
	}
	step := math.Max(niceStep((to-from)/math.Max(1, q.MaxDataPoints)), least)
	window := math.Max(step+least, 4*least)
	seconds := func(s float64) string { return fmt.Sprintf("%ds", int(s)) }
	expr := strings.NewReplacer("$__rate_interval", seconds(window), "$__interval", seconds(step), "$__range", seconds(to-from)).Replace(q.Expr)
	path, values := "query_range", url.Values{"query": {expr}}
	if q.Instant {
		path = "query"
		values.Set("time", fmt.Sprint(to))
	} else {
		values.Set("start", fmt.Sprint(math.Floor(from/step)*step))
		values.Set("end", fmt.Sprint(math.Floor(to/step)*step))
		values.Set("step", fmt.Sprint(step))
	}
	resp, err := http.PostForm(g.prometheus+"/api/v1/"+path, values)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer promAnswer
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err == nil && answer.Status != "success" {
		err = fmt.Errorf("Prometheus: %s", answer.Error)
	}
	if err != nil {
		return nil, err
	}
	return answer.frames(q, step), nil
}

// niceStep rounds a step up to a value that Grafana uses.
func niceStep(s float64) float64 {
	for _, nice := range []float64{5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200} {
		if s <= nice {
			return nice
		}
	}
	return 86400
}

// promAnswer is an answer of Prometheus' query API.
type promAnswer struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
			Value  *[2]any
			Values [][2]any
		}
	}
}

// frames returns a frame for each series; an empty answer is a frame without fields.
func (a promAnswer) frames(q panelQuery, step float64) []any {
	kind := "timeseries-multi"
	if q.Instant {
		kind = "numeric-multi"
	}
	schema := func(name string, fields ...any) map[string]any {
		return map[string]any{"refId": q.RefID, "name": name, "meta": map[string]any{"type": kind, "typeVersion": []int{0, 1}}, "fields": append([]any{}, fields...)}
	}
	if len(a.Data.Result) == 0 {
		return []any{map[string]any{"schema": schema(""), "data": map[string]any{"values": []any{}}}}
	}
	var out []any
	for _, s := range a.Data.Result {
		samples := s.Values
		if s.Value != nil {
			samples = [][2]any{*s.Value}
		}
		times, values, nan := []float64{}, []any{}, []int{}
		for i, sample := range samples {
			at, _ := sample[0].(float64)
			v, err := strconv.ParseFloat(fmt.Sprint(sample[1]), 64)
			times = append(times, at*1000)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				values, nan = append(values, nil), append(nan, i)
				continue
			}
			values = append(values, v)
		}
		name := legend(q.LegendFormat, s.Metric)
		out = append(out, map[string]any{
			"schema": schema(name,
				map[string]any{"name": "Time", "type": "time", "config": map[string]any{"interval": step * 1000}},
				map[string]any{"name": "Value", "type": "number", "labels": s.Metric, "config": map[string]any{"displayNameFromDS": name}}),
			"data": map[string]any{"values": []any{times, values}, "entities": []any{nil, map[string]any{"NaN": nan}}},
		})
	}
	return out
}

var legendLabel = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// legend replaces the labels in the name of a series.
func legend(format string, labels map[string]string) string {
	return legendLabel.ReplaceAllStringFunc(format, func(m string) string { return labels[legendLabel.FindStringSubmatch(m)[1]] })
}
