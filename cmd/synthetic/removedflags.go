package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kingpin/v2"
)

// removedFlags are flags of an earlier version of a command, or of a group of commands.
type removedFlags struct {
	command, flags string
	// remedy says what to do instead.
	remedy string
}

func allRemovedFlags() []removedFlags {
	return []removedFlags{
		{"backtest", "scenario.file model fault fleet adaptive conversations-per-minute seed seeds days workers",
			`simulated deployments are scored by "make alert-quality" in a checkout of the source`},
		{"backtest", "ticket-severity", "write --severity=PAGE,TICKET"},
		{"canary record", "rounds", "the number of rounds is fixed"},
		{"demo", "grafana", `run "docker compose -f deploy/compose/compose.yaml up", or import dashboards/*.json of the source`},
		{"generate", "severity.label severity.page severity.ticket", "write --style=LABEL:PAGE,TICKET"},
		{"init", "ask", "it always asks the endpoint"},
		{"init", "api-version", "append ?api-version=VERSION to --base-url"},
		{"probe", "api-version", "append ?api-version=VERSION to --base-url"},
		{"probe", "timeout.first-token timeout.stall timeout.total", "write --timeout=DURATION"},
		{"run", "turns.keep", "the number of packed logs is fixed; --turns.max-size sets their size"},
		{"simulate", "more-models", "repeat --model"},
		{"simulate", "adapter", "write --engine=adapters=NAME+NAME"},
		{"simulate", "preset.load preset.speed", "write --engine=load=N,speed=FACTOR"},
		{"simulate", "first-token first-token.spread prefill inter-token inter-token.spread tokens-per-event " +
			"answer-tokens answer-tokens.spread reasoning reasoning.field refuse-max-tokens",
			"write --engine=KEY=VALUE with - and . of the flag as _"},
		{"sweep", "barrier.tls-cert barrier.tls-key barrier.tls-ca",
			"put tls.crt, tls.key and ca.crt into a directory and write --barrier.tls-dir=DIR"},
	}
}

// explainRemoved returns the remedy if err is about a removed flag, and err otherwise.
func explainRemoved(parsed *kingpin.ParseContext, err error) error {
	if parsed.SelectedCommand == nil {
		return err
	}
	for _, r := range allRemovedFlags() {
		if !strings.HasPrefix(parsed.SelectedCommand.FullCommand()+" ", r.command+" ") {
			continue
		}
		for flag := range strings.FieldsSeq(r.flags) {
			for _, name := range []string{flag, "no-" + flag} {
				if err.Error() == fmt.Sprintf("unknown long flag '--%s'", name) {
					return fmt.Errorf("--%s was removed: %s", name, r.remedy)
				}
			}
		}
	}
	return err
}
