package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Condition is a comparison that must be false for a change to pass, such as "ttft_p99>1s" or "capacity<baseline*0.9".
type Condition struct {
	Text string // as written
	// Metric is compared; NoMetric stands for the capacity, the highest level that meets the SLOs.
	Metric Metric
	At     float64 // the only level to check; 0 means every level
	Op     string
	// Value is the limit in the metric's unit or, with Baseline, a factor of the baseline's figure.
	Value    float64
	Baseline bool
}

const capacityKey = "capacity"

var (
	conditionSyntax = regexp.MustCompile(`^([a-z0-9_.]+)(?:@([0-9.]+))?\s*(>=|<=|>|<)\s*(\S.*)$`)
	baselineSyntax  = regexp.MustCompile(`^baseline(?:\s*\*\s*([0-9.]+))?$`)
	quantitySyntax  = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(ms|s|m|%)?$`)
)

// ParseConditions parses conditions separated by commas. Errors name the wrong one and the possible values.
func ParseConditions(text string) ([]Condition, error) {
	var all []Condition
	for i, part := range strings.Split(text, ",") {
		c, err := parseCondition(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("condition %d, %q: %w", i+1, strings.TrimSpace(part), err)
		}
		all = append(all, c)
	}
	return all, nil
}

func parseCondition(text string) (Condition, error) {
	c := Condition{Text: text}
	m := conditionSyntax.FindStringSubmatch(text)
	if m == nil {
		return c, fmt.Errorf(`want FIGURE[@LEVEL] OPERATOR VALUE, such as "ttft_p99>1s", "tpot_p95@100>60ms" or "capacity<baseline*0.9"; operators are >, >=, < and <=`)
	}
	c.Metric, c.Op = findMetric(m[1]), m[3]
	if c.Metric == NoMetric && m[1] != capacityKey {
		return c, fmt.Errorf("there is no figure %q: want %q or one of %s", m[1], capacityKey, strings.Join(conditionFigures(), ", "))
	}
	if m[2] != "" {
		at, err := strconv.ParseFloat(m[2], 64)
		if err != nil || !(at > 0) || c.Metric == NoMetric {
			return c, fmt.Errorf("%q is not a level: write a number above 0 after @; capacity takes no level", m[2])
		}
		c.At = at
	}
	return c, c.parseValue(strings.TrimSpace(m[4]))
}

func (c *Condition) parseValue(text string) error {
	if b := baselineSyntax.FindStringSubmatch(text); b != nil {
		v, err := strconv.ParseFloat(cmp.Or(b[1], "1"), 64)
		if err != nil || !(v > 0) {
			return fmt.Errorf(`%q is not a factor: want a number above 0, such as "baseline*0.9"`, b[1])
		}
		c.Baseline, c.Value = true, v
		return nil
	}
	q := quantitySyntax.FindStringSubmatch(text)
	if q == nil {
		return fmt.Errorf(`%q is not a value: want a number with a unit, such as 1s, 60ms, 5%%, or "baseline*0.9"`, text)
	}
	v, err := strconv.ParseFloat(q[1], 64)
	if err != nil {
		return fmt.Errorf("%q is not a number: %w", q[1], err)
	}
	millis, isTime := map[string]float64{"ms": 1, "s": 1e3, "m": 60e3}[q[2]]
	switch own, figure := c.Metric.Unit(), cmp.Or(c.Metric.Key(), capacityKey); {
	case own == "ms" && !isTime:
		return fmt.Errorf("%s is a time: give a unit (ms, s or m)", figure)
	case own == "ms":
		v *= millis
	case q[2] != "" && q[2] != own:
		return fmt.Errorf("%s is not a time: remove %q", figure, q[2])
	}
	c.Value = v
	return nil
}

// findMetric accepts keys without their unit: "ttft_p99" is ttft_p99_ms.
func findMetric(name string) Metric {
	for _, m := range Metrics() {
		if unit, found := strings.CutPrefix(m.Key(), name); found && slices.Contains([]string{"", "_ms", "_pct", "_per_s"}, unit) {
			return m
		}
	}
	return NoMetric
}

func conditionFigures() []string {
	var all []string
	for _, m := range Metrics() {
		if m.Turns == AllTurns {
			all = append(all, strings.TrimSuffix(strings.TrimSuffix(m.Key(), "_ms"), "_pct"))
		}
	}
	slices.Sort(all)
	return all
}
