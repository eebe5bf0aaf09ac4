package status

import (
	"encoding/json"
	"flag"
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
)

var update = flag.Bool("update", false, "rewrite the golden files")

// get returns the response of a page.
func get(t *testing.T, p *Page, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	serve(p, w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

// serve answers a request to a page.
func serve(p *Page, w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	for _, route := range p.Routes() {
		mux.Handle(route.Pattern, route.Handler)
	}
	mux.ServeHTTP(w, r)
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
		turn(270*time.Second, first, ttft(400*time.Millisecond)),
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
	p.options.Alerts, p.options.Baseline = someAlerts, someBaseline
	return p
}

var styleOrScript = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`)

func TestPages(t *testing.T) {
	p := full()
	for name, path := range map[string]string{"page": "/", "empty": "/?target=none"} {
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
		Alerts struct{ Rules []struct{ Name string } }
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
	if got.Window != 300 || len(got.Jobs) != 3 || len(got.Alerts.Rules) != 4 || got.Jobs[0].Target != hostile {
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

// TestManyJobs: a page has sections of the worst jobs only, or of the jobs that the query names.
func TestManyJobs(t *testing.T) {
	p := pageAt(noon)
	for i := range 30 {
		feed(p, turn(time.Minute, func(r *probe.Result) { r.Target = string(rune('a' + i)) }))
	}
	feed(p, turn(time.Minute, func(r *probe.Result) { r.Target = "z" }, failing(probe.Stall, "x")))
	for path, want := range map[string]int{"/": sectionsShown, "/?target=c": 1, "/?target=c&workload=w": 1, "/?workload=none": 0} {
		body := get(t, p, path).Body.String()
		if got := strings.Count(body, `<section class="card"`); got != want {
			t.Errorf("%s has %d sections, want %d", path, got, want)
		}
		if path == "/" && !strings.Contains(body, `<section class="card" id="z/w">`) {
			t.Error("the job that fails has no section")
		}
	}
}

func TestStates(t *testing.T) {
	for want, turns := range map[string][]probe.Result{
		"normal":                      {turn(2*time.Minute, failing(probe.HTTP5xx, "x")), turn(time.Minute), turn(0)},
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
	serve(p, w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST /: %d", w.Code)
	}
	for path, want := range map[string]int{"/runbooks/SyntheticRegression": http.StatusOK, "/runbooks/none": http.StatusNotFound, "/favicon.ico": http.StatusOK} {
		if w := get(t, p, path); w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
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
		feed(p, turn(time.Duration(290-i)*time.Second, func(r *probe.Result) {
			r.Session, r.CachedTokens = []string{probe.SessionLost, probe.SessionKept}[i%2], probe.Some(10+80*(i%2))
		}))
	}
	const want = "cache lost by routing: 20 of 40 follow-ups changed the worker, and 10 % of their prompt tokens were cached, against 90 % of the others"
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, want) {
		t.Errorf("the page lacks %q:\n%s", want, body)
	}
}
