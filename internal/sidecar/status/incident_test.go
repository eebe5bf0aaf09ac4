package status

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

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

// slow makes the TTFT of first turns of each job 4.7 times the baseline.
func slow(p *Page) {
	p.options.Baseline = func(probe.Key) (r baseline.Reading, ok bool) {
		r.Views[0][0] = baseline.View{Ratio: probe.Some(4.7), Baseline: probe.Some(0.33), Since: noon.Add(-20 * time.Minute)}
		r.Views[1][1] = baseline.View{Ratio: probe.Some(1.2), Baseline: probe.Some(0.02)}
		r.Excess[0] = probe.Some([baseline.PartCount]float64{0.1, 1.1, math.NaN(), math.NaN(), 0, 2})
		return r, true
	}
}

func TestHeadlines(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(*Page)
		told []AlertChange
		want string
	}{
		"regression": {slow, []AlertChange{told("SyntheticRegression", "page", 10*time.Minute, 0)}, "TTFT of t up to 4.7 × usual (1.55 s against 330 ms) since 11:40 UTC, likely queue or prefill"},
		"its objective first": {slow, []AlertChange{told("SyntheticSLOFastBurn", "page", 10*time.Minute, 0, func(c *AlertChange) { c.Labels["sli"] = "latency" })},
			"TTFT of t up to 4.7 × usual (1.55 s against 330 ms) since 11:40 UTC, likely queue or prefill"},
		"outage": {func(p *Page) {
			feed(p, turn(5*time.Minute), turn(3*time.Minute, failing(probe.HTTP5xx, "x")), turn(time.Minute, failing(probe.Stall, "x")))
		}, []AlertChange{told("SyntheticTargetDown", "page", 30*time.Second, 0)}, "t is down since 11:56 UTC: 2 of 2 turns failed (http_5xx): x"},
		"errors, told after what is slow": {func(p *Page) {
			slow(p)
			feed(p, turn(5*time.Minute, failing(probe.HTTP5xx, "another fault")), turn(2*time.Minute, failing(probe.Stall, "x")), turn(90*time.Second), turn(time.Minute, failing(probe.Stall, "x")))
		}, []AlertChange{
			told("SyntheticSLOFastBurn", "page", 30*time.Second, 0, func(c *AlertChange) { c.Labels["sli"], c.Labels["slo"] = "latency", "ttft" }),
			told("SyntheticSLOFastBurn", "page", 20*time.Second, 0, func(c *AlertChange) { c.Labels["sli"], c.Labels["slo"] = "availability", "up" }),
		}, "3 of 4 turns of t failed since 11:40 UTC (stall): x"},
		"of the prober": {slow, []AlertChange{told("SyntheticProberSilent", "page", 10*time.Minute, 0, func(c *AlertChange) {
			c.Labels = map[string]string{"alertname": "SyntheticProberSilent", "severity": "page", "instance": "a"}
			c.Annotations = nil
		})}, "SyntheticProberSilent of the prober since 11:50 UTC"},
		"of many": {slow, []AlertChange{told("SyntheticFleetRegression", "page", 10*time.Minute, 0, func(c *AlertChange) {
			c.Labels = map[string]string{"alertname": "SyntheticFleetRegression", "severity": "page", "scope": "fleet"}
			c.Annotations = map[string]string{"summary": "3 of 5 targets have a fault that they share"}
		})}, "3 of 5 targets have a fault that they share since 11:50 UTC"},
		"another": {func(*Page) {}, []AlertChange{told("Own", "ticket", 10*time.Minute, 0)}, "t/w: Own since 11:50 UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pageAt(noon)
			p.Add(jobOf("t", "w"))
			tt.set(p)
			for _, c := range tt.told {
				p.Alert(c)
			}
			all := p.incidentsNow()
			if len(all) != 1 || all[0].Headline() != tt.want {
				t.Fatalf("%d incidents, the headline of the first %q, want %q", len(all), all[0].Headline(), tt.want)
			}
			if w := get(t, p, "/incidents/"+all[0].ID); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<h1>"+p.head("", "").Heading(all[0])) {
				t.Errorf("its page answers %d: %s", w.Code, w.Body)
			}
		})
	}
}

// TestLatestTurns checks that a fault that has just begun shows its full ratio, and not the
// mean of five minutes.
func TestLatestTurns(t *testing.T) {
	var samples []sample
	for i := range latestTurns {
		samples = append(samples, sampleOf(turn(time.Duration(i)*time.Second, ttft(time.Second))), sampleOf(turn(3*time.Minute, ttft(time.Hour))))
	}
	views := baseline.Views{
		{{Ratio: probe.Some(1.1), Baseline: probe.Some(0.1)}},
		{{Baseline: probe.Some(0.25)}, {Ratio: probe.Some(9.0), Baseline: probe.Some(0.02)}},
	}
	useLatestTurns(&views, samples, noon)
	if got := views[1][0].Ratio.V; math.Abs(got-4) > 1e-9 || views[1][1].Ratio.V != 9 || views[0][0].Ratio.V != 1.1 {
		t.Errorf("got %v and %v", got, views)
	}
}

// TestOneIncident checks that alerts about a job belong to one incident while any of them
// fires, and for some time after.
func TestOneIncident(t *testing.T) {
	p := pageAt(noon)
	p.Add(jobOf("t", "w"))
	state := func() string {
		var out []string
		for _, i := range p.incidentsNow() {
			out = append(out, i.State().Text)
		}
		return strings.Join(out, ", ")
	}
	for _, step := range []struct {
		told AlertChange
		want string
	}{
		{told("Burn", "page", 60*time.Minute, 0), "paging"},
		{told("Slow", "page", 58*time.Minute, 0), "paging"},
		{told("Burn", "page", 60*time.Minute, 5*time.Minute, func(c *AlertChange) { c.GoesOnAs = "Slow" }), "paging"},
		{told("Late", "ticket", 50*time.Minute, 0), "paging"},
		{told("Slow", "page", 58*time.Minute, 10*time.Minute), "page over, tickets open"},
		{told("Late", "ticket", 50*time.Minute, 10*time.Minute), "over"},
		{told("Late", "ticket", 30*time.Minute, 0), "page over, tickets open"}, // ten minutes after its end it continues
	} {
		p.Alert(step.told)
		if got := state(); got != step.want {
			t.Fatalf("after %s the incidents are %q, want %q", step.told.Labels["alertname"], got, step.want)
		}
	}
	i := p.incidentsNow()[0]
	p.options.Marks.Add(sink.Mark{At: noon.Add(-70 * time.Minute), Source: sink.MarkDeploy, Target: "t", Text: "release 7"})
	p.options.Marks.Add(sink.Mark{At: noon.Add(-70 * time.Minute), Source: sink.MarkDeploy, Target: "u", Text: "of another"})
	body := get(t, p, "/incidents/"+i.ID).Body.String()
	for _, want := range []string{"a release was marked: release 7", "Burn goes on as Slow", "Slow<", "after 10 min"} {
		if !strings.Contains(body, want) {
			t.Errorf("its page does not say %q: %s", want, body)
		}
	}
	if main := i.Main().Name; main != "Burn" {
		t.Errorf("the main alert is %s, want the first page", main)
	}
	i.Alerts = append(i.Alerts, firedAlert{Name: "SyntheticRegression", Severity: "ticket"}, firedAlert{Name: "SyntheticRegression", Severity: "page"}, firedAlert{Name: "Last", Severity: "page"})
	if main := i.Main(); main.Name != "SyntheticRegression" || main.Severity != "page" {
		t.Errorf("the main alert is %+v, want the page about a cause", main)
	}
	if strings.Contains(body, "of another") {
		t.Error("its page has a mark of another target")
	}
	p.Alert(told("Slow", "page", time.Minute, 0))
	p.Alert(told("Slow", "page", time.Minute, 0, func(c *AlertChange) { c.Labels["workload"] = "v" }))
	if n := len(p.incidentsNow()); n != 2 {
		t.Errorf("%d incidents, want another for another workload alone", n)
	}
}

// TestWorstTurns checks that the worst turns are failed ones, then the slowest, and at most
// ten.
func TestWorstTurns(t *testing.T) {
	p := pageAt(noon)
	p.Add(jobOf("t", "w"))
	slow(p)
	feed(p, turn(10*time.Minute, first, ttft(9*time.Second))) // finishes no minute: there is no baseline yet
	p.Alert(told("SyntheticRegression", "page", 8*time.Minute, 0))
	for i := range 15 {
		feed(p, turn(time.Duration(400-i)*time.Second, first, ttft(time.Duration(i)*time.Second)))
	}
	feed(p, turn(time.Minute, failing(probe.Stall, "x")))
	worst := p.incidentsNow()[0].Worst
	if len(worst) != worstKept || worst[0].Outcome != probe.Stall || worst[1].TTFT.V != 14*time.Second || worst[9].TTFT.V != 6*time.Second {
		for _, w := range worst {
			t.Errorf("%v %v %v", w.Outcome, w.TTFT.V, w.Score)
		}
	}
}

// TestPartsAlone checks that the page's script gets only the changing part, compressed.
func TestPartsAlone(t *testing.T) {
	p := fleet(100, 1)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set(partHeader, "main")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	z, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatalf("%v; header %v", err, w.Header())
	}
	whole, err := io.ReadAll(z)
	if err != nil || !bytes.HasPrefix(whole, []byte("<main ")) || bytes.Contains(whole, []byte("<style")) {
		t.Errorf("not the part alone (%v): %.300s", err, whole)
	}
	r = r.Clone(t.Context())
	r.URL.RawQuery = "target=target-7"
	w = httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if z, err = gzip.NewReader(w.Body); err == nil {
		whole, err = io.ReadAll(z)
	}
	if err != nil || !bytes.Contains(whole, []byte(`<figure class="chart"><script type="application/json">`)) {
		t.Errorf("no chart as data alone (%v): %.300s", err, whole)
	}
	r.URL.RawQuery = ""
	// The complete page of 100 targets.
	r.Header.Del(partHeader)
	w = httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if n := w.Body.Len(); n > 100_000 {
		t.Errorf("the page of 100 targets is %d bytes compressed", n)
	} else {
		t.Logf("the page of 100 targets is %d bytes compressed", n)
	}
}

// TestRunbooks checks that runbooks link to each other, and not to other docs.
func TestRunbooks(t *testing.T) {
	p := pageAt(noon)
	if body := get(t, p, "/runbooks/SyntheticSLOFastBurn").Body.String(); strings.Contains(body, ".md") {
		t.Errorf("got %s", body)
	}
	body := get(t, p, "/runbooks/SyntheticRegression").Body.String()
	if !strings.Contains(body, `<a href="../runbooks/SyntheticCachedRatioDrop">`) || strings.Contains(body, ".md") || !strings.Contains(body, "<h3>Mitigate</h3>") {
		t.Errorf("got %s", body)
	}
	if w := get(t, p, "/runbooks/README"); w.Code != http.StatusNotFound {
		t.Errorf("what is no runbook answers %d", w.Code)
	}
}

// TestCutAnswersOfAnIncident: the page says the share of answers that the token limit ended, if it has moved.
func TestCutAnswersOfAnIncident(t *testing.T) {
	cut := func(r *probe.Result) { r.FinishReason = "length" }
	for name, tt := range map[string]struct {
		before, since func(*probe.Result)
		want          string
	}{
		"moved":   {func(*probe.Result) {}, cut, "the token limit cut 100 % of the answers, before 0 %"},
		"as ever": {cut, cut, ""},
		"failed":  {func(*probe.Result) {}, failing(probe.HTTP5xx, "x"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := pageAt(noon)
			p.Add(jobOf("t", "w"))
			for i := range 20 {
				feed(p, turn(time.Duration(60-i)*time.Minute, tt.before))
			}
			for i := range 20 {
				feed(p, turn(time.Duration(400-10*i)*time.Second, tt.since))
			}
			p.Alert(told("SyntheticSLOFastBurn", "page", 7*time.Minute, 0))
			feed(p, turn(time.Second, tt.since))
			i := p.incidentsNow()[0]
			if got := i.CutText(); got != tt.want {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
			if w := get(t, p, "/incidents/"+i.ID); tt.want != "" && !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("the page does not say %q", tt.want)
			}
		})
	}
}

// TestPageInWords checks that the page of an incident says times and parts of turns as people do, and
// that the text for a chat names the zone.
func TestPageInWords(t *testing.T) {
	p := pageAt(noon)
	slow(p)
	p.Add(jobOf("t", "w"))
	p.Alert(told("SyntheticRegression", "page", 10*time.Minute, 0, func(c *AlertChange) {
		c.Annotations["description"] = "Since 2026-03-01 11:40:19.84 +0000 UTC. Likely part: queue_prefill."
	}))
	v, err := p.viewOf(p.incidentsNow()[0], chart.Figure)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, h := range v.Timeline {
		said = append(said, v.When(h.At)+" "+h.What+": "+h.Detail)
	}
	want := []string{
		"11:40 (20 min ago) turns become slower: ",
		"11:50 (10 min ago) SyntheticRegression fires: Since 11:40 (20 min ago). Likely part: queue or prefill.",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("the timeline (-want +got):\n%s", diff)
	}
	if !strings.Contains(v.Text, "Since 11:40 UTC. Likely part: queue or prefill") {
		t.Errorf("the text for a chat is %s", v.Text)
	}
}

func TestWhen(t *testing.T) {
	h := head{Now: noon}
	for age, want := range map[time.Duration]string{
		0: "12:00 (now)", 2 * time.Second: "11:59 (2 s ago)", 3 * time.Minute: "11:57 (3 min ago)", 5 * time.Hour: "07:00 (5 h ago)",
		13 * time.Hour: "2026-02-28 23:00 (13 h ago)", 72 * time.Hour: "2026-02-26 12:00 (3 days ago)",
	} {
		if got := h.When(noon.Add(-age)); got != want {
			t.Errorf("%v ago is %q, want %q", age, got, want)
		}
	}
}

// TestCalm checks that the overview says when the last incident ended, if none is open.
func TestCalm(t *testing.T) {
	p := pagerSays()
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, "no incident is open, and none is known") {
		t.Error("the overview does not say that there was no incident")
	}
	p.Alert(told("Slow", "page", 30*time.Minute, 10*time.Minute))
	if body := get(t, p, "/").Body.String(); !strings.Contains(body, "the last one ended at 11:40 (20 min ago)") {
		t.Error("the overview does not say when the last incident ended")
	}
}
