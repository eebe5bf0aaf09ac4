//go:build unix

package probe_test

import (
	"syscall"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// BenchmarkCost measures the constants of the pacer: the CPU time of the whole process per byte
// that a target sends, and, for the last dialect, per read.
func BenchmarkCost(b *testing.B) {
	for _, d := range neighbours()[1:] {
		b.Run(d.name, func(b *testing.B) {
			o := options(neighbour(b, d.name))
			o.Peaks, o.Workload.Timeouts.FirstToken = &probe.Peaks{}, 2*time.Second
			p, err := probe.New(o)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			begin, turns := cpuTime(b), 0
			for b.Loop() {
				chat(b.Context(), b, p)
				turns++
			}
			bytes, _ := o.Peaks.Wire.Level() // about the same for each turn
			b.ReportMetric(float64(cpuTime(b)-begin)/bytes/float64(turns), "cpu-ns/B")
		})
	}
}

// cpuTime returns the CPU time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
