package main

import (
	"strings"
	"testing"
)

func TestBacktestMistakes(t *testing.T) {
	t.Parallel()
	const rules = "--rules.file=../../alerts/synthetic-rules.yml"
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"nothing":   {nil, `no recording: give a log of turns with --turns=FILE, a Prometheus data directory with --tsdb.path=DIR, or a Prometheus with --prometheus.url=URL. Simulated deployments are scored by "make alert-quality" in a checkout`},
		"warm-up":   {[]string{"--turns=a", "--warm-up=-1"}, "--warm-up must not be negative"},
		"long":      {[]string{"--turns=a", "--warm-up=99999999999"}, "--warm-up=99999999999: give at most 3653 days"},
		"rule file": {[]string{"--tsdb.path=a", "--rules.file=none.yml"}, "--rules.file=none.yml"},
		"no pages":  {[]string{rules, "--tsdb.path=a", "--severity=critical"}, `no alert pages: pages have the label severity=["critical"], these alerts have ["page" "ticket"]; change --severity or the label`},
		"damaged":   {[]string{"--tsdb.path=a", "--rules.file=backtest.go"}, "--rules.file=backtest.go: reading the rules"},
		"no rules":  {[]string{"--tsdb.path=a"}, "give the configuration of its prober with --config.file"},
		"two":       {[]string{rules, "--tsdb.path=a", "--prometheus.url=b"}, "give only one of them"},
		"from":      {[]string{rules, "--tsdb.path=a", "--from=monday"}, "write for example 2026-11-08T14:02:00Z"},
		"no --to":   {[]string{rules, "--tsdb.path=a", "--from=2026-01-05 00:00"}, "a recording needs --from and --to"},
		"to":        {[]string{rules, "--tsdb.path=a", "--from=2026-01-05T00:00:00Z", "--to=2026-01-04T00:00:00Z"}, "must be after"},
		"incidents": {[]string{rules, "--tsdb.path=a", "--from=2026-01-05T00:00:00Z", "--to=2026-01-06T00:00:00Z", "--incidents=none.csv"}, "--incidents"},
	} {
		out, errs := newBuffer(), newBuffer()
		code := run(t.Context(), append([]string{"backtest"}, tt.args...), out, errs)
		if code != exitUsage || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%s: exit code %d, %s; want %q", name, code, errs, tt.want)
		}
	}
}
