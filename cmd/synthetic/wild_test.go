package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// streaming answers each request with words, one a pause, and an end.
func streaming(t *testing.T, pause time.Duration, words func(n int64) int, begin, end string, endOf func(n int64) string) *httptest.Server {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m"}]}`)
			return
		}
		n := asked.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(text string) {
			_, _ = io.WriteString(w, "data: "+text+"\n\n")
			w.(http.Flusher).Flush()
		}
		for range words(n) {
			time.Sleep(pause)
			say(begin)
		}
		say(endOf(n))
		if end != "" {
			say(end)
		}
		say("[DONE]")
	}))
	t.Cleanup(s.Close)
	return s
}

const (
	oneWord = `{"choices":[{"index":0,"delta":{"content":" tok"},"finish_reason":null}]}`
	oneHm   = `{"choices":[{"index":0,"delta":{"reasoning_content":" hm"},"finish_reason":null}]}`
)

func ends(reason string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

// sweepOf runs a short sweep, and returns the outcomes, the page of the report and the run.
func sweepOf(t *testing.T, url string) (outcomes map[probe.Outcome]uint64, page string, run *runfile.Run) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	p := start(t, "sweep", "--base-url="+url+"/v1", "--model=m", "--concurrency=4", "--duration=2s", "--warm-up=200ms", "--turns=1", "--output.dir="+dir)
	<-p.done
	study, err := figures.Read(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatalf("%v\n%s%s", err, p.out, p.err)
	}
	outcomes = map[probe.Outcome]uint64{}
	for _, r := range study.Run.Results {
		for _, s := range r.Snapshots {
			for _, b := range s.Blocks {
				for o, n := range b.Outcomes {
					outcomes[o] += n
				}
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	page, _, _ = strings.Cut(string(text), "## Test Methodology") // the rest is data
	return outcomes, page, study.Run
}

// TestSweepOverAborts: a server gives up half of its answers with status 200 and [DONE]. Half of the turns are errors,
// and the objectives fail.
func TestSweepOverAborts(t *testing.T) {
	aborts := func(n int64) bool { return n%2 == 1 }
	s := streaming(t, time.Millisecond, func(n int64) int {
		if aborts(n) {
			return 3
		}
		return 30
	}, oneWord, "", func(n int64) string {
		if aborts(n) {
			return ends("abort")
		}
		return ends("length")
	})
	outcomes, page, run := sweepOf(t, s.URL)
	failed, all := outcomes[probe.Aborted], outcomes[probe.Aborted]+outcomes[probe.Success]
	if share := float64(failed) / float64(all); all < 20 || share < 0.4 || share > 0.6 {
		t.Errorf("outcomes %v, want half aborted", outcomes)
	}
	level := figures.FromRuns([]*runfile.Run{run}).Series[0].Levels[0]
	if pct := level.Value(figures.ErrorPct); pct < 40 || pct > 60 {
		t.Errorf("the report has %v %% errors", pct)
	}
	if !strings.Contains(page, "| 4 | FAIL (") || !strings.Contains(page, "does not meet") {
		t.Errorf("no FAIL in\n%s", page)
	}
}

// TestSweepOverHiddenReasoning: of a model that hides its reasoning, TPOT is the time between visible tokens. Of one
// that streams a summary, TPOT is unknown, and the report has a note about it.
func TestSweepOverHiddenReasoning(t *testing.T) {
	const pause, visible, hidden = 5 * time.Millisecond, 20, 300
	usage := func(details string) string {
		return `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":` + strconv.Itoa(visible+hidden) + details + `}}`
	}
	words := func(int64) int { return visible }
	stop := func(int64) string { return `{"choices":[{"index":0,"delta":{"content":"."},"finish_reason":"stop"}]}` }
	s := streaming(t, pause, words, oneWord, usage(`,"completion_tokens_details":{"reasoning_tokens":`+strconv.Itoa(hidden)+`}`), stop)
	_, page, run := sweepOf(t, s.URL)
	tpot := figures.FromRuns([]*runfile.Run{run}).Series[0].Levels[0].Value(figures.TPOT.Quantile(figures.AllTurns, 0))
	if least := float64(pause.Microseconds()) / 1000 * 0.9; !(tpot >= least) {
		t.Errorf("TPOT p50 is %v ms, want at least %v\n%s", tpot, least, page)
	}
	s = streaming(t, pause, words, oneHm, usage(""), stop)
	outcomes, page, run := sweepOf(t, s.URL)
	if outcomes[probe.Success] == 0 {
		t.Errorf("outcomes %v", outcomes)
	}
	level := figures.FromRuns([]*runfile.Run{run}).Series[0].Levels[0]
	if level.Figure(figures.TPOT.Quantile(figures.AllTurns, 0)).Known() {
		t.Error("TPOT of summarised reasoning is known")
	}
	if want := "TPOT is unknown in "; !strings.Contains(strings.Join(level.Warnings, "\n"), want) || !strings.Contains(page, want) {
		t.Errorf("%v\n%s\nwant %q", level.Warnings, page, want)
	}
	if strings.Contains(page, "meets TTFT p99 < 1000ms, TPOT") {
		t.Errorf("the report says that TPOT is met:\n%s", page)
	}
}
