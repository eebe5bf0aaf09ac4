package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/study/report"
)

// gaveUp streams a summary of hidden reasoning, then half of the answers end by giving up, with status 200.
func gaveUp(t *testing.T) *httptest.Server {
	t.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(text string) {
			_, _ = io.WriteString(w, "data: "+text+"\n\n")
			w.(http.Flusher).Flush()
		}
		for range 20 {
			time.Sleep(time.Millisecond)
			say(`{"choices":[{"index":0,"delta":{"reasoning_content":" hm"},"finish_reason":null}]}`)
		}
		reason := []string{"stop", "abort"}[asked.Add(1)%2]
		say(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":"."},"finish_reason":%q}]}`, reason))
		say(`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":320}}`)
		say("[DONE]")
	}))
	t.Cleanup(s.Close)
	return s
}

// TestSweepOverAborts: half of the turns are errors, and the objectives fail. TPOT of summarised reasoning is unknown,
// and the report says so.
func TestSweepOverAborts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := start(t, "sweep", "--base-url="+gaveUp(t).URL+"/v1", "--model=m", "--concurrency=4", "--duration=2s", "--warm-up=200ms", "--turns=1", "--output.dir="+dir)
	<-p.done
	study, err := report.Read(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatalf("%v\n%s%s", err, p.out, p.err)
	}
	level := report.FromRun(study.Run).Series[0].Levels[0]
	if n, pct := level.Value(report.Completed), level.Value(report.ErrorPct); n < 20 || pct < 40 || pct > 60 {
		t.Errorf("the report has %v %% errors in %v turns, want half", pct, n)
	}
	if level.Figure(report.TPOTP50).Known() {
		t.Error("TPOT of summarised reasoning is known")
	}
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	page, _, _ := strings.Cut(string(text), "## Test Methodology") // the rest is data
	for _, want := range []string{"| 4 | FAIL (", "does not meet", "TPOT is unknown in "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}
