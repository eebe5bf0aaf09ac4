package sidecar

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/probe"
)

var (
	fleetFlag = flag.Int("fleet", 0, "how many targets TestMemoryOfAFleet feeds; 0 skips it")
	hoursFlag = flag.Int("hours", 24, "how many hours TestMemoryOfAFleet feeds")
	ownerFlag = flag.Bool("owners", false, "TestMemoryOfAFleet prints which code allocated the live heap, which takes more CPU")
)

// TestMemoryOfAFleet passes the turns of some targets at the defaults to all sinks of a sidecar, in virtual time: a
// conversation of two turns a minute and target. It scrapes every ten minutes, and prints the memory each six hours.
// Connections, requests and the loops of the jobs are not in it.
func TestMemoryOfAFleet(t *testing.T) {
	if *fleetFlag == 0 {
		t.Skip("it takes minutes of CPU; -fleet 1000 runs it")
	}
	if *ownerFlag {
		runtime.MemProfileRate = 1024
	}
	debug.SetGCPercent(25) // as run sets it while much is alive and little is allocated
	began := heapNow()
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(t, *fleetFlag)
		for minute := range 60 * *hoursFlag {
			f.minute(t)
			if minute%10 == 9 {
				f.scrape(t)
			}
			if done := minute + 1; done%360 == 0 || done == 60 || done == 60**hoursFlag {
				t.Logf("after %4.1f h: %s, %.1f kB of live heap a target", float64(done)/60, residentNow(t), float64(heapNow()-began)/1000/float64(*fleetFlag))
			}
		}
		if *ownerFlag {
			t.Log(owners(*fleetFlag))
		}
		runtime.KeepAlive(f)
	})
}

// feed is a sidecar with some targets, whose turns come from a generator instead of a network.
type feed struct {
	*Sidecar
	rng    *rand.Rand
	pages  http.Handler
	number int
}

func newFeed(t *testing.T, targets int) *feed {
	var text strings.Builder
	text.WriteString("targets:\n")
	for i := range targets {
		fmt.Fprintf(&text, "  - {name: deployment-%03d, base_url: 'http://10.0.%d.%d:8000/v1', model: llama-3.1-8b-instruct}\n", i, i/250, i%250)
	}
	cfg, err := config.Parse("synthetic.yml", []byte(text.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Replica: "prober"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, r := range s.Routes() {
		mux.Handle(r.Pattern, r.handler)
	}
	return &feed{Sidecar: s, rng: rand.New(rand.NewPCG(1, 2)), pages: mux}
}

// minute lets each target have a conversation of two turns, and a minute pass.
func (f *feed) minute(t *testing.T) {
	for i, j := range f.written.Jobs {
		if i%max(1, len(f.written.Jobs)/60) == 0 {
			time.Sleep(time.Minute / time.Duration(min(60, len(f.written.Jobs))))
		}
		f.number++
		f.converse(j.Target.Name, j.Workload.Name, j.Target.Model, fmt.Sprint("c", f.number))
	}
}

func (f *feed) converse(target, workload, model, id string) {
	now, trace := time.Now(), fmt.Sprintf("%016x%016x", f.rng.Uint64(), f.rng.Uint64())
	f.sinks.Observe(probe.ConversationStart{Target: target, Workload: workload})
	for k, kind := range probe.TurnKinds() {
		f.sinks.Observe(probe.Start{Target: target, Workload: workload, Kind: kind})
		f.sinks.Observe(f.turn(probe.Result{
			Target: target, Workload: workload, Kind: kind, Sent: now.Add(time.Millisecond / 5),
			Asked: probe.Asked{Model: model, Conversation: id, Turn: k + 1, TraceID: trace, SpanID: fmt.Sprintf("%016x", f.rng.Uint64()), Scheduled: now},
		}))
	}
	f.sinks.Observe(probe.Conversation{
		Target: target, Workload: workload, ID: id, TraceID: trace, Scheduled: now, End: now.Add(3 * time.Second),
		Outcome: probe.Success, Turns: 2,
	})
}

// turn fills in a turn. One of 2,000 fails.
func (f *feed) turn(r probe.Result) probe.Result {
	around := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * math.Exp(f.rng.NormFloat64()/4))
	}
	ttft, gap, tokens := around(400*time.Millisecond/time.Duration(r.Turn)), around(20*time.Millisecond), 20+f.rng.IntN(100)
	r.Phases = probe.Phases{Headers: probe.Some(ttft - time.Millisecond), FirstEvent: probe.Some(ttft), Reused: r.Turn > 1}
	if r.Turn == 1 {
		r.Phases.Connect = probe.Some(around(time.Millisecond))
	}
	r.PromptTokens, r.CachedTokens = probe.Some(200*r.Turn+f.rng.IntN(100)), probe.Some(150*r.Turn)
	r.Kernel, r.Lag, r.StreamLag, r.ReadLagMax = true, time.Millisecond, time.Millisecond, 20*time.Microsecond
	if f.rng.IntN(2000) == 0 {
		r.Outcome, r.Status, r.Err, r.End = probe.HTTP5xx, 503, strings.Repeat("the server is overloaded ", 4), r.Sent.Add(ttft)
		return r
	}
	for range tokens - 1 {
		r.Gaps = append(r.Gaps, around(gap))
	}
	r.Outcome, r.Status, r.FinishReason, r.Events = probe.Success, 200, "stop", tokens
	r.TTFT, r.AnswerTTFT, r.TPOT, r.OutputTokens = probe.Some(ttft), probe.Some(ttft), probe.Some(gap), probe.Some(tokens)
	r.Answer, r.End = strings.Repeat("word ", tokens), r.Sent.Add(ttft+time.Duration(tokens)*gap)
	return r
}

// scrape reads /metrics as a Prometheus does.
func (f *feed) scrape(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	if f.pages.ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Fatalf("a scrape answers %d: %.200s", w.Code, w.Body)
	}
}

func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the first one moves the content of pools, the second one frees it
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// residentNow returns the resident memory of the process and its peak; "" where the kernel does not tell.
func residentNow(t *testing.T) string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); slices.Contains([]string{"VmHWM", "VmRSS", "RssAnon", "RssFile"}, name) {
			found = append(found, name+" "+strings.TrimSpace(value))
		}
	}
	return strings.Join(found, ", ")
}

// owners lists the code that allocated the live heap: the innermost function of this module in each stack.
func owners(targets int) string {
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 100_000)
	n, ok := runtime.MemProfile(records, false)
	if !ok {
		return fmt.Sprint(n, " records are too many")
	}
	held := map[string]float64{}
	for _, r := range records[:n] {
		size := float64(r.InUseBytes()) / float64(r.InUseObjects())
		held[ownerOf(r.Stack())] += float64(r.InUseBytes()) / (1 - math.Exp(-size/float64(runtime.MemProfileRate)))
	}
	names := slices.SortedFunc(maps.Keys(held), func(a, b string) int { return cmp.Compare(held[b], held[a]) })
	var out strings.Builder
	for _, name := range names {
		if kB := held[name] / 1000 / float64(targets); kB >= 0.05 {
			fmt.Fprintf(&out, "\n%8.2f kB a target: %s", kB, name)
		}
	}
	return out.String()
}

func ownerOf(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		if name, ok := strings.CutPrefix(frame.Function, "synthetic/internal/"); ok {
			return name + fmt.Sprintf(":%d", frame.Line)
		}
		if !more {
			return "others"
		}
	}
}
