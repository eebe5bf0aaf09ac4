// Package gate decides whether a report lets a change pass: conditions such as
// "ttft_p99>1s,capacity<baseline*0.9", of which none may be true.
package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/study/figures"
)

// Condition is one comparison that must not be true.
type Condition struct {
	// Text as it was written.
	Text string
	// Figure is a metric's key, or Capacity.
	Figure string
	// At is the only level it is about; 0 for every level.
	At float64
	// Op is ">", ">=", "<" or "<=".
	Op string
	// Value is compared with, in the metric's unit; with Baseline it is a
	// factor of the baseline's figure.
	Value    float64
	Baseline bool
}

// Capacity is the highest level that meets the SLOs.
const Capacity = "capacity"

var (
	shape    = regexp.MustCompile(`^([a-z0-9_]+)(?:@([0-9.]+))?\s*(>=|<=|>|<)\s*(\S.*)$`)
	baseline = regexp.MustCompile(`^baseline(?:\s*\*\s*([0-9.]+))?$`)
	quantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(ms|s|m|%)?$`)
)

// Parse reads conditions separated by commas. Errors say which one is wrong,
// and what it could be.
func Parse(text string) ([]Condition, error) {
	var all []Condition
	for i, part := range strings.Split(text, ",") {
		c, err := parse(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("condition %d, %q: %w", i+1, strings.TrimSpace(part), err)
		}
		all = append(all, c)
	}
	return all, nil
}

func parse(text string) (Condition, error) {
	c := Condition{Text: text}
	m := shape.FindStringSubmatch(text)
	if m == nil {
		return c, fmt.Errorf(`want FIGURE[@LEVEL] OPERATOR VALUE, such as "ttft_p99>1s", "tpot_p95@100>60ms" or "capacity<baseline*0.9"; operators are >, >=, < and <=`)
	}
	figure, ok := find(m[1])
	if !ok {
		return c, fmt.Errorf("there is no figure %q: want %q or one of %s", m[1], Capacity, strings.Join(names(), ", "))
	}
	c.Figure, c.Op = figure.Key, m[3]
	if m[2] != "" {
		at, err := strconv.ParseFloat(m[2], 64)
		if err != nil || !(at > 0) || figure.Key == Capacity {
			return c, fmt.Errorf("%q is no level: after @ stands a number above 0, and capacity has none", m[2])
		}
		c.At = at
	}
	return c, c.value(strings.TrimSpace(m[4]), figure)
}

// value reads what is compared with.
func (c *Condition) value(text string, m figures.Metric) error {
	if b := baseline.FindStringSubmatch(text); b != nil {
		c.Baseline, c.Value = true, 1
		if b[1] == "" {
			return nil
		}
		v, err := strconv.ParseFloat(b[1], 64)
		if err != nil || !(v > 0) {
			return fmt.Errorf(`%q is no factor: want a number above 0, such as "baseline*0.9"`, b[1])
		}
		c.Value = v
		return nil
	}
	q := quantity.FindStringSubmatch(text)
	if q == nil {
		return fmt.Errorf(`%q is no value: want a number with a unit, such as 1s, 60ms, 5%%, or "baseline*0.9"`, text)
	}
	v, err := strconv.ParseFloat(q[1], 64)
	if err != nil {
		return fmt.Errorf("%q is no number: %w", q[1], err)
	}
	return c.unit(v, q[2], m)
}

// unit turns a value into the metric's own unit.
func (c *Condition) unit(v float64, unit string, m figures.Metric) error {
	c.Value = v
	switch {
	case m.Unit == "ms" && unit != "" && unit != "%":
		d := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute}[unit]
		c.Value = v * float64(d) / float64(time.Millisecond)
	case m.Unit == "ms":
		return fmt.Errorf("%s is a time: give a unit (ms, s or m)", m.Key)
	case m.Unit == "%" && unit != "" && unit != "%", m.Unit == "" && unit != "":
		return fmt.Errorf("%s is no time: leave %q out", m.Key, unit)
	}
	return nil
}

// find accepts a key with or without its unit ("ttft_p99" is ttft_p99_ms).
func find(name string) (figures.Metric, bool) {
	if name == Capacity {
		return figures.Metric{Key: Capacity, Title: "Capacity", Better: figures.HigherIsBetter}, true
	}
	for _, suffix := range []string{"", "_ms", "_pct", "_per_s"} {
		if m, ok := figures.MetricOf(name + suffix); ok {
			return m, true
		}
	}
	return figures.Metric{}, false
}

func names() []string {
	var all []string
	for _, m := range figures.Metrics() {
		name := strings.TrimSuffix(strings.TrimSuffix(m.Key, "_ms"), "_pct")
		if !strings.Contains(name, "first") && !strings.Contains(name, "followup") && !strings.Contains(name, "failures") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Objective reads an SLO such as "ttft_p99<1s": the quantile and its highest
// good value.
func Objective(text string) (figures.Objective, error) {
	c, err := parse(strings.TrimSpace(text))
	if err != nil {
		return figures.Objective{}, fmt.Errorf("%q: %w", text, err)
	}
	m := objectiveKey.FindStringSubmatch(c.Figure)
	if m == nil || c.Baseline || c.At > 0 || c.Op[0] != '<' {
		return figures.Objective{}, fmt.Errorf(`%q: want the quantile of a latency and its highest good value, such as "ttft_p99<1s"`, text)
	}
	share, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		return figures.Objective{}, fmt.Errorf("%q: %w", text, err)
	}
	return figures.Objective{
		Name: text, Label: strings.ToUpper(strings.ReplaceAll(m[1], "_", " ")),
		Key: c.Figure, Threshold: c.Value, Share: share,
	}, nil
}

var objectiveKey = regexp.MustCompile(`^([a-z_]+)_p([0-9]+)_ms$`)
