package main

import (
	"fmt"
	"math"
	"strings"
)

// target is the wanted accuracy of a figure.
type target struct {
	name, title string
	// aim is the largest wanted error: a share of the published figure, or of 100 points for
	// figures in percent.
	aim float64
}

// targets returns the figures of the table with their aims.
func targets() []target {
	return []target{
		{"tokens_per_s", "Output tokens/s", .05}, {"tpot_p50_ms", "TPOT p50 (ms)", .05}, {"itl_p50_ms", "ITL p50 (ms)", .05},
		{"ttft_p50_ms", "TTFT p50 (ms)", .10}, {"ttft_p95_ms", "TTFT p95 (ms)", .20}, {"ttft_p99_ms", "TTFT p99 (ms)", .25},
		{"hit_pct", "Hit rate (%)", .05},
	}
}

// tailFactor is the aim for TTFT p95 of KV-aware routing at 170 to 180, as a factor.
const tailFactor = 1.5

// cell is a figure of one level, from the report and from the model.
type cell struct {
	target
	report, preset  string
	load            float64
	reported, model float64
	low, high       float64 // the runs of the model
}

// cells returns every figure that the report has.
func cells(p played) (all []cell) {
	for i, l := range p.Levels {
		for _, t := range targets() {
			c := cell{target: t, report: p.report, preset: p.Preset, load: l["load"], reported: l.get(t.name), model: p.model[i].get(t.name)}
			if math.IsNaN(c.reported) {
				continue
			}
			c.low, c.high = p.spread(i, t.name)
			all = append(all, c)
		}
	}
	return all
}

// spread returns the lowest and the highest run of a figure.
func (p *played) spread(level int, name string) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, run := range p.counted(level) {
		low, high = min(low, run.get(name)), max(high, run.get(name))
	}
	return low, high
}

// off returns the error of the model, in the unit of the aim.
func (c cell) off() float64 {
	if strings.HasSuffix(c.name, "_pct") {
		return (c.model - c.reported) / 100
	}
	return c.model/c.reported - 1
}

// met reports whether the cell reaches its aim.
func (c cell) met() bool {
	if c.name == "ttft_p95_ms" && c.preset == "trtllm-kv" && c.load >= 170 && c.load <= 180 {
		return c.model <= tailFactor*c.reported && c.reported <= tailFactor*c.model
	}
	return math.Abs(c.off()) <= c.aim
}

// String renders the cell: model, published figure and error; bold beyond the aim.
func (c cell) String() string {
	digits := 0
	if c.reported < 100 {
		digits = 1
	}
	text := fmt.Sprintf("%s / %s (%s)", number(c.model, digits), number(c.reported, digits), apart(c.name, c.reported, c.model))
	if !c.met() {
		return "**" + text + "**"
	}
	return text
}
