package status

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// get returns the response of a page.
func get(t *testing.T, p *Page, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

// hostile is a text that a malicious server might send.
const hostile = `</title></script><script>alert("x")</script><img src=x onerror='alert(1)'>`

// full returns a page with all kinds of content.
func full() *Page {
	p := pageAt(noon)
	p.Add(jobOf("t", "w", objectives()...))
	p.Add(jobOf(hostile, hostile, objectives()...))
	p.Add(jobOf("u", "w", objectives()...))
	feed(p,
		turn(5*time.Minute, first, ttft(400*time.Millisecond)),
		turn(4*time.Minute, func(r *probe.Result) { r.AnsweredBy = hostile }),
		turn(210*time.Second, func(r *probe.Result) {
			r.UsageImpossible = "the usage has 7 output tokens, but the answer has at most 3"
		}),
		turn(3*time.Minute, failing(probe.HTTP5xx, "the server said: "+hostile)),
		turn(2*time.Minute, func(r *probe.Result) {
			r.Target, r.Workload, r.Model, r.Conversation = hostile, hostile, hostile, hostile
		}),
	)
	p.Observe(probe.Skip{Target: "u", Workload: "w", Reason: "max_concurrency"})
	p.options.Alerts, p.options.Baseline, p.options.Habits = someAlerts, someBaseline, someHabits
	return p
}

// someHabits are a learned habit and a declared window.
func someHabits(job probe.Key) []baseline.Habit {
	if job.Target != "t" {
		return nil
	}
	return []baseline.Habit{
		{ID: "sun-0200", When: "every Sunday 02:00–04:00", Turn: probe.First, Signal: sink.TTFT, Ratio: 1.84, Since: noon.AddDate(0, 0, -14), Next: noon.AddDate(0, 0, 7)},
		{When: "every Monday 09:00–11:00", Turn: probe.First, Signal: sink.TPOT, Ratio: 3, Next: noon.AddDate(0, 0, 8)},
	}
}

var styleOrScript = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`)

func TestPages(t *testing.T) {
	p := full()
	for name, path := range map[string]string{"overview": "/", "target": "/?target=t", "incident": "/incidents/20260301-1158-title---script--script-alert--x----scr", "runbook": "/runbooks/SyntheticRegression", "turns": "/turns", "failed": "/turns?target=t&workload=w&outcome=failed", "empty": "/turns?target=none", "alerts": "/alerts"} {
		t.Run(name, func(t *testing.T) {
			w := get(t, p, path)
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
				t.Fatalf("status %d, header %v", w.Code, w.Header())
			}
			got := styleOrScript.ReplaceAllString(w.Body.String(), "<$1>…</$1>")
			file := "testdata/" + name + ".golden.html"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("differs from %s; if that is meant, run go test -update:\n%s", file, diff)
			}
			for _, bad := range []string{"<script>alert", "<img", "onerror='"} {
				if strings.Contains(got, bad) {
					t.Errorf("%q is on the page as it came", bad)
				}
			}
		})
	}
}

func TestPolicyLetsOnlyOurOwnRun(t *testing.T) {
	w := get(t, full(), "/?target=t")
	policy := w.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	inline := styleOrScript.FindAllString(w.Body.String(), -1)
	if len(inline) != 3 {
		t.Fatalf("%d inline styles and scripts, want 3", len(inline))
	}
	for _, tag := range inline {
		text := tag[strings.Index(tag, ">")+1 : strings.LastIndex(tag, "<")]
		// A browser hashes the text on the page. If the template changed a byte, no script
		// would run.
		if !strings.Contains(policy, chart.CSPHash(text)) {
			t.Errorf("the policy does not know the inline %.40q…", tag)
		}
	}
}

func TestJSON(t *testing.T) {
	w := get(t, full(), "/api/status")
	var got struct {
		Window float64 `json:"window_seconds"`
		Jobs   []struct {
			Target string
			Recent struct {
				Errors *float64 `json:"error_ratio"`
				First  struct {
					TTFT map[string]any
				}
			}
			Last *struct{ Outcome string }
			SLOs []struct {
				Name string
				Good *float64 `json:"good_ratio"`
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Window != 900 || len(got.Jobs) != 3 || got.Jobs[0].Target != hostile {
		t.Fatalf("got %+v", got)
	}
	known, unknown := got.Jobs[1], got.Jobs[2]
	if v := known.Recent.First.TTFT["p50_seconds"]; v != 0.4 {
		t.Errorf("p50 of first turns is %v, want 0.4", v)
	}
	if known.Recent.Errors == nil || known.Last.Outcome != "http_5xx" {
		t.Errorf("got %+v", known)
	}
	if unknown.Recent.Errors != nil || unknown.Last != nil || unknown.SLOs[0].Good != nil || unknown.Recent.First.TTFT["p50_seconds"] != nil {
		t.Errorf("what is unknown is not null: %+v", unknown)
	}
}

func TestTurnsOfAConversation(t *testing.T) {
	p := pageAt(noon)
	feed(p, turn(2*time.Second), turn(time.Second, func(r *probe.Result) { r.Conversation = "other" }), turn(3*time.Second, func(r *probe.Result) { r.Workload = "v" }))
	for path, want := range map[string]int{
		"/turns": 3, "/turns?target=t": 3, "/turns?target=t&workload=w": 2, "/turns?conversation=c1": 2,
		"/turns?target=t&workload=w&conversation=c1": 1, "/turns?outcome=failed": 0, "/turns?conversation=": 0,
	} {
		if got := strings.Count(get(t, p, path).Body.String(), `<section class="turn `); got != want {
			t.Errorf("%s shows %d turns, want %d", path, got, want)
		}
	}
}

func TestManyJobsAreAListOnly(t *testing.T) {
	p := pageAt(noon)
	for i := range 30 {
		feed(p, turn(time.Minute, func(r *probe.Result) { r.Target = string(rune('a' + i)) }))
	}
	cards := func(path string) int {
		return strings.Count(get(t, p, path).Body.String(), `<section class="card"`)
	}
	if got := cards("/"); got != 0 {
		t.Errorf("%d cards on the page of 30 jobs, want 0", got)
	}
	if got := cards("/?target=c"); got != 1 {
		t.Errorf("%d cards for one target, want 1", got)
	}
}

func TestStates(t *testing.T) {
	for want, turns := range map[string][]probe.Result{
		"ok":                          {turn(2*time.Minute, failing(probe.HTTP5xx, "x")), turn(time.Minute), turn(0)},
		"misses quick":                {turn(0, ttft(time.Minute))},
		"no turn for 20 min":          {turn(20 * time.Minute)},
		"last turn failed: stall":     {turn(time.Minute), turn(0, failing(probe.Stall, "x"))},
		"last turn refused: http_429": {turn(0, failing(probe.HTTP429, "x"))},
	} {
		p := pageAt(noon)
		o := objectives()[:1]
		o[0].Objective = 0.5
		p.Add(jobOf("t", "w", o...))
		feed(p, turns...)
		if got := stateOf(only(t, p)).Text; got != want {
			t.Errorf("state %q, want %q", got, want)
		}
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	p := pageAt(noon)
	if w := get(t, p, "/nowhere"); w.Code != http.StatusNotFound {
		t.Errorf("/nowhere: %d", w.Code)
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST /: %d", w.Code)
	}
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, "No conversation has started yet.") {
		t.Errorf("an empty page says:\n%s", body)
	}
}

// TestBurstIsSaid checks that a card mentions a burst until it ends.
func TestBurstIsSaid(t *testing.T) {
	p := full()
	const said = "probed more often to make sure (failed)"
	for _, why := range []string{"failed", ""} {
		p.Observe(probe.Paced{Target: "t", Workload: "w", Rate: 0.2, Why: why})
		p.Add(p.jobs[probe.Key{Target: "t", Workload: "w"}].info) // a reload that changes nothing
		if got := strings.Contains(get(t, p, "/?target=t").Body.String(), said); got != (why != "") {
			t.Errorf("burst %q is said: %v", why, got)
		}
	}
}

// TestSessionsOnThePage checks that the card of a job says how many recent follow-ups changed the worker.
func TestSessionsOnThePage(t *testing.T) {
	p := pageAt(noon)
	p.Add(jobOf("t", "w"))
	for i := range 40 {
		feed(p, turn(time.Duration(400-i)*time.Second, func(r *probe.Result) {
			r.Moved, r.CachedTokens = probe.Some(i%2 == 0), probe.Some(10+80*(i%2))
		}))
	}
	const want = "cache lost by routing: 20 of 40 follow-ups changed the worker, and 10 % of their prompt tokens were cached, against 90 % of the others"
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, want) {
		t.Errorf("the page lacks %q:\n%s", want, body)
	}
}

// TestTurnsOfOneConversation checks that turns of one trace have ids of their own, which their incident links,
// and one order, also if they end together.
func TestTurnsOfOneConversation(t *testing.T) {
	p := pageAt(noon)
	p.Alert(told("SyntheticRegression", "page", 8*time.Minute, 0))
	for i, end := range []time.Duration{3, 2, 2, 1} {
		feed(p, turn(end*time.Minute, func(r *probe.Result) {
			r.TraceID, r.SpanID, r.Turn = "trace", []string{"a", "c", "b", "d"}[i], i+1
			if i == 2 {
				failing(probe.Stall, "x")(r)
			}
		}))
	}
	ids := regexp.MustCompile(`id="(trace[^"]*)"`)
	if got := fmt.Sprint(ids.FindAllString(get(t, p, "/turns").Body.String(), -1)); got != `[id="trace-d" id="trace-b" id="trace-c" id="trace-a"]` {
		t.Errorf("the ids are %s", got)
	}
	i := p.incidentsNow()[0]
	body := get(t, p, "/incidents/"+i.ID).Body.String()
	for _, want := range []string{`#trace-b">turn 3 of trace <code>trace</code>`, "- worst turn: turn 3 of trace `trace`"} {
		if !strings.Contains(body, want) {
			t.Errorf("the incident lacks %q:\n%s", want, body)
		}
	}
	if got := (turnRow{Result: probe.Result{TraceID: "trace"}}).Anchor(); got != "trace" {
		t.Errorf("without a span, the id is %q", got)
	}
}

// told returns a change of an alert about t/w that began some time before noon.
func told(name, severity string, ago, lasted time.Duration, change ...func(*AlertChange)) AlertChange {
	c := AlertChange{
		Firing: lasted == 0, At: noon.Add(-ago), Lasted: lasted,
		Labels:      map[string]string{"alertname": name, "severity": severity, "target": "t", "workload": "w"},
		Annotations: map[string]string{"summary": "t/w: " + name},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}
