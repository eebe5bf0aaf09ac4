package load

import (
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

// TestMemoryIsABudgetOfTheProcess checks that all jobs together stay within the memory budget,
// that starts beyond it are skipped with that reason, and that all memory is released.
func TestMemoryIsABudgetOfTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := job("a").Workload
		text := []workload.Message{{Role: "user", Content: string(make([]byte, 400))}} // above an opening of 20 tokens
		budget := bound.NewBudget(5 * probe.Cost(&spec, text))
		b := runWith(t, &deployment{turn: 3 * time.Second}, 0, func(o *Options) { o.Memory = budget }, job("a"), job("b", closed(10)))
		time.Sleep(time.Minute)
		b.stop()
		if n := b.book.maxInFlight; n != 5 {
			t.Errorf("%d conversations were in flight, where the memory is for 5", n)
		}
		if b.book.skips[probe.SkipMemory] == 0 {
			t.Errorf("skipped: %v", b.book.skips)
		}
		if used, _ := budget.Level(); used != 0 {
			t.Errorf("%v bytes are reserved at the end", used)
		}
	})
}

// TestTokensRefusedKeepNoMemory checks that a start skipped for the token budget releases its
// memory.
func TestTokensRefusedKeepNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := bound.NewBudget(1 << 30)
		b := runWith(t, &deployment{turn: time.Second}, 0, func(o *Options) { o.Memory = budget },
			job("a", func(j *probe.Job) { j.Traffic.Budget = workload.TokenBudget{Tokens: 1000, Per: time.Minute} }))
		time.Sleep(time.Minute)
		b.stop()
		if used, _ := budget.Level(); used != 0 || b.book.skips[probe.SkipBudget] == 0 {
			t.Errorf("%v bytes are reserved at the end; skipped: %v", used, b.book.skips)
		}
	})
}
