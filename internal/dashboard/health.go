package dashboard

import (
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
	return []panel{
		{
			view:  statView{},
			title: "Oldest heartbeat", unit: units.Seconds,
			says:  "Time since the traffic loop that has been silent longest showed a sign of life, of each prober.",
			read:  "A few seconds. The age of a loop that is stuck grows without end, and /-/ready turns red with it; decades mean that it never gave a sign.",
			act:   "When it grows, end the prober with SIGQUIT, which writes what each goroutine was doing, and restart it; its figures since then are not to be trusted.",
			width: 4, height: 6,
			levels: []level{{color: green}, {60, orange}, {300, red}},
			queries: []query{{
				expr:   "time() - " + aggregate("min", perProber(), s.series(metrics.SchedulerHeartbeat)),
				legend: proberLegend,
			}},
		},
		{
			view:  statView{texts: texts{"1": text("succeeded", green), "0": text("failed", red)}},
			title: "Last load of the configuration", unit: units.NoUnit,
			says:  "Whether each prober accepted the configuration that it read last.",
			read:  "After a failed load the prober goes on with the configuration before it.",
			act:   "When it failed, run synthetic check config on the file: it names the line and what to write instead.",
			width: 4, height: 6,
			levels: []level{{color: red}, {1, green}},
			queries: []query{{
				expr:   aggregate("min", perProber(), s.series(metrics.ConfigLastReloadSuccessful)),
				legend: proberLegend,
			}},
		},
		{
			view:  statView{},
			title: "Age of the configuration", unit: units.Seconds,
			says:  "Time since each prober last accepted a configuration.",
			read:  "Replicas that differ by more than a rollout run different configurations.",
			act:   "When one is older than the others, reload it and see whether that succeeds.",
			width: 4, height: 6,
			queries: []query{{expr: s.age(perProber(), metrics.ConfigLastReloadSuccess), legend: proberLegend}},
		},
		{
			view:  statView{},
			title: "Oldest last turns", unit: units.Seconds,
			says:  "Time since the last turn ended, whatever its outcome, of the ten targets and workloads where that is longest ago.",
			read:  "It swings between 0 and the time between two conversations. One that has had no turn yet is not listed.",
			act:   "When it exceeds several intervals, nothing is measured: see the skipped conversations and the heartbeat.",
			width: 12, height: 6,
			levels:  []level{{color: green}, {600, orange}, {3600, red}},
			empty:   "no turn yet",
			links:   toTarget(),
			queries: []query{{expr: "topk(10, " + s.age(perJob(), metrics.LastTurn) + ")", legend: jobLegend}},
		},
		{
			view:  statView{texts: texts{"1": text("read", green), "0": text("not read", red)}},
			title: "Metrics of the servers", unit: units.NoUnit,
			says:  "Whether all pages of a target's own metrics could be read last time, for each target that has server_metrics, by the prober that fares worst.",
			read:  "Read is green. A target without server_metrics is not listed.",
			act:   "When it is red, the prober's log names the page and what is wrong. What is known of speculative decoding is incomplete until then.",
			width: 12, height: 6,
			levels: []level{{color: red}, {1, green}},
			empty:  "no target has server_metrics",
			queries: []query{{
				expr:   aggregate("min", perTarget(), s.series(metrics.ServerMetricsUp)),
				legend: "{{target}}",
			}},
		},
	}
}

func schedulePanels(s scope) []panel {
	lost := s.total(perProber(), metrics.TurnsStarted) + " - " + s.total(perProber(), metrics.Turns) +
		" - " + s.total(perProber(), metrics.TurnsInFlight)
	return []panel{
		{
			title: "Conversation starts", unit: units.CountsPerMinute,
			says: "Conversations started per minute, and the configured rate as the dashed line.",
			read: "The measured line keeps near the dashed one; Poisson arrivals scatter around it. Closed-loop traffic has no configured rate.",
			act:  "When it stays below, see which reason skips conversations.",
			queries: []query{
				{expr: s.perMinute(perJob(), metrics.ConversationsStarted), legend: jobLegend},
				{expr: s.total(perJob(), metrics.TrafficRate) + " * 60", legend: plannedPrefix + jobLegend},
			},
		},
		lag(s, metrics.ScheduleLag, panel{
			title: "Schedule lag",
			says:  "How late each prober sent its turns, against its own schedule.",
			read:  "Milliseconds are good; the scale is logarithmic. Latencies are measured from sending, so a lag does not enter them, but traffic is then not what was configured.",
			act:   "When it grows, the prober is short of CPU or throttled: raise its limit or spread the targets over more probers.",
		}),
		{
			title: "In flight", unit: units.Short,
			says: "Conversations and turns in flight of each prober, at the moments of the scrapes.",
			read: "Turns are at most as many as conversations; the difference are conversations in a pause for thought.",
			act:  "A climb without end is a target that hangs, or a prober that no longer ends its turns: compare with the timeouts.",
			queries: []query{
				{expr: s.total(perProber(), metrics.ConversationsInFlight), legend: proberLegend + " conversations"},
				{expr: s.total(perProber(), metrics.TurnsInFlight), legend: proberLegend + " turns"},
			},
		},
		{
			view:  graphView{stacked: true},
			title: "Skipped by reason", unit: units.CountsPerMinute,
			says: "Conversations per minute that were due and not started, by reason, of each prober.",
			read: "It is 0 in good order: a conversation that cannot start is counted here, never started late in silence.",
			act:  "max_concurrency: raise the cap or find out why turns hang. budget: raise the token budget. late: give the prober more CPU.",
			queries: []query{{
				expr:   s.perMinute([]string{labelInstance, metrics.LabelReason}, metrics.ConversationsSkipped),
				legend: proberLegend + " {{reason}}",
			}},
		},
		{
			title: "Turns unaccounted for", unit: units.Short,
			says:    "Turns started less turns ended less turns in flight.",
			read:    "It is 0 at every scrape, by construction. Only while a restarted prober's old series linger may it differ for a moment.",
			act:     "Anything else lasting is a defect of synthetic: please report it with the prober's log.",
			queries: []query{{expr: lost, legend: proberLegend}},
		},
	}
}

func infoPanels(s scope) []panel {
	prober := column{field: labelInstance, title: "Prober"}
	return []panel{
		infoTable(s, metrics.BuildInfo, panel{
			title: "Build",
			says:  "Version of each prober.",
			read:  "One line a prober. Two versions at once are a rollout under way.",
			act:   "Name the version and revision in a report of a defect.",
		}, prober, column{field: "version", title: "Version"},
			column{field: "revision", title: "Revision"}, column{field: "goversion", title: "Go"},
			column{field: "goos", title: "System"}, column{field: "goarch", title: "Architecture"}),
		infoTable(s, metrics.TargetInfo, panel{
			title: "Targets",
			says:  "Each target's model and whether its connections are kept.",
			read:  "The model is the one that requests name, as configured or as the target's list of models has it first.",
			act:   "When the latency jumped, see whether the model changed with it.",
		}, prober, column{field: metrics.LabelTarget, title: "Target"},
			column{field: "model", title: "Model"}, column{field: "connection", title: "Connections"}),
	}
}

// infoTable lists the labels of a metric whose value is always 1.
func infoTable(s scope, metric string, p panel, columns ...column) panel {
	p.view, p.unit, p.empty = tableView{columns: columns}, units.NoUnit, "unknown"
	p.width, p.height = 12, 6
	p.queries = []query{{expr: s.series(metric), legend: proberLegend}}
	return p
}
