package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
)

func measurementPanels(s scope) []panel {
	return []panel{
		lag(s, metrics.ReadLag, panel{
			title: "Read lag",
			says:  "The largest delay of a turn between the arrival of a token's bytes and the prober's look at them.",
			read:  "The scale is logarithmic. The kernel's timestamps leave the latencies true whatever the lag. Where the kernel gives none the lag is unknown, the panel is empty, and the lag is in the latencies.",
			act:   "Above a few milliseconds, give the prober more CPU: it is about to become late in sending, too.",
		}),
		{
			title: "Coalesced share of events", unit: units.PercentUnit,
			says:    "Share of the token events that arrived in one read with an earlier event, and so share its timestamp.",
			read:    "Near 0 % each event has its own time. Such gaps are 0 by measurement, which pulls the low quantiles of the ITL down; TTFT and TPOT hardly change.",
			act:     "A high share is a proxy that buffers or a server that flushes several tokens at once; if the read lag is high with it, it is the prober.",
			links:   toTarget(),
			queries: []query{{expr: s.share(perJob(), metrics.CoalescedEvents, metrics.TokenEvents), legend: jobLegend}},
		},
		{
			title: "Share of turns without usage", unit: units.PercentUnit,
			says:    "Share of the turns that got tokens but no usage from the server.",
			read:    "Their output tokens are the number of events, an estimate, and TPOT stands on it. Their cached tokens are unknown.",
			act:     "If it is not 0 %, see whether the server or a proxy drops stream_options.include_usage.",
			links:   toTarget(),
			queries: []query{{expr: s.share(perJob(), metrics.UsageMissing, metrics.Turns), legend: jobLegend}},
		},
		{
			view:  statView{names: true},
			title: "Timestamp source", unit: units.NoUnit,
			says: "Where each prober takes the time of an event from.",
			read: "kernel: the time at which the bytes reached the host, whatever the prober was busy with. read: the time at which the prober read them.",
			act:  "With read, keep the prober's CPU free and watch the schedule lag; some sandboxes and systems other than Linux have no kernel timestamps.",
			queries: []query{{
				expr:   s.gauge([]string{labelInstance, "source"}, metrics.TimestampSourceInfo),
				legend: proberLegend + ": {{source}}",
			}},
		},
	}
}

// lag shows a delay of the prober itself, by prober: targets and workloads may
// be put together.
func lag(s scope, metric string, p panel) panel {
	p.view, p.unit = graphView{logarithmic: true}, units.Seconds
	for _, q := range quantiles() {
		p.queries = append(p.queries, query{
			expr: s.quantile(q, perProber(), metric), legend: proberLegend + " " + metrics.Statistic(q),
		})
	}
	return p
}

func processPanels(s scope) []panel {
	return []panel{
		{
			title: "CPU", unit: units.Short,
			says: "CPU cores that each prober uses.",
			read: "1 is one core. It grows with the token events per second, not with the number of targets.",
			act:  "Near the container's limit, schedule lag and read lag follow: raise the limit or spread the targets.",
			queries: []query{{
				expr:   sum(perProber(), s.ofProber(over("rate", processCPU, rateWindow))),
				legend: proberLegend,
			}},
		},
		{
			title: "Memory", unit: units.BytesIEC,
			says: "Resident memory of each prober, and the Go heap in use.",
			read: "It is flat for a constant number of conversations in flight: every stream costs a fixed amount, however much the server sends.",
			act:  "A climb at constant conversations is a leak: please report it with the version and the panels of this row.",
			queries: []query{
				{expr: s.ofProber(processMemory), legend: proberLegend + " resident"},
				{expr: s.ofProber(goHeap), legend: proberLegend + " heap"},
			},
		},
		{
			title: "Goroutines and open files", unit: units.Short,
			says: "Goroutines and open file descriptors of each prober.",
			read: "Both follow the conversations in flight and come back when those end.",
			act:  "A climb while conversations stay the same is a leak of goroutines or connections: end the prober with SIGQUIT, which writes what each goroutine was doing, and please report that.",
			queries: []query{
				{expr: s.ofProber(goGoroutines), legend: proberLegend + " goroutines"},
				{expr: s.ofProber(processFDs), legend: proberLegend + " open files"},
			},
		},
		{
			title: "Uptime", unit: units.Seconds,
			says:    "Time since each prober started.",
			read:    "A saw tooth is a prober that restarts. Its counters restart too, which rates and increases allow for.",
			act:     "When it restarts again and again, see the reason in its container's last state: a kill for memory or a failed liveness probe.",
			queries: []query{{expr: "time() - (" + s.ofProber(processStart) + ")", legend: proberLegend}},
		},
	}
}
