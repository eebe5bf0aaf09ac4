package rules

import (
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// staleHeartbeat is how old a traffic loop's sign of life may be.
const staleHeartbeat = 2 * time.Minute

// proberRules are the alerts on the probers themselves: when they stop, the
// silence must not be taken for health.
func (in Input) proberRules() []rulefmt.Rule {
	alerts := append([]alert{noProber()}, in.proberSilent()...)
	alerts = append(alerts, schedulerStuck(), reloadFailed(), proberLagging("schedule", metrics.ScheduleLag, 0.1), proberLagging("read", metrics.ReadLag, 0.05))
	alerts = append(alerts, in.conversationsSkipped()...)
	alerts = append(alerts, usageMissing())
	return in.rules(append(alerts, in.outdated()...)...)
}

// handover keeps an alert on lost data while the next one, which may have to
// take over, still waits: a prober that comes back need not probe, and one that
// does not probe may die.
const handover = 10 * time.Minute

// noProber fires when not one prober is scraped.
func noProber() alert {
	return alert{
		name: AlertProberSilent, severity: slo.Page, wait: 5 * time.Minute, keep: handover,
		labels:      map[string]string{labelScope: "fleet"},
		expr:        fmt.Sprintf("absent(%s)", metrics.BuildInfo),
		summary:     "No synthetic prober is scraped",
		description: "Prometheus has had no sample of any synthetic process for 5m. No deployment is watched; every other alert of synthetic is blind.",
		dashboard:   dashboardHealth,
	}
}

// proberSilent fires when a prober answers scrapes and yet ends no turns.
func (in Input) proberSilent() []alert {
	var alerts []alert
	for _, g := range partition(in.Jobs, Job.silence) {
		alerts = append(alerts, alert{
			name: AlertProberSilent, severity: slo.Page, wait: 2 * time.Minute, keep: handover,
			labels:      map[string]string{labelScope: "job"},
			expr:        age(perJob(), g.matchers, g.key),
			summary:     "{{ $labels.target }}/{{ $labels.workload }}: no turn ended for {{ $value | humanizeDuration }}",
			description: fmt.Sprintf("The last turn ended {{ $value | humanizeDuration }} ago; at the configured rate, silence of more than %s is a fault of the prober.", slo.Short(g.key)),
			dashboard:   dashboardHealth,
		})
	}
	return alerts
}

// age is the time since the last turn of any replica, where it is over limit.
func age(by []string, m matchers, limit time.Duration) string {
	return fmt.Sprintf("time() - %s > %s", maxBy(by, m.on(metrics.LastTurn)+" > 0"), num(limit.Seconds()))
}

// schedulerStuck keeps the instance: one replica may hang while another works.
func schedulerStuck() alert {
	return alert{
		name: AlertSchedulerStuck, severity: slo.Ticket, wait: 2 * time.Minute,
		expr:        fmt.Sprintf("time() - %s > %s", metrics.SchedulerHeartbeat, num(staleHeartbeat.Seconds())),
		summary:     "{{ $labels.instance }}: the traffic loop of {{ $labels.target }}/{{ $labels.workload }} is stuck",
		description: "The loop gave its last sign of life {{ $value | humanizeDuration }} ago. It starts no conversations; /-/ready should say so too.",
		dashboard:   dashboardHealth,
	}
}

func reloadFailed() alert {
	return alert{
		name: AlertConfigReloadFailed, severity: slo.Ticket, wait: 5 * time.Minute,
		expr:        metrics.ConfigLastReloadSuccessful + " == 0",
		summary:     "{{ $labels.instance }}: the configuration could not be reloaded",
		description: "The prober goes on with the configuration before; the new one is not in force. Its log names file, line and field.",
		dashboard:   dashboardHealth,
	}
}

// proberLagging says that the prober itself distorts what it measures.
func proberLagging(lag, metric string, limit float64) alert {
	const window = 15 * time.Minute
	return alert{
		name: AlertProberLagging, severity: slo.Ticket, wait: 10 * time.Minute,
		labels:      map[string]string{labelLag: lag},
		expr:        matchers{}.quantile(0.95, []string{labelInstance}, metric, window) + " > " + num(limit),
		summary:     "{{ $labels.instance }}: the prober's own {{ $labels.lag }} lag is {{ $value | humanizeDuration }}",
		description: fmt.Sprintf("The p95 of the %s lag over %s is {{ $value | humanizeDuration }}, more than %ss: the prober is short of CPU, or traffic is set too high for it.", lag, slo.Short(window), num(limit)),
		dashboard:   dashboardHealth,
	}
}

// conversationsSkipped fires when the traffic is not what was configured.
func (in Input) conversationsSkipped() []alert {
	var alerts []alert
	for _, g := range in.byWindow() {
		byReason := g.matchers.increase(append(perJob(), metrics.LabelReason), metrics.ConversationsSkipped, g.key)
		all := g.matchers.increase(perJob(), metrics.ConversationsSkipped, g.key)
		started := g.matchers.increase(perJob(), metrics.ConversationsStarted, g.key)
		alerts = append(alerts, alert{
			name: AlertConversationsSkipped, severity: slo.Ticket, wait: 10 * time.Minute, keep: 15 * time.Minute,
			expr: fmt.Sprintf("%s\n/ on (target, workload) group_left ()\n(\n  %s\n  +\n  %s\n) > 0.1\nand\n%s >= %d",
				byReason, all, started, byReason, minTurns),
			summary:     "{{ $labels.target }}/{{ $labels.workload }}: {{ $value | humanizePercentage }} of conversations are skipped ({{ $labels.reason }})",
			description: fmt.Sprintf("{{ $value | humanizePercentage }} of the conversations due within %s did not start. The figures stand on less traffic than configured, and less of it while the deployment is slow.", slo.Short(g.key)),
			dashboard:   dashboardHealth,
		})
	}
	return alerts
}

// usageMissing says that TPOT and throughput are estimates.
func usageMissing() alert {
	const window = time.Hour
	missing := matchers{}.increase(perJob(), metrics.UsageMissing, window)
	return alert{
		name: AlertUsageMissing, severity: slo.Ticket, wait: 15 * time.Minute,
		expr: fmt.Sprintf("%s > 0.5\nand\n%s >= %d", ratio(missing, matchers{}.increase(perJob(), metrics.Turns, window)),
			missing, minTurns),
		summary:     "{{ $labels.target }}/{{ $labels.workload }}: {{ $value | humanizePercentage }} of turns have no usage",
		description: "The deployment did not report token usage for {{ $value | humanizePercentage }} of the turns of the last hour: output tokens are counted as events, TPOT is an estimate, and the prefix-cache ratio stands on few turns or none.",
		dashboard:   dashboardTarget,
	}
}
