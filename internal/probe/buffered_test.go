package probe_test

import (
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/simulate"
)

// handle serves a handler over TCP until the test ends, and returns its address.
func handle(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(simulate.Serve(l, h))
	return l.Addr().String()
}

// buffering is a proxy that forwards an answer in pieces of buffer bytes.
func buffering(t *testing.T, backend string, buffer int) string {
	return handle(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Scheme, r.URL.Host, r.RequestURI = "http", backend, ""
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		held := make([]byte, buffer)
		for err == nil {
			var n int
			n, err = io.ReadFull(resp.Body, held)
			_, _ = w.Write(held[:n])
			_ = http.NewResponseController(w).Flush()
		}
	}))
}

// paced is a server that answers with tokens at intervals.
func paced(t *testing.T, tokens int) string {
	return handle(t, simulate.New(simulate.Options{
		Model: "m", FirstToken: simulate.Delay{Median: 10 * time.Millisecond}, InterToken: simulate.Delay{Median: 4 * time.Millisecond},
		Answer: simulate.Length{Median: tokens},
	}))
}

// TestBufferingProxy checks that turns through a buffering proxy have no TPOT and no gaps. Turns
// that a busy machine reads late do not count, so only some turn out of many must be detected.
func TestBufferingProxy(t *testing.T) {
	backend := paced(t, 100)
	for name, buffer := range map[string]int{"whole answers": 1 << 20, "pages of 8 kB": 8 << 10} {
		t.Run(name, func(t *testing.T) {
			addr := buffering(t, backend, buffer)
			for range 20 {
				r := once(t, options(addr))
				if r.Outcome != probe.Success || !r.TTFT.OK || r.OutputTokens.V != 100 {
					t.Fatalf("outcome %s (%s), TTFT %v, %v tokens", r.Outcome, r.Err, r.TTFT, r.OutputTokens)
				}
				if r.Buffered {
					if r.TPOT.OK || len(r.Gaps) > 0 {
						t.Errorf("TPOT %v and %d gaps of a buffered turn", r.TPOT, len(r.Gaps))
					}
					return
				}
			}
			t.Error("no turn is known as buffered")
		})
	}
}

// TestNotBuffered checks streams with several tokens per event, and answers that are too short to
// decide.
func TestNotBuffered(t *testing.T) {
	drafter := func(name string) string {
		o, err := simulate.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		o.Model = "m"
		return handle(t, simulate.New(o))
	}
	short := buffering(t, paced(t, 12), 1<<20)
	for name, addr := range map[string]string{
		"token by token": paced(t, 40), "eagle3": drafter("eagle3"), "bench-eagle3": drafter("bench-eagle3"), "short answers": short,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(addr)
			o.Workload.MaxOutputTokens = 120
			r := once(t, o)
			together := name == "short answers" // so their gaps are those of the proxy
			if r.Outcome != probe.Success || r.Buffered || r.TPOT.OK == together || len(r.Gaps) == 0 != together {
				t.Errorf("outcome %s (%s), buffered %v, TPOT %v, %d gaps", r.Outcome, r.Err, r.Buffered, r.TPOT, len(r.Gaps))
			}
		})
	}
}

// TestOurOwnLateReading checks that late reading by the prober does not count as a buffering proxy.
func TestOurOwnLateReading(t *testing.T) {
	s := play(t, &scripted{steps: []step{{0, closeHead + strings.Repeat(hello, 40) + finish + done}}})
	o := options(s.addr)
	o.Lag = late{longest: lasting(300 * time.Millisecond), lost: lasting(300 * time.Millisecond)}
	if r := once(t, o); r.Buffered || r.TPOT.OK || len(r.Gaps) > 0 {
		t.Errorf("buffered %v, TPOT %v, %d gaps", r.Buffered, r.TPOT, len(r.Gaps))
	}
}

// TestFewAtATime checks that a server or a kernel that joins a few events does not count as a buffer.
func TestFewAtATime(t *testing.T) {
	few := slices.Repeat([]time.Duration{5 * time.Millisecond, 0, 0, 0, 0}, 8)
	if r := probe.Arrive(5*time.Millisecond, 0, few[1:]); r.Events != 40 || r.Buffered || !r.TPOT.OK {
		t.Errorf("%d events, buffered %v, TPOT %v", r.Events, r.Buffered, r.TPOT)
	}
}

// TestTPOTIsNeverZero lets tokens arrive at random times, many of them together, read by a prober
// that is on time or late. No turn may have a TPOT of 0, nor one below the gaps of a fast server.
func TestTPOTIsNeverZero(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		pause := []time.Duration{0, 0, time.Nanosecond, 50 * time.Microsecond, 5 * time.Millisecond}
		var steps []time.Duration
		for range random.IntN(40) {
			steps = append(steps, pause[random.IntN(len(pause))])
		}
		if random.IntN(4) == 0 {
			clear(steps) // one arrival for all
		}
		late := time.Duration(random.IntN(2)) * time.Second
		r := probe.Arrive(300*time.Millisecond, late, steps)
		if r.TPOT.OK && r.TPOT.V <= 0 || !r.TPOT.OK && len(r.Gaps) > 0 && slices.Max(r.Gaps) > time.Millisecond {
			t.Fatalf("gaps %v, read %v late: TPOT %v, gaps kept %v", steps, late, r.TPOT, r.Gaps)
		}
		if together := len(steps) > 0 && slices.Max(steps) == 0; together && (len(r.Gaps) > 0 || r.Buffered != (late == 0 && len(steps) >= 15)) {
			t.Fatalf("%d tokens at once, read %v late: %d gaps, buffered %v", len(steps)+1, late, len(r.Gaps), r.Buffered)
		}
	}
}
