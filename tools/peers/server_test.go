//go:build linux

package main

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTruth: the server records its delays, is never early, and forgets after reset.
func TestTruth(t *testing.T) {
	truth := newTruth()
	server := httptest.NewServer(truth)
	defer server.Close()
	answer, err := server.Client().Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"truth","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || strings.Count(string(text), `"content":" word"`) != tokens || !strings.Contains(string(text), `"completion_tokens":64`) || !strings.HasSuffix(string(text), "data: [DONE]\n\n") {
		t.Errorf("%v: %.300s", err, text)
	}
	first, pace := newTruth().draw()
	got := truth.figures(1)
	if ms := float64(first.Microseconds()) / 1000; got[0] < ms || got[0] != got[2] {
		t.Errorf("TTFT %v ms, want %g", got[:3], ms)
	}
	if ms := float64(pace.Microseconds()) / 1000; got[3] < 0.8*ms {
		t.Errorf("TPOT %g ms, want %g", got[3], ms)
	}
	truth.reset()
	if again, _ := truth.draw(); again != first || len(truth.seen) != 0 {
		t.Error("reset does not restart the random numbers")
	}
}
