package figures

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/study/runfile"
)

// addTables reads tables of three shapes: rows are levels and columns are metrics, perhaps with
// a variant's name ("RR TTFT p50"); the heading names the metric and columns are variants; or
// rows are metrics of one level ("Detailed Comparison … (2.00 RPS)").
func (s *Study) addTables(d markdownDocument) {
	mode := d.seriesName()
	if len(s.Series) == 1 {
		mode = s.Series[0].Name
	}
	variants := len(s.Series) > 1
	for i, t := range d.tables {
		switch first := strings.ToLower(t.header[0]); {
		case first == "parameter" && len(t.header) > 1:
			s.addParameters(t)
		case first == "metric" && len(t.header) == 2 && strings.Contains(t.heading, "SLO"):
			s.addTargets(t)
		case first == "metric":
			s.addDetail(t)
		case first == "concurrency" || first == "rate":
			if first == "rate" {
				s.Kind = runfile.Rate
			}
			// The first table decides whether the report compares variants. Later ones may
			// quote other reports.
			if i == 0 || len(s.Series) == 0 {
				variants = slices.ContainsFunc(t.header[1:], func(title string) bool {
					variant, _, ok := s.column(t.heading, title)
					return ok && variant != ""
				})
			}
			s.addLevels(t, mode, variants)
		}
	}
}

func (s *Study) addParameters(t table) {
	into := &s.Method
	if strings.Contains(t.heading, "Deployment") {
		into = &s.Deployment
	}
	for _, row := range t.rows {
		*into = append(*into, runfile.Parameter{Name: row[0], Value: row[1]})
	}
}

var (
	timingTitle = regexp.MustCompile(`^(ttft|tpot|itl|latency) (p\d+)`)
	rateHeading = regexp.MustCompile(`\(([\d.]+) RPS\)`)
	targetCell  = regexp.MustCompile(`^(TTFT|TPOT|ITL) p(\d+)$`)
)

// addTargets reads rows such as "| TTFT p99 | < 1000ms |".
func (s *Study) addTargets(t table) {
	for _, row := range t.rows {
		m := targetCell.FindStringSubmatch(row[0])
		f, ok := parseCell(strings.TrimSpace(strings.TrimLeft(row[1], "<≤ ")), "ms")
		if m == nil || !ok {
			continue
		}
		share, _ := strconv.ParseFloat(m[2], 64)
		name := strings.ToLower(m[1])
		s.Objectives = append(s.Objectives, Objective{
			Name: name, Label: m[1], Timing: Timing(name), Threshold: f.Value, Share: share,
		})
	}
}

// validRuns stands for the column with the number of valid runs.
const validRuns Metric = "valid runs"

func metricTitled(title string) (Metric, bool) {
	title = strings.ToLower(title)
	if m := timingTitle.FindStringSubmatch(title); m != nil {
		metric := Metric(m[1] + "_" + m[2] + "_ms")
		return metric, metric.Reported()
	}
	for prefix, m := range map[string]Metric{
		"error %": ErrorPct, "actual rps": TurnsPerSecond, "turns/s": TurnsPerSecond,
		"tops": OutputTokensPerSecond, "output tok/s": OutputTokensPerSecond, "output throughput": OutputTokensPerSecond,
		"hit rate": KVHitRatePct, "max concurrent": InFlightMax, "completed": Completed, "failed": Failed, "valid runs": validRuns,
	} {
		if strings.HasPrefix(title, prefix) {
			return m, true
		}
	}
	return NoMetric, false
}

// column returns the variant and the metric of a column. The heading may name the metric
// ("Results — TTFT p99 (ms)") and the title the variant, or the title names both.
func (s *Study) column(heading, title string) (variant string, m Metric, ok bool) {
	if _, figure, named := strings.Cut(heading, "— "); named && strings.HasPrefix(heading, "Results") {
		if m, ok := metricTitled(figure); ok {
			return title, m, true
		}
	}
	words := strings.Fields(title)
	for i := range words {
		if m, ok := metricTitled(strings.Join(words[i:], " ")); ok {
			return s.variantNamed(strings.Join(words[:i], " ")), m, true
		}
	}
	return "", NoMetric, false
}

// variantNamed returns the series with an abbreviated name.
func (s *Study) variantNamed(short string) string {
	for _, series := range s.Series {
		if len(s.Series) > 1 && short != "" && isAbbreviation(series.Name, short) {
			return series.Name
		}
	}
	return short
}

// isAbbreviation reports whether short is a prefix of the name or its initials: RR is
// round_robin, KV is kv_aware.
func isAbbreviation(name, short string) bool {
	name, short = strings.ToLower(name), strings.ToLower(short)
	first := ""
	for word := range strings.SplitSeq(name, "_") {
		first += word[:min(1, len(word))]
	}
	return strings.HasPrefix(name, short) || strings.HasPrefix(first, short)
}

func (s *Study) addLevels(t table, mode string, variants bool) {
	for _, row := range t.rows {
		at, err := strconv.ParseFloat(row[0], 64)
		if err != nil || !(at > 0) {
			continue
		}
		for i, title := range t.header[1:] {
			if variant, m, ok := s.column(t.heading, title); ok && variants == (variant != "") {
				s.putCell(cmp.Or(variant, mode), at, m, row[i+1])
			}
		}
	}
}

// addDetail reads a table with the metrics of one level.
func (s *Study) addDetail(t table) {
	level := rateHeading.FindStringSubmatch(t.heading)
	if level == nil {
		return
	}
	at, _ := strconv.ParseFloat(level[1], 64)
	for _, row := range t.rows {
		if m, ok := metricTitled(row[0]); ok {
			for i, variant := range t.header[1:] {
				s.putCell(variant, at, m, row[i+1])
			}
		}
	}
}

func (s *Study) putCell(variant string, at float64, m Metric, text string) {
	l := Level{At: at, Figures: map[Metric]Figure{}}
	if m == validRuns {
		if _, err := fmt.Sscanf(text, "%d/%d", &l.Valid, &l.Runs); err == nil {
			s.mergeLevel(variant, l)
		}
	} else if f, ok := parseCell(text, m.Unit()); ok {
		l.Figures[m] = f
		s.mergeLevel(variant, l)
	}
}

var cellNumber = regexp.MustCompile(`^(-?[\d,]+)(\.\d+)?\s*(ms|s|%)?$`)

// parseCell parses a printed figure and the value of its last digit. Figures in ms may be
// printed in s.
func parseCell(text, unit string) (Figure, bool) {
	parts := cellNumber.FindStringSubmatch(text)
	if parts == nil {
		return Figure{}, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(parts[1], ",", "")+parts[2], 64)
	if err != nil {
		return Figure{}, false
	}
	f := Plain(v)
	f.Step = math.Pow(10, -float64(max(len(parts[2])-1, 0)))
	if unit == "ms" && parts[3] == "s" {
		f.Value = math.Round(f.Value*1e6) / 1e3
		f.Step *= 1000
	}
	return f, true
}
