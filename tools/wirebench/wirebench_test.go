//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

func TestStamp(t *testing.T) {
	b := make([]byte, stampSize)
	for _, want := range []int64{0, 7, 1_763_600_000_123_456_789} {
		putStamp(b, want)
		if got, ok := stampOf(b); !ok || got != want {
			t.Errorf("%q reads %d, want %d", b, got, want)
		}
	}
	if _, ok := stampOf([]byte("token")); ok {
		t.Error("a word reads as a stamp")
	}
}

func TestScan(t *testing.T) {
	event := eventHead + "42" + eventTail
	buf := make([]byte, 4<<10)
	var got []string
	n := scan(buf, copy(buf, event+event+event[:30]), func(content []byte) { got = append(got, string(content)) })
	if strings.Join(got, " ") != "42 42" || string(buf[:n]) != event[:30] {
		t.Errorf("got %q and %q left", got, buf[:n])
	}
}

func TestDue(t *testing.T) {
	spread := scenario{streams: 4, rate: 10}
	if got := spread.due(2, 1); got != 225*time.Millisecond {
		t.Errorf("spread: %v", got)
	}
	spread.together = true
	if got := spread.due(2, 1); got != 200*time.Millisecond {
		t.Errorf("together: %v", got)
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != len(scenarios()) {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := choose("1000x20,nonsense"); err == nil || !strings.Contains(err.Error(), `unknown scenario "nonsense"`) {
		t.Errorf("got %v", err)
	}
}

func TestQuantiles(t *testing.T) {
	errors := make([]int32, 101)
	for i := range errors {
		errors[i] = int32(100-i) * 1000
	}
	if p50, p99, largest := quantiles(errors); p50 != 50 || p99 != 99 || largest != 100 {
		t.Errorf("got %v, %v, %v", p50, p99, largest)
	}
}

// A server and each client, in one process and for a moment.
func TestServerAndClients(t *testing.T) {
	s := scenario{streams: 3, rate: 100}
	for _, mode := range []string{"nethttp", "stream"} {
		t.Run(mode, func(t *testing.T) {
			stdin, stop := io.Pipe()
			stdout, printed := io.Pipe()
			served := make(chan error, 1)
			go func() { served <- serve(s, printed, stdin) }()
			address := make([]byte, 100)
			n, err := stdout.Read(address)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := measureClient(s, mode, strings.TrimSpace(string(address[:n])), 200*time.Millisecond, &out); err != nil {
				t.Fatal(err)
			}
			stop.Close()
			if err := <-served; err != nil {
				t.Errorf("the server: %v", err)
			}
			var f figures
			if err := json.Unmarshal(out.Bytes(), &f); err != nil || f.Events == 0 || f.P50 <= 0 {
				t.Errorf("got %s, %v", out.Bytes(), err)
			}
		})
	}
}
