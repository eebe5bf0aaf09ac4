package dashboard

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

func functions(in Input) template.FuncMap {
	objectives := in.SLOs
	return template.FuncMap{
		"turns": probe.TurnKinds, "turnName": turnName,
		"quantiles": func() []float64 { return []float64{0.5, 0.95, 0.99} }, "statistic": metrics.Statistic, "quantile": quantile,
		"latencies": func(only ...slo.SLI) ([]latencyPanel, error) { return latencies(objectives, only) },
		"promise":   objectiveText,
		"isSLO":     func(o slo.Objective) string { return fmt.Sprintf("%s=%q", metrics.LabelSLO, o.Name) },
		"burn":      burn, "periods": periods, "tiers": tiers, "burnWindows": burnWindows,
		"leastBad": func() int { return slo.MinBadLong },
		"signals":  func() []string { return []string{"TTFT", "TPOT"} }, "lower": strings.ToLower,
	}
}

// quantile returns the query of a histogram's quantile by labels, native if stored, else
// classic. selector is in braces, or "".
func quantile(q float64, family, by, selector string) string {
	return fmt.Sprintf("histogram_quantile(%[1]g, sum by (%[3]s) (rate(%[2]s%[4]s[$__rate_interval]))) or histogram_quantile(%[1]g, sum by (le, %[3]s) (rate(%[2]s_bucket%[4]s[$__rate_interval])))", q, family, by, selector)
}

// latency is a latency shown as quantiles.
type latency struct {
	SLI slo.SLI
	// Short is the name in titles, such as "TTFT".
	Short           string
	Says, Read, Act string
}

// latencyPanel is the panel of a latency and a kind of turn.
type latencyPanel struct {
	latency
	Turn probe.TurnKind
	// Limits matches the objectives whose thresholds are drawn; "" for none.
	Limits string
}

func latencies(objectives []slo.Objective, only []slo.SLI) ([]latencyPanel, error) {
	text, err := sources.ReadFile("boards/latencies.yml")
	if err != nil {
		return nil, err
	}
	var all []latency
	if err := decode(text, &all); err != nil {
		return nil, err
	}
	var out []latencyPanel
	for _, l := range all {
		if len(only) > 0 && !slices.Contains(only, l.SLI) {
			continue
		}
		for _, kind := range probe.TurnKinds() {
			out = append(out, latencyPanel{l, kind, limits(objectives, l.SLI, kind)})
		}
	}
	return out, nil
}

// limits matches the objectives on an SLI that apply to all sizes of a kind of turn.
func limits(objectives []slo.Objective, sli slo.SLI, kind probe.TurnKind) string {
	var names []string
	for _, o := range objectives {
		if o.SLI == sli && !o.Sized() && (len(o.Turns) == 0 || slices.Contains(o.Turns, kind)) {
			names = append(names, o.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return oneOf(names)
}

// oneOf matches objectives by their literal names.
func oneOf(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	return fmt.Sprintf("%s=~%q", metrics.LabelSLO, strings.Join(quoted, "|"))
}

func turnName(k probe.TurnKind) string {
	if k == probe.First {
		return "first turns"
	}
	return "follow-up turns"
}

func objectiveText(o slo.Objective) string {
	condition := "succeed"
	switch {
	case o.SLI == slo.Correct:
		condition = "have the code that they ask for"
	case o.SLI.HasThreshold():
		condition = fmt.Sprintf("have %s ≤ %s%s", strings.ReplaceAll(string(o.SLI), "_", " "), o.Threshold, o.SlopeText())
	}
	return fmt.Sprintf("%s of turns%s %s over %s", percent(o.Objective), o.ClassText(), condition, slo.FormatDuration(o.Window))
}

func percent(share float64) string { return fmt.Sprintf("%.6g %%", share*100) }

// burn returns the query of the burn rate: the share of bad turns divided by the allowed share.
func burn(by, window, matcher string) string {
	return fmt.Sprintf("(sum by (%[1]s) (increase(%[2]s{%[3]s}[%[4]s])) / sum by (%[1]s) (increase(%[5]s{%[3]s}[%[4]s]))) / on (slo) group_left () (1 - max by (slo) (%[6]s{%[3]s}))",
		by, metrics.SLOViolations, matcher, window, metrics.SLOTurns, metrics.SLOObjective)
}

type period struct{ Window, Matcher string }

// periods returns the windows of objectives, in order of appearance.
func periods(objectives []slo.Objective) []period {
	var out []period
	for _, p := range slo.Periods(objectives) {
		out = append(out, period{slo.FormatDuration(p.Window), oneOf(p.Names)})
	}
	return out
}

// tiers returns the tiers of an objective's alerts, slowest first, without those it cannot
// reach, which have no alert.
func tiers(o slo.Objective) []slo.Tier {
	return slices.SortedStableFunc(slices.Values(o.BurnPlan(0).Tiers), func(a, b slo.Tier) int { return cmp.Compare(a.Burn, b.Burn) })
}

// burnWindows returns the long windows of an objective's pages. A ticket's window of days would
// be queried at each point.
func burnWindows(o slo.Objective) []string {
	var out []string
	for _, t := range o.BurnPlan(0).Tiers {
		if t.Severity == slo.Page {
			out = append(out, slo.FormatDuration(t.Long))
		}
	}
	if len(out) == 0 {
		out = append(out, "1h")
	}
	return out
}
