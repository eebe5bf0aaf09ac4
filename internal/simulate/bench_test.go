package simulate

import (
	"strconv"
	"testing"
	"time"

	"synthetic/internal/simulate/cluster"
)

// BenchmarkLoad measures how much faster than real time a cluster with a load and metrics runs.
func BenchmarkLoad(b *testing.B) {
	for _, concurrency := range []int{40, 60, 160} {
		b.Run(strconv.Itoa(concurrency), func(b *testing.B) {
			c, err := cluster.Preset("trtllm-kv")
			if err != nil {
				b.Fatal(err)
			}
			o := Options{Cluster: &c, Load: Load{Concurrency: concurrency}}.withDefaults()
			d := o.start(c, time.Now())
			d.cluster.Advance(2*time.Minute, d.handle)
			b.ResetTimer()
			for range b.N {
				d.cluster.Advance(d.cluster.Now()+time.Second, d.handle)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "x-real-time")
		})
	}
}
