//go:build linux

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestTruth: the server records its delays since a request arrived, is never early, and forgets after reset.
func TestTruth(t *testing.T) {
	truth := newTruth()
	listener, err := listenStamped()
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: truth, ConnContext: keepConnection}
	go web.Serve(listener)
	defer web.Close()
	ask := func() *http.Response {
		answer, err := http.Post("http://"+listener.Addr().String()+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"truth","stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	// The kernel begins to stamp some time after the first socket asks for it.
	sent, answer := time.Now(), ask()
	for try := 0; answer.StatusCode == http.StatusInternalServerError && try < 1000; try++ {
		truth.reset(1)
		sent, answer = time.Now(), ask()
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil || strings.Count(string(text), `"content":" word"`) != tokens || !strings.Contains(string(text), `"completion_tokens":64`) || !strings.HasSuffix(string(text), "data: [DONE]\n\n") {
		t.Errorf("%v: %.300s", err, text)
	}
	first, pace := newTruth().draw()
	got, err := truth.figures(1, true)
	if ms, most := first.Seconds()*1000, time.Since(sent).Seconds()*1000; err != nil || got[0] < ms || got[0] > most || got[0] != got[2] {
		t.Errorf("TTFT %v ms, want %g to %g; %v", got[:3], ms, most, err)
	}
	if ms := pace.Seconds() * 1000; got[3] < 0.8*ms {
		t.Errorf("TPOT %g ms, want %g", got[3], ms)
	}
	if _, err := truth.figures(2, true); err == nil {
		t.Error("a response that has not ended is no error")
	}
	truth.reset(1)
	if again, _ := truth.draw(); again != first || len(truth.seen) != 0 {
		t.Error("reset does not restart the random numbers")
	}
}

// TestUnstamped: a request of unknown arrival makes the run fail.
func TestUnstamped(t *testing.T) {
	truth, answer := newTruth(), httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", nil)
	truth.ServeHTTP(answer, request.WithContext(keepConnection(t.Context(), &stamped{})))
	if _, err := truth.figures(0, true); err == nil || answer.Code != http.StatusInternalServerError {
		t.Errorf("status %d, error %v", answer.Code, err)
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{10, 20, 30, 40}
	for _, c := range []struct{ q, rank, between float64 }{{0.5, 20, 25}, {0.75, 30, 32.5}, {0.95, 40, 38.5}, {1, 40, 40}} {
		if rank, between := quantile(values, c.q, false), quantile(values, c.q, true); rank != c.rank || between != c.between {
			t.Errorf("quantile %g: %g and %g, want %g and %g", c.q, rank, between, c.rank, c.between)
		}
	}
}
