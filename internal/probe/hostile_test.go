package probe_test

import (
	"io"
	"log"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"synthetic/internal/probe"
)

const (
	// hostileTokens is the token limit of requests to a hostile peer.
	hostileTokens = 128
	// maxWire is the limit of received bytes: 64 KiB, 4 KiB per token, and twice the request,
	// which has less than 1 KiB.
	maxWire = 64<<10 + hostileTokens*4<<10 + 2<<10
	// maxTaken is the limit of bytes that a peer can send, including the buffers of both kernels.
	maxTaken = maxWire + 16<<20
	// maxAllocated is the limit of allocations in a turn, including those of the peer in this
	// process.
	maxAllocated = 8 << 20
	// maxTime is far above the timeouts of a turn, because the machine may be busy.
	maxTime = 15 * time.Second
)

// TestHostileUpstreams checks, for every habit and over real TCP, that a turn ends with the
// expected outcome. Its memory, bytes and time must not depend on the peer, and it must leave no
// goroutine behind.
func TestHostileUpstreams(t *testing.T) {
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	all := append(habits(), composed()...)
	names := map[string]bool{}
	for _, d := range all {
		if names[d.name] {
			t.Errorf("two habits are called %q", d.name)
		}
		names[d.name] = true
		t.Run(d.name, func(t *testing.T) { d.endure(t) })
	}
	if len(all) < 300 {
		t.Errorf("%d habits", len(all))
	}
}

// endure runs one turn with a peer of the dialect.
func (d habit) endure(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	var wrote atomic.Int64
	addr, stop := listen(t, d, &wrote)
	o := d.options(addr)
	before := allocated()
	r := once(t, o)
	used := allocated() - before
	stop()
	if !slices.Contains(d.want, r.Outcome) {
		t.Errorf("outcome %s (%s), want one of %v", r.Outcome, r.Err, d.want)
	}
	if (r.Err == "") != (r.Outcome == probe.Success) || len(r.Err) > 400 {
		t.Errorf("outcome %s with the error %q", r.Outcome, r.Err)
	}
	if used > maxAllocated {
		t.Errorf("%d bytes were allocated, want at most %d", used, maxAllocated)
	}
	// One buffer, or one read from gzip, may exceed the limit.
	if read, _ := o.Peaks.Wire.Level(); read > maxWire+64<<10 || wrote.Load() > maxTaken {
		t.Errorf("%v bytes were read of %d written, want at most %d of %d", read, wrote.Load(), maxWire, maxTaken)
	}
	if took := r.Duration(); took > maxTime {
		t.Errorf("the turn took %v", took)
	}
	goleak.VerifyNone(t, ignore)
}

// options returns options for a turn that ends soon, unless the peer is patient.
func (d habit) options(addr string) probe.Options {
	o := options(addr)
	o.Workload.MaxOutputTokens, o.Peaks = hostileTokens, &probe.Peaks{}
	if !d.patient {
		o.Workload.Timeouts.FirstToken, o.Workload.Timeouts.Stall, o.Workload.Timeouts.Total = 150*time.Millisecond, 150*time.Millisecond, 300*time.Millisecond
		if slices.Contains(d.want, probe.Stall) {
			o.Workload.Timeouts.FirstToken, o.Workload.Timeouts.Total = 20*time.Second, 20*time.Second
		}
	}
	if d.tls {
		o.Target.BaseURL = "https://" + addr + "/v1"
	}
	return o
}

// allocated returns the bytes that this process has allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
