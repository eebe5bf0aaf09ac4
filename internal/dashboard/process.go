package dashboard

import "github.com/grafana/grafana-foundation-sdk/go/units"

func processPanels(s scope) []panel {
	return []panel{cpu(s), memory(s), goroutines(s), uptime(s)}
}

func cpu(s scope) panel {
	return panel{
		view:  graph{},
		title: "CPU",
		about: about{
			"CPU cores that each prober uses.",
			"1 is one core. It grows with the token events per second, not with the number of targets.",
			"Near the container's limit, schedule lag and read lag follow: raise the limit or spread the targets.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		queries: []query{{
			expr:   sum(perProber(), s.ofProber(over("rate", processCPU, rateWindow))),
			legend: proberLegend,
		}},
	}
}

func memory(s scope) panel {
	return panel{
		view:  graph{},
		title: "Memory",
		about: about{
			"Resident memory of each prober, and the Go heap in use.",
			"It is flat for a constant number of conversations in flight: every stream costs a fixed amount, however much the server sends.",
			"A climb at constant conversations is a leak: please report it with the version and the panels of this row.",
		},
		unit:  units.BytesIEC,
		width: 12, height: 8,
		queries: []query{
			{expr: s.ofProber(processMemory), legend: proberLegend + " resident"},
			{expr: s.ofProber(goHeap), legend: proberLegend + " heap"},
		},
	}
}

func goroutines(s scope) panel {
	return panel{
		view:  graph{},
		title: "Goroutines and open files",
		about: about{
			"Goroutines and open file descriptors of each prober.",
			"Both follow the conversations in flight and come back when those end.",
			"A climb while conversations stay the same is a leak of goroutines or connections: end the prober with SIGQUIT, which writes what each goroutine was doing, and please report that.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		queries: []query{
			{expr: s.ofProber(goGoroutines), legend: proberLegend + " goroutines"},
			{expr: s.ofProber(processFDs), legend: proberLegend + " open files"},
		},
	}
}

func uptime(s scope) panel {
	return panel{
		view:  graph{},
		title: "Uptime",
		about: about{
			"Time since each prober started.",
			"A saw tooth is a prober that restarts. Its counters restart too, which rates and increases allow for.",
			"When it restarts again and again, see the reason in its container's last state: a kill for memory or a failed liveness probe.",
		},
		unit:  units.Seconds,
		width: 12, height: 8,
		queries: []query{{
			expr:   "time() - (" + s.ofProber(processStart) + ")",
			legend: proberLegend,
		}},
	}
}
