package status

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"synthetic/docs/runbooks"
	"synthetic/internal/chart"
	"synthetic/internal/rules"
)

const (
	// before and after extend the time range of an incident's charts.
	before, after = 45 * time.Minute, 20 * time.Minute
	// mayExplain is how long before an incident a change may be its cause.
	mayExplain = 2 * time.Hour
)

type incidentView struct {
	head
	incident
	Heading string
	// the effect now, if it is smaller than the peak
	Present  string
	Figures  []template.HTML
	Timeline []happening
	// Bad are the worst turns on a common scale of length Scale.
	Bad   []turnRow
	Scale string
	// Todo is the part of the runbook with actions, Runbook all of it.
	Todo, Runbook template.HTML
	Silences      []link
	// the incident in Markdown, for a chat
	Text string
}

type happening struct {
	At     time.Time
	State  state
	What   string
	Detail string
}

// incidentsNow returns all incidents. It also adds the alerts that an earlier process started,
// oldest first, because the first alert names the incident.
func (p *Page) incidentsNow() []incident {
	alerts, _ := p.alerts()
	var firing []AlertChange
	for _, r := range alerts.Rules {
		for _, a := range r.Alerts {
			if a.State == "firing" {
				firing = append(firing, AlertChange{Firing: true, Labels: a.Labels, Annotations: a.Annotations, At: a.FiredAt})
			}
		}
	}
	slices.SortStableFunc(firing, func(a, b AlertChange) int { return a.At.Compare(b.At) })
	for _, c := range firing {
		p.Alert(c)
	}
	return p.incidents.list(p.options.Now())
}

func (p *Page) serveIncident(w http.ResponseWriter, r *http.Request) {
	all, id := p.incidentsNow(), r.PathValue("id")
	at := slices.IndexFunc(all, func(i incident) bool { return i.ID == id })
	if _, on := p.alerts(); at < 0 && !on {
		http.Error(w, noPager, http.StatusNotFound)
		return
	}
	if at < 0 {
		http.Error(w, fmt.Sprintf("there is no incident %.100q: this process has forgotten it or never had it; /alerts lists the known incidents", id), http.StatusNotFound)
		return
	}
	v, err := p.viewOf(all[at], figureFor(r))
	if err != nil {
		http.Error(w, "drawing the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	render(w, r, incidentPage, v)
}

func (p *Page) viewOf(i incident, figure figureFunc) (v incidentView, err error) {
	v = incidentView{head: p.head("incident", "../"), incident: i, Silences: p.silences(i)}
	v.head.Charts = chart.Script()
	if i.Ended.IsZero() {
		if e := p.effect(i.About.Key); e.Ratio > 0 {
			p.incidents.recordEffect(i.About.Key, e)
			if e.Ratio > i.Peak.Ratio {
				i.Peak, v.Peak = e, e
			} else if e.Ratio < 0.9*i.Peak.Ratio {
				v.Present = e.describe(i.About.Target)
			}
		}
	}
	v.Title = i.State().Text + ": " + i.Headline()
	s := i.span(v.Now)
	if j := p.job(i.About.Key); j != nil {
		j.mu.Lock()
		objectives := judge(i.About.Key, nil, nil, j.info.Objectives)
		j.mu.Unlock()
		if v.Figures, err = charts(figure, j.minutesIn(s), p.serverMinutes(i.About.Target, s), objectives); err != nil {
			return v, err
		}
	}
	v.Heading, v.Timeline = v.head.Heading(i), i.timeline(v.When)
	v.worst()
	name := i.Main().alert()
	if v.Todo, err = runbook(name, v.Root, "Mitigate"); err == nil {
		v.Runbook, err = runbook(name, v.Root)
	}
	v.Text = v.markdown()
	return v, err
}

// span is the time range of the charts.
func (i incident) span(now time.Time) span {
	s := span{i.Since.Add(-before), now}
	if end := i.Ended.Add(after); !i.Ended.IsZero() && end.Before(s.to) {
		s.to = end
	}
	return s
}

// worst puts the worst turns on a common scale.
func (v *incidentView) worst() {
	scale := time.Duration(0)
	for _, t := range v.Worst {
		scale = max(scale, t.Duration())
	}
	v.Scale = short(scale)
	for _, t := range v.Worst {
		v.Bad = append(v.Bad, turnRow{t.Result, bars(t.Result, scale)})
	}
}

// timeline lists what happened, oldest first. when formats the times in texts.
func (i incident) timeline(when func(time.Time) string) (out []happening) {
	if i.Since.Before(i.Started) {
		out = append(out, happening{i.Since, state{"unknown", "began"}, i.beginning(), ""})
	}
	for _, a := range i.Alerts {
		class := "warn"
		if a.Severity == "page" {
			class = "bad"
		}
		out = append(out, happening{a.From, state{class, a.Severity}, a.Name + " fires", inWords(cmp.Or(a.Description, a.Summary), when)})
		switch {
		case a.Over.IsZero():
		case a.GoesOnAs != "":
			out = append(out, happening{a.Over, state{class, a.Severity}, a.Name + " goes on as " + a.GoesOnAs, ""})
		default:
			out = append(out, happening{a.Over, state{"good", "over"}, a.Name, "after " + short(a.Over.Sub(a.From))})
		}
	}
	slices.SortStableFunc(out, func(a, b happening) int { return a.At.Compare(b.At) })
	return out
}

// beginning says what the first bad turns were.
func (i incident) beginning() string {
	if i.has(func(a firedAlert) bool {
		return a.SLI == rules.SLIAvailability || a.SLI == rules.SLISession && i.Failed > 0
	}) {
		return "turns begin to fail"
	}
	return "turns become slower"
}

// timestamp matches a time as the templates of alerts write it.
var timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000 UTC`)

// inWords returns the text of an alert with times and parts of turns as people say them.
func inWords(text string, when func(time.Time) string) string {
	for part, name := range partNames() {
		if strings.Contains(string(part), "_") { // the others are words
			text = strings.ReplaceAll(text, string(part), name)
		}
	}
	return timestamp.ReplaceAllStringFunc(text, func(stamp string) string {
		at, err := time.Parse("2006-01-02 15:04:05 -0700 MST", stamp)
		if err != nil {
			return stamp
		}
		return when(at)
	})
}

// silences returns links to each Alertmanager's form for a silence of the subject.
func (p *Page) silences(i incident) (out []link) {
	alerts, _ := p.alerts()
	matchers := "{alertname=" + strconv.Quote(i.Main().alert()) + "}"
	if i.About.Target != "" {
		matchers = "{target=" + strconv.Quote(i.About.Target) + ",workload=" + strconv.Quote(i.About.Workload) + "}"
	}
	for _, r := range alerts.Receivers {
		if !strings.Contains(r.URL, "://") {
			continue // an own receiver has no page
		}
		// An Alertmanager's page does not decode + as a space.
		filter := strings.ReplaceAll(url.QueryEscape(matchers), "+", "%20")
		out = append(out, link{strings.TrimSuffix(r.URL, "/") + "/#/silences/new?filter=" + filter, r.URL})
	}
	return out
}

// markdown describes the incident in a few lines.
func (v incidentView) markdown() string {
	state := v.State().Text
	if lasted := v.Lasted(); lasted != "" {
		state += ", " + lasted
	}
	lines := []string{"**" + chart.MarkdownText(v.Headline()) + "**", "", "- " + state}
	for _, text := range []string{v.Main().Summary, v.Main().Description} {
		if text != "" {
			lines = append(lines, "- "+chart.MarkdownText(inWords(text, clock)))
		}
	}
	for _, h := range v.Timeline {
		lines = append(lines, "- "+clock(h.At)+" "+chart.MarkdownText(h.State.Text+": "+h.What))
	}
	if len(v.Worst) > 0 {
		lines = append(lines, fmt.Sprintf("- worst turn: turn %d of trace `%s`", v.Worst[0].Turn, v.Worst[0].TraceID))
	}
	if d := v.Main().Dashboard; d != "" {
		lines = append(lines, "- <"+d+">")
	}
	return strings.Join(lines, "\n") + "\n"
}

func (p *Page) serveRunbook(w http.ResponseWriter, r *http.Request) {
	v := struct {
		head
		Runbook template.HTML
	}{head: p.head(r.PathValue("alert"), "../")}
	v.Title = r.PathValue("alert")
	var err error
	if v.Runbook, err = runbook(v.Title, v.Root); err != nil || v.Runbook == "" {
		http.Error(w, fmt.Sprintf("there is no runbook of %.100q: write the name of an alert", v.Title), http.StatusNotFound)
		return
	}
	render(w, r, runbookPage, v)
}

var (
	// runbookLink matches links to other runbooks, otherLink links to docs that this process
	// does not have.
	runbookLink = regexp.MustCompile(`\]\((Synthetic\w+)\.md\)`)
	otherLink   = regexp.MustCompile(`\[([^\]]+)\]\((?:\.\./|README\.md)[^)]*\)`)
	// wide makes large elements scroll, also with the keyboard.
	wide = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>")
)

// runbook renders the runbook of an alert, with headings one level lower. root is the path to
// the first page. sections selects sections, all by default. The result is "" for an alert
// without a runbook.
func runbook(alert, root string, sections ...string) (template.HTML, error) {
	text, err := runbooks.Files.ReadFile(alert + ".md")
	if err != nil {
		return "", nil //nolint:nilerr // a user's own alert has no runbook
	}
	var b bytes.Buffer
	md := runbookLink.ReplaceAllString(otherLink.ReplaceAllString(string(text), "$1"), "]("+root+"runbooks/$1)")
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(partsOf(md, sections)), &b); err != nil {
		return "", err
	}
	return template.HTML(wide.Replace(b.String())), nil // our own file, without its HTML
}

// partsOf drops the title of a runbook and lowers its headings one level.
func partsOf(md string, wanted []string) string {
	var out strings.Builder
	for _, part := range strings.Split("\n"+md, "\n## ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		if len(wanted) == 0 {
			out.WriteString("### " + name + "\n" + body + "\n")
			continue
		}
		for _, w := range wanted {
			if name == w {
				out.WriteString(body + "\n")
			}
		}
	}
	return out.String()
}
