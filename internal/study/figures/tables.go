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

// Tables come in three shapes. In the first, rows are levels and columns
// metrics, perhaps with a variant's name before them ("RR TTFT p50"); in the
// second, the heading names the metric and columns are variants; in the third
// ("Detailed Comparison … (2.00 RPS)"), rows are metrics of one level.
func (s *Study) addTables(d document) {
	mode := d.mode()
	if len(s.Series) == 1 {
		mode = s.Series[0].Name
	}
	variants := len(s.Series) > 1
	for i, t := range d.tables {
		switch first := strings.ToLower(t.header[0]); {
		case first == "parameter":
			s.addParameters(t)
		case first == "metric" && len(t.header) == 2 && strings.Contains(t.heading, "SLO"):
			s.addTargets(t)
		case first == "metric":
			s.addDetail(t)
		case first == "concurrency" || first == "rate":
			if first == "rate" {
				s.Kind = runfile.Rate
			}
			// The first table of levels decides whether the report compares:
			// later ones may quote other reports beside their own.
			if i == 0 || len(s.Series) == 0 {
				_, named := headingColumn(t.heading)
				variants = s.prefixed(t) || named
			}
			s.addLevels(t, mode, variants)
		}
	}
}

func (s *Study) addParameters(t table) {
	for _, row := range t.rows {
		p := runfile.Parameter{Name: row[0], Value: row[1]}
		if strings.Contains(t.heading, "Deployment") {
			s.Deployment = append(s.Deployment, p)
		} else {
			s.Method = append(s.Method, p)
		}
	}
}

var (
	timingTitle = regexp.MustCompile(`^(ttft|tpot|itl|latency) (p\d+)`)
	rateHeading = regexp.MustCompile(`\(([\d.]+) RPS\)`)
	targetCell  = regexp.MustCompile(`^(TTFT|TPOT|ITL) p(\d+)$`)
)

// addTargets reads "| TTFT p99 | < 1000ms |".
func (s *Study) addTargets(t table) {
	for _, row := range t.rows {
		m := targetCell.FindStringSubmatch(row[0])
		f, ok := cell(strings.TrimSpace(strings.TrimLeft(row[1], "<≤ ")), "ms")
		if m == nil || !ok {
			continue
		}
		share, _ := strconv.ParseFloat(m[2], 64)
		name := strings.ToLower(m[1])
		s.Objectives = append(s.Objectives, Objective{
			Name: name, Label: m[1], Timing: timingOf(name), Threshold: f.Value, Share: share,
		})
	}
}

// column is what stands in a column of a table: a metric, or how many runs were
// valid.
type column struct {
	metric    Metric
	validRuns bool
}

// columnOf reads a column's title; false when it is of no figure.
func columnOf(title string) (column, bool) {
	title = strings.ToLower(title)
	if m := timingTitle.FindStringSubmatch(title); m != nil {
		metric, ok := MetricOf(m[1] + "_" + m[2] + "_ms")
		return column{metric: metric}, ok
	}
	if strings.HasPrefix(title, "valid runs") {
		return column{validRuns: true}, true
	}
	for prefix, m := range map[string]Metric{
		"error %": ErrorPct, "actual rps": TurnsPerSecond, "turns/s": TurnsPerSecond,
		"tops": OutputTokensPerSecond, "output tok/s": OutputTokensPerSecond, "output throughput": OutputTokensPerSecond,
		"hit rate": KVHitRatePct, "max concurrent": InFlightMax, "completed": Completed, "failed": Failed,
	} {
		if strings.HasPrefix(title, prefix) {
			return column{metric: m}, true
		}
	}
	return column{}, false
}

// headingColumn is the figure that a table's heading names ("Results — TTFT p99
// (ms)").
func headingColumn(heading string) (column, bool) {
	if _, title, ok := strings.Cut(heading, "— "); ok && strings.HasPrefix(heading, "Results") {
		return columnOf(title)
	}
	return column{}, false
}

// split takes the variant's name off a column's title.
func (s *Study) split(title string) (variant string, c column, ok bool) {
	words := strings.Fields(title)
	for i := range words {
		if c, ok := columnOf(strings.Join(words[i:], " ")); ok {
			return s.variant(strings.Join(words[:i], " ")), c, true
		}
	}
	return "", column{}, false
}

// variant is the series that a short name in a table stands for.
func (s *Study) variant(short string) string {
	for _, series := range s.Series {
		if len(s.Series) > 1 && short != "" && initials(series.Name, short) {
			return series.Name
		}
	}
	return short
}

// initials reports whether the short name begins the long one, or its words:
// RR is round_robin, KV is kv_aware.
func initials(name, short string) bool {
	short = strings.ToLower(short)
	var first strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(name), "_") {
		first.WriteString(word[:min(1, len(word))])
	}
	return strings.HasPrefix(strings.ToLower(name), short) || strings.HasPrefix(first.String(), short)
}

func (s *Study) prefixed(t table) bool {
	return slices.ContainsFunc(t.header[1:], func(title string) bool {
		variant, _, ok := s.split(title)
		return ok && variant != ""
	})
}

func (s *Study) addLevels(t table, mode string, variants bool) {
	for _, row := range t.rows {
		at, err := strconv.ParseFloat(row[0], 64)
		if err != nil || !(at > 0) {
			continue
		}
		for i := 1; i < min(len(row), len(t.header)); i++ {
			variant, c, ok := s.split(t.header[i])
			if of, named := headingColumn(t.heading); named {
				variant, c, ok = t.header[i], of, true
			}
			if ok && variants == (variant != "") {
				s.putCell(cmp.Or(variant, mode), at, c, row[i])
			}
		}
	}
}

// addDetail reads the metrics of one level.
func (s *Study) addDetail(t table) {
	m := rateHeading.FindStringSubmatch(t.heading)
	if m == nil {
		return
	}
	at, _ := strconv.ParseFloat(m[1], 64)
	for _, row := range t.rows {
		if c, ok := columnOf(row[0]); ok {
			for i := 1; i < min(len(row), len(t.header)); i++ {
				s.putCell(t.header[i], at, c, row[i])
			}
		}
	}
}

func (s *Study) putCell(variant string, at float64, c column, text string) {
	l := Level{At: at, Figures: map[Metric]Figure{}}
	if c.validRuns {
		if _, err := fmt.Sscanf(text, "%d/%d", &l.Valid, &l.Runs); err == nil {
			s.put(variant, l)
		}
		return
	}
	if f, ok := cell(text, c.metric.Unit()); ok {
		l.Figures[c.metric] = f
		s.put(variant, l)
	}
}

var cellNumber = regexp.MustCompile(`^(-?[\d,]+)(\.\d+)?\s*(ms|s|%)?$`)

// cell reads a printed figure of a unit, and the size of its last digit. A
// figure in ms may be printed in s.
func cell(text, unit string) (Figure, bool) {
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
