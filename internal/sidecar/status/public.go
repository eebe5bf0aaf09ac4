package status

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"synthetic/internal/chart"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/review"
)

// PublicOptions configure the public view. All of its texts are constants, dates, shares and the names that Targets
// returns.
type PublicOptions struct {
	// Targets are the shown names. The models and the discovered targets of one are shown under its name.
	Targets func() []string
	// Days returns the counts of the days from a date on.
	Days func(from string) []review.Day
}

// toleratedFailures is the largest share of failed turns, in the last 15 minutes, of a target that is up.
const toleratedFailures = 0.1

// publicShown bounds the targets of the view.
const publicShown = 100

var (
	publicPage  = template.Must(template.New("public.html").ParseFS(files, "assets/public.html"))
	publicStyle = chart.Style() + "\n.days{display:block;height:1.5rem} .days .good{fill:var(--good)} .days .warn{fill:var(--warn)} .days .bad{fill:var(--bad)} .days .none{fill:var(--line)}"
)

// publicView is the input of the template. Nothing private must get into it.
type publicView struct {
	Style   template.CSS
	Now     time.Time
	State   state
	Targets []publicTarget
}

type publicTarget struct {
	Name   string
	State  state
	Uptime share
	// Days are the last 90 days, oldest first.
	Days []publicDay
}

type publicDay struct {
	X      int
	Date   string
	Class  string
	Uptime share
}

// PublicRoutes returns the paths of the public view, which everyone may see.
func (p *Page) PublicRoutes(o PublicOptions) []Route {
	c := &publicCache{make: func() publicView { return p.publicView(o) }, now: p.options.Now}
	return []Route{
		{"GET /{$}", "the names of the targets in the configuration, the state of each, and its uptime on each of 90 days", c.servePage},
		{"GET /badge.svg", "the state of all targets, or that of `?target=NAME`, as a picture", c.serveBadge},
	}
}

// publicFor is how long a view is served, so that the world cannot make this process work.
const publicFor = 5 * time.Second

// publicCache holds the last view.
type publicCache struct {
	make func() publicView
	now  func() time.Time

	mu   sync.Mutex
	view publicView
	page []byte // nil before the first
}

// current returns a view of the last seconds, and its page.
func (c *publicCache) current() (publicView, []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := c.now().Sub(c.view.Now); c.page == nil || age < 0 || age >= publicFor {
		c.view = c.make()
		var b bytes.Buffer
		if err := publicPage.Execute(&b, c.view); err != nil { // the template does not fit the view, which tests would find
			b.Reset()
		}
		c.page = b.Bytes()
	}
	return c.view, c.page
}

// PublicHandler serves PublicRoutes.
func (p *Page) PublicHandler(o PublicOptions) http.Handler {
	mux := http.NewServeMux()
	for _, r := range p.PublicRoutes(o) {
		mux.HandleFunc(r.Pattern, r.handler)
	}
	return gzhttp.GzipHandler(mux)
}

func (p *Page) publicView(o PublicOptions) publicView {
	v := publicView{Style: publicStyle, Now: p.options.Now().UTC()}
	names := slices.Sorted(slices.Values(o.Targets()))
	states, days := p.publicStates(), map[string][]review.Day{}
	first := v.Now.AddDate(0, 0, -review.Kept+1)
	for _, d := range o.Days(review.DateOf(first)) {
		days[d.Target] = append(days[d.Target], d)
	}
	for _, name := range names[:min(len(names), publicShown)] {
		t := publicTarget{Name: name, State: state{"unknown", "no data"}}
		var own []review.Day
		for target, all := range days {
			if isPartOf(target, name) {
				own = append(own, all...)
			}
		}
		for target, s := range states {
			if isPartOf(target, name) && (t.State.Class == "unknown" || s.rank() < t.State.rank()) {
				t.State = s
			}
		}
		t.Days, t.Uptime = publicDays(own, first)
		v.Targets = append(v.Targets, t)
	}
	v.State = state{"unknown", "no data"}
	if len(v.Targets) > 0 {
		v.State = slices.MinFunc(v.Targets, func(a, b publicTarget) int { return a.State.rank() - b.State.rank() }).State
	}
	return v
}

// isPartOf reports whether a target is shown under a name: the name of the target, of its list of models, or of its
// discovery group.
func isPartOf(target, name string) bool {
	return target == name || strings.HasPrefix(target, name+"/")
}

// publicStates returns the state of each target, in one of four words.
func (p *Page) publicStates() map[string]state {
	out := map[string]state{}
	worse := func(target string, s state) {
		if have, ok := out[target]; !ok || s.rank() < have.rank() {
			out[target] = s
		}
	}
	for _, j := range p.Snapshot().Jobs {
		switch share := j.Recent.Errors; {
		case !share.OK || j.Last.Outcome.OwnFault():
		case share.V == 1:
			worse(j.Target, state{"bad", "down"})
		case share.V > toleratedFailures:
			worse(j.Target, state{"warn", "degraded"})
		default:
			worse(j.Target, state{"good", "up"})
		}
	}
	for _, i := range p.incidentsNow() {
		switch {
		case !i.paging() || i.About.Target == "":
		case i.has(func(a firedAlert) bool { return a.Name == rules.AlertTargetDown && a.Over.IsZero() }):
			worse(i.About.Target, state{"bad", "down"})
		default:
			worse(i.About.Target, state{"warn", "degraded"})
		}
	}
	return out
}

// publicDays returns 90 days from the first on, and the uptime of all.
func publicDays(days []review.Day, first time.Time) (out []publicDay, uptime share) {
	turns, failed := map[string]int{}, map[string]int{}
	all, bad := 0, 0
	for _, d := range days {
		turns[d.Date], failed[d.Date] = turns[d.Date]+d.Turns, failed[d.Date]+d.Failed
		all, bad = all+d.Turns, bad+d.Failed
	}
	for n := range review.Kept {
		date := review.DateOf(first.AddDate(0, 0, n))
		d := publicDay{X: n, Date: date, Uptime: shareOf(turns[date]-failed[date], turns[date])}
		d.Class = dayClass(d.Uptime)
		out = append(out, d)
	}
	return out, shareOf(all-bad, all)
}

// dayClass is the colour of a day by its share of good turns.
func dayClass(s share) string {
	switch {
	case !s.OK:
		return "none"
	case s.V >= 0.99:
		return "good"
	case s.V >= 0.9:
		return "warn"
	}
	return "bad"
}

func (c *publicCache) servePage(w http.ResponseWriter, _ *http.Request) {
	_, page := c.current()
	publicHeader(w, "text/html; charset=utf-8", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; style-src "+chart.CSPHash(publicStyle))
	_, _ = w.Write(page) // the client is gone if this fails
}

func publicHeader(w http.ResponseWriter, kind, policy string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "public, max-age=30")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}

// serveBadge draws a name and its state.
func (c *publicCache) serveBadge(w http.ResponseWriter, r *http.Request) {
	v, _ := c.current()
	name, s := "status", v.State
	if wanted := r.URL.Query().Get("target"); wanted != "" {
		at := slices.IndexFunc(v.Targets, func(t publicTarget) bool { return t.Name == wanted })
		if at < 0 {
			http.Error(w, "there is no such target", http.StatusNotFound)
			return
		}
		name, s = v.Targets[at].Name, v.Targets[at].State
	}
	colour := map[string]string{"good": "#1a7f42", "warn": "#945b00", "bad": "#b42318"}[s.Class]
	left, right := 7*len([]rune(name))+12, 7*len(s.Text)+12
	publicHeader(w, "image/svg+xml", "default-src 'none'; style-src 'unsafe-inline'")
	name = html.EscapeString(name)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s: %s"><title>%s: %s</title>`+
		`<rect width="%d" height="20" fill="#444c56"/><rect x="%d" width="%d" height="20" fill="%s"/>`+
		`<g fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle"><text x="%d" y="14">%s</text><text x="%d" y="14">%s</text></g></svg>`,
		left+right, name, s.Text, name, s.Text, left, left, right, cmp.Or(colour, "#5b6576"), left/2, name, left+right/2, s.Text)
}
