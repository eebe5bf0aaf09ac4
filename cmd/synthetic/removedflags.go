package main

import (
	"fmt"

	"github.com/alecthomas/kingpin/v2"
)

// removedFlag is a flag that an earlier version had.
type removedFlag struct {
	command, flag string
	// remedy says what to do instead.
	remedy string
}

// removedFlags lists the removed flags. A user who still passes one gets its remedy.
func removedFlags() []removedFlag {
	const simulated = `simulated deployments are scored by "make alert-quality" in a checkout of the source`
	var all []removedFlag
	for _, flag := range []string{
		"scenario.file", "model", "fault", "fleet", "adaptive", "conversations-per-minute",
		"seed", "seeds", "days", "workers",
	} {
		all = append(all, removedFlag{"backtest", flag, simulated})
	}
	return all
}

// explainRemoved returns the remedy if err is about a removed flag, and err otherwise.
func explainRemoved(parsed *kingpin.ParseContext, err error) error {
	if parsed.SelectedCommand == nil {
		return err
	}
	for _, r := range removedFlags() {
		for _, name := range []string{r.flag, "no-" + r.flag} {
			unknown := fmt.Sprintf("unknown long flag '--%s'", name)
			if r.command == parsed.SelectedCommand.FullCommand() && err.Error() == unknown {
				return fmt.Errorf("--%s was removed: %s", name, r.remedy)
			}
		}
	}
	return err
}
