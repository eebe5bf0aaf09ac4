package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
)

func measurementPanels(s scope) []panel {
	return []panel{lag(s, readLag()), coalesced(s), usageMissing(s), timestampSource(s)}
}

// proberLag is a delay of the prober itself.
type proberLag struct {
	title, metric string
	about         about
}

func scheduleLag() proberLag {
	return proberLag{"Schedule lag", metrics.ScheduleLag, about{
		"How late each prober sent its turns, against its own schedule.",
		"Milliseconds are good; the scale is logarithmic. Latencies are measured from sending, so a lag does not enter them, but traffic is then not what was configured.",
		"When it grows, the prober is short of CPU or throttled: raise its limit or spread the targets over more probers.",
	}}
}

func readLag() proberLag {
	return proberLag{"Read lag", metrics.ReadLag, about{
		"The largest delay of a turn between the arrival of a token's bytes and the prober's look at them.",
		"The scale is logarithmic. The kernel's timestamps leave the latencies true whatever the lag. Where the kernel gives none the lag is unknown, the panel is empty, and the lag is in the latencies.",
		"Above a few milliseconds, give the prober more CPU: it is about to become late in sending, too.",
	}}
}

// lag shows a delay by prober: it is the prober's own, so targets and
// workloads may be put together.
func lag(s scope, l proberLag) panel {
	p := panel{
		view:  graph{logarithmic: true},
		title: l.title,
		about: l.about,
		unit:  units.Seconds,
		width: 12, height: 8,
	}
	for _, q := range quantiles() {
		p.queries = append(p.queries, query{
			expr: s.quantile(q.q, perProber(), l.metric), legend: proberLegend + " " + q.name,
		})
	}
	return p
}

func coalesced(s scope) panel {
	return panel{
		view:  graph{},
		title: "Coalesced share of events",
		about: about{
			"Share of the token events that arrived in one read with an earlier event, and so share its timestamp.",
			"Near 0 % each event has its own time. Such gaps are 0 by measurement, which pulls the low quantiles of the ITL down; TTFT and TPOT hardly change.",
			"A high share is a proxy that buffers or a server that flushes several tokens at once; if the read lag is high with it, it is the prober.",
		},
		unit:  units.PercentUnit,
		width: 12, height: 8,
		links:   toTarget(),
		queries: []query{{expr: s.share(perJob(), metrics.CoalescedEvents, metrics.TokenEvents), legend: jobLegend}},
	}
}

func usageMissing(s scope) panel {
	return panel{
		view:  graph{},
		title: "Share of turns without usage",
		about: about{
			"Share of the turns that got tokens but no usage from the server.",
			"Their output tokens are the number of events, an estimate, and TPOT stands on it. Their cached tokens are unknown.",
			"If it is not 0 %, see whether the server or a proxy drops stream_options.include_usage.",
		},
		unit:  units.PercentUnit,
		width: 12, height: 8,
		links:   toTarget(),
		queries: []query{{expr: s.share(perJob(), metrics.UsageMissing, metrics.Turns), legend: jobLegend}},
	}
}

func timestampSource(s scope) panel {
	return panel{
		view:  big{names: true},
		title: "Timestamp source",
		about: about{
			"Where each prober takes the time of an event from.",
			"kernel: the time at which the bytes reached the host, whatever the prober was busy with. read: the time at which the prober read them.",
			"With read, keep the prober's CPU free and watch the schedule lag; some sandboxes and systems other than Linux have no kernel timestamps.",
		},
		unit:  units.NoUnit,
		width: 12, height: 8,
		queries: []query{{
			expr:   s.gauge([]string{labelInstance, "source"}, metrics.TimestampSourceInfo),
			legend: proberLegend + ": {{source}}", instant: true,
		}},
	}
}
