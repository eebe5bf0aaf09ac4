package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
)

// proberHealth answers: can the other two dashboards be believed?
func proberHealth() board {
	s := proberScope()
	return board{
		file:  "prober-health.json",
		uid:   HealthUID,
		title: "Synthetic / Prober health",
		about: "Can the measurements be believed? Signs of life of the probers, their lags, their timestamps and what they cost.",
		rows: []row{
			{title: "Signs of life", panels: lifePanels(s)},
			{title: "Schedule", panels: schedulePanels(s)},
			{title: "Measurement", panels: measurementPanels(s)},
			{title: "Process", panels: processPanels(s)},
			{title: "What runs", panels: infoPanels(s)},
		},
		perProber: true,
	}
}

// perProber groups by the scraped process.
func perProber() []string { return []string{labelInstance} }

const proberLegend = "{{instance}}"

func lifePanels(s scope) []panel {
	return []panel{heartbeat(s), reload(s), reloadAge(s), lastTurns(s), serverMetrics(s)}
}

func heartbeat(s scope) panel {
	return panel{
		view:  big{decimals: 0},
		title: "Oldest heartbeat",
		about: about{
			"Time since the traffic loop that has been silent longest showed a sign of life, of each prober.",
			"A few seconds. The age of a loop that is stuck grows without end, and /-/ready turns red with it; decades mean that it never gave a sign.",
			"When it grows, end the prober with SIGQUIT, which writes what each goroutine was doing, and restart it; its figures since then are not to be trusted.",
		},
		unit:  units.Seconds,
		width: 4, height: 6,
		levels: []level{{color: green}, {60, orange}, {300, red}},
		queries: []query{{
			expr:   "time() - " + aggregate("min", perProber(), s.series(metrics.SchedulerHeartbeat)),
			legend: proberLegend, instant: true,
		}},
	}
}

func lastTurns(s scope) panel {
	return panel{
		view:  big{decimals: 0},
		title: "Oldest last turns",
		about: about{
			"Time since the last turn ended, whatever its outcome, of the ten targets and workloads where that is longest ago.",
			"It swings between 0 and the time between two conversations. One that has had no turn yet is not listed.",
			"When it exceeds several intervals, nothing is measured: see the skipped conversations and the heartbeat.",
		},
		unit:  units.Seconds,
		width: 12, height: 6,
		levels: []level{{color: green}, {600, orange}, {3600, red}},
		empty:  "no turn yet",
		links:  toTarget(),
		queries: []query{{
			expr:   "topk(10, " + s.age(perJob(), metrics.LastTurn) + ")",
			legend: jobLegend, instant: true,
		}},
	}
}

func reload(s scope) panel {
	return panel{
		view: big{texts: words(map[string]word{
			"1": {"succeeded", green}, "0": {"failed", red},
		})},
		title: "Last load of the configuration",
		about: about{
			"Whether each prober accepted the configuration that it read last.",
			"After a failed load the prober goes on with the configuration before it.",
			"When it failed, run synthetic check config on the file: it names the line and what to write instead.",
		},
		unit:  units.NoUnit,
		width: 4, height: 6,
		levels: []level{{color: red}, {1, green}},
		queries: []query{{
			expr:   aggregate("min", perProber(), s.series(metrics.ConfigLastReloadSuccessful)),
			legend: proberLegend, instant: true,
		}},
	}
}

func reloadAge(s scope) panel {
	return panel{
		view:  big{decimals: 0},
		title: "Age of the configuration",
		about: about{
			"Time since each prober last accepted a configuration.",
			"Replicas that differ by more than a rollout run different configurations.",
			"When one is older than the others, reload it and see whether that succeeds.",
		},
		unit:  units.Seconds,
		width: 4, height: 6,
		queries: []query{{expr: s.age(perProber(), metrics.ConfigLastReloadSuccess), legend: proberLegend, instant: true}},
	}
}

func schedulePanels(s scope) []panel {
	return []panel{startRate(s), lag(s, scheduleLag()), inFlight(s), skippedByReason(s), accounting(s)}
}

func startRate(s scope) panel {
	return panel{
		view:  graph{},
		title: "Conversation starts",
		about: about{
			"Conversations started per minute, and the configured rate as the dashed line.",
			"The measured line keeps near the dashed one; Poisson arrivals scatter around it. Closed-loop traffic has no configured rate.",
			"When it stays below, see which reason skips conversations.",
		},
		unit:  units.CountsPerMinute,
		width: 12, height: 8,
		queries: []query{
			{expr: s.perMinute(perJob(), metrics.ConversationsStarted), legend: jobLegend},
			{expr: s.total(perJob(), metrics.TrafficRate) + " * 60", legend: plannedPrefix + jobLegend},
		},
	}
}

func inFlight(s scope) panel {
	return panel{
		view:  graph{},
		title: "In flight",
		about: about{
			"Conversations and turns in flight of each prober, at the moments of the scrapes.",
			"Turns are at most as many as conversations; the difference are conversations in a pause for thought.",
			"A climb without end is a target that hangs, or a prober that no longer ends its turns: compare with the timeouts.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		queries: []query{
			{expr: s.total(perProber(), metrics.ConversationsInFlight), legend: proberLegend + " conversations"},
			{expr: s.total(perProber(), metrics.TurnsInFlight), legend: proberLegend + " turns"},
		},
	}
}

func skippedByReason(s scope) panel {
	return panel{
		view:  graph{stacked: true},
		title: "Skipped by reason",
		about: about{
			"Conversations per minute that were due and not started, by reason, of each prober.",
			"It is 0 in good order: a conversation that cannot start is counted here, never started late in silence.",
			"max_concurrency: raise the cap or find out why turns hang. budget: raise the token budget. late: give the prober more CPU.",
		},
		unit:  units.CountsPerMinute,
		width: 12, height: 8,
		queries: []query{{
			expr:   s.perMinute([]string{labelInstance, metrics.LabelReason}, metrics.ConversationsSkipped),
			legend: proberLegend + " {{reason}}",
		}},
	}
}

func accounting(s scope) panel {
	lost := s.total(perProber(), metrics.TurnsStarted) + " - " + s.total(perProber(), metrics.Turns) +
		" - " + s.total(perProber(), metrics.TurnsInFlight)
	return panel{
		view:  graph{},
		title: "Turns unaccounted for",
		about: about{
			"Turns started less turns ended less turns in flight.",
			"It is 0 at every scrape, by construction. Only while a restarted prober's old series linger may it differ for a moment.",
			"Anything else lasting is a defect of synthetic: please report it with the prober's log.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		queries: []query{{expr: lost, legend: proberLegend}},
	}
}

func infoPanels(s scope) []panel {
	return []panel{
		infoTable(s, "Build", metrics.BuildInfo, about{
			"Version of each prober.",
			"One line a prober. Two versions at once are a rollout under way.",
			"Name the version and revision in a report of a defect.",
		}, column{field: labelInstance, title: "Prober"}, column{field: "version", title: "Version"},
			column{field: "revision", title: "Revision"}, column{field: "goversion", title: "Go"},
			column{field: "goos", title: "System"}, column{field: "goarch", title: "Architecture"}),
		infoTable(s, "Targets", metrics.TargetInfo, about{
			"Each target's model and whether its connections are kept.",
			"The model is the one that requests name, as configured or as the target's list of models has it first.",
			"When the latency jumped, see whether the model changed with it.",
		}, column{field: labelInstance, title: "Prober"}, column{field: metrics.LabelTarget, title: "Target"},
			column{field: "model", title: "Model"}, column{field: "connection", title: "Connections"}),
	}
}

// infoTable lists the labels of a metric whose value is always 1.
func infoTable(s scope, title, metric string, a about, columns ...column) panel {
	return panel{
		view:  grid{columns: columns},
		title: title,
		about: a,
		unit:  units.NoUnit,
		width: 12, height: 6,
		empty: "unknown",
		queries: []query{{
			expr: s.series(metric), legend: proberLegend, instant: true, format: prometheus.PromQueryFormatTable,
		}},
	}
}
