package probe_test

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
)

// A script describes what a server does with a request. A byte n > 0 writes the n bytes that follow
// in one segment. 0 is followed by one of these actions. At the end, the server closes the
// connection.
const (
	scriptPause = iota // waits a second
	scriptHold         // waits until the prober disconnects
	scriptPart         // repeats the previous segment 255 times
)

// perform plays a script.
func perform(c net.Conn, script []byte) {
	var last []byte
	for len(script) > 1 {
		n := int(script[0])
		script = script[1:]
		if n > 0 {
			last = script[:min(n, len(script))]
			script = script[len(last):]
			if _, err := c.Write(last); err != nil {
				return
			}
			continue
		}
		switch script[0] {
		case scriptPause:
			time.Sleep(time.Second)
		case scriptHold:
			_, _ = io.Copy(io.Discard, c)
		case scriptPart:
			for range 255 {
				if _, err := c.Write(last); err != nil {
					return
				}
			}
		}
		script = script[1:]
	}
}

// written returns a script that writes a text in segments of size bytes.
func written(text string, size int) (script []byte) {
	for part := range slices.Chunk([]byte(text), size) {
		script = append(append(script, byte(len(part))), part...)
	}
	return script
}

// FuzzTurn runs a turn with a server that plays an arbitrary script. The turn must end with a valid
// outcome and in bounded memory. It must leave no goroutine behind, or the synctest bubble would
// not end.
func FuzzTurn(f *testing.F) {
	log.SetOutput(io.Discard) // net/http logs stray bytes
	for _, s := range streams() {
		for i, framing := range framings() {
			if text := framing.frame(s.text); len(text) < 4<<10 {
				f.Add(written(text, []int{255, 1, 40}[i%3]))
			}
		}
	}
	f.Add(append(written(closeHead+hello, 255), 0, scriptHold))
	f.Add(append(written(closeHead+hello, 100), 0, scriptPause, 0, scriptPart, 0, scriptPart))
	f.Add(append(written(sseHead+"1;x\r\n:\r\n", 9), 0, scriptPart, 0, scriptPart))
	f.Fuzz(func(t *testing.T, script []byte) {
		before := allocated()
		synctest.Test(t, func(t *testing.T) { takeTurn(t, script) })
		if used, limit := allocated()-before, uint64(maxAllocated+100*len(script)); used > limit {
			t.Errorf("%d bytes were allocated, want at most %d", used, limit)
		}
	})
}

// takeTurn runs a turn with a server in memory.
func takeTurn(t *testing.T, script []byte) {
	var server sync.WaitGroup
	defer server.Wait()
	o := options("script.test")
	o.Workload.MaxOutputTokens, o.Peaks = hostileTokens, &probe.Peaks{}
	o.Dial = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		server.Go(func() {
			defer far.Close()
			if r, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				perform(far, script)
			}
		})
		return near, nil
	}
	begin := time.Now()
	r := once(t, o)
	if !slices.Contains(probe.Outcomes(), r.Outcome) || r.Outcome.Own() {
		t.Errorf("outcome %q (%s)", r.Outcome, r.Err)
	}
	if (r.Err == "") != (r.Outcome == probe.Success) {
		t.Errorf("outcome %s with the error %q", r.Outcome, r.Err)
	}
	if took := time.Since(begin); took > o.Workload.Timeouts.Total+time.Second {
		t.Errorf("the turn took %v of virtual time", took)
	}
	if read, _ := o.Peaks.Wire.Level(); read > maxWire+64<<10 {
		t.Errorf("%v bytes were read", read)
	}
}
