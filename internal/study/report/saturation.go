package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/study/runs"
)

func addSaturation(d *document, s *Study) {
	t := table{Header: []string{"Metric"}, Left: true}
	for _, name := range []string{"First errors", "Sustained >5% errors", "TTFT p50 > 1s", "TPOT p50 plateau", "Highest level before errors or slow TTFT"} {
		t.Rows = append(t.Rows, cells(name))
	}
	for _, series := range s.Series {
		t.Header = append(t.Header, series.Name)
		for i, cell := range saturationCells(s, saturate(series)) {
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	part := d.section("Saturation Point")
	part.table(t)
	lines := shifts(s)
	for _, series := range s.Series {
		lines = append(lines, saturate(series).sentence(s.LevelKind()))
	}
	part.list(lines)
}

// saturationCells returns the column of a series.
func saturationCells(s *Study, x saturation) []cell {
	point := func(p foundPoint) string { return fmt.Sprintf("%s %s", levelTitle(s), formatLevel(p.At)) }
	sustained := point(x.Sustained)
	if len(x.Dips) > 0 {
		sustained += " (fewer at " + runs.FormatLevels(x.Dips, ", ") + ")"
	}
	slow := point(x.SlowTTFT)
	if !x.Known {
		slow += " or below"
	}
	return []cell{
		foundCell(x.ErrorsKnown, x.FirstErrors.Found, fmt.Sprintf("%s (%s)", point(x.FirstErrors), ErrorPct.Text(x.FirstErrors.Value))),
		foundCell(x.ErrorsKnown, x.Sustained.Found, sustained),
		foundCell(x.Known || x.SlowTTFT.Found, x.SlowTTFT.Found, slow),
		plateauCell(s, x.Plateau),
		foundCell(x.Known || x.Last == 0 && !math.IsInf(x.end(), 1), x.Last > 0, formatLevel(x.Last)),
	}
}

// foundCell returns a text, "none" if nothing was found, and "n/a" if that is unknown.
func foundCell(known, any bool, text string) cell {
	if !any {
		text = "none"
	}
	return cellIf(known, text)
}

func plateauCell(s *Study, p foundPoint) cell {
	text := fmt.Sprintf("~%s (%s %s", TPOTP50.Text(p.Value), s.LevelName(), formatLevel(p.At))
	if !p.Found {
		return cellIf(p.At != 0, text+"), not reached")
	}
	return cellIf(p.At != 0, text+"+)")
}

// shifts says by how much a series saturates later or earlier than the baseline. That needs a
// level at which the one that scales less was seen to saturate, and the other was not.
func shifts(s *Study) []string {
	var out []string
	base := saturate(s.Series[0])
	for _, series := range s.Series[1:] {
		x := saturate(series)
		less, more, word := base, x, "raises"
		if x.Last < base.Last {
			less, more, word = x, base, "reduces"
		}
		if base.Known && x.Known && less.Last > 0 && less.end() <= more.Last {
			out = append(out, fmt.Sprintf("**%s %s the capacity by %s:** the highest level before errors or a slow TTFT moves from %s to %s.",
				series.Name, word, strings.TrimLeft(formatChange(x.Last/base.Last, 0), "+-"), s.At(base.Last), s.At(x.Last)))
		}
	}
	return out
}

// addFindings adds the degradation of each series over its levels.
func addFindings(d *document, s *Study) {
	var curves []Series
	for _, series := range s.Series {
		if saturate(series).Metric != NoMetric && len(series.Levels) > 1 {
			curves = append(curves, series)
		}
	}
	if curves == nil {
		return
	}
	part := d.section("Degradation Curve and Key Findings")
	part.paragraph("Levels are saturated from the first errors or the first TTFT p50 above 1 s, degrading from the sharpest step if it is at least 10 %, and clean below.")
	for _, series := range curves {
		m := saturate(series).Metric
		if s.compares() {
			part = d.subsection(series.Name)
		}
		part.add(block{Code: textCurve(series, m)})
		part.list(append(bandLines(s, series, m), keyFindings(s, series)...))
	}
}

// textCurve returns three lines: levels, values and bands.
func textCurve(series Series, m Metric) string {
	bands := levelBands(series)
	title := m.Title() + ":"
	lines := []string{fmt.Sprintf("%-*s", len(title), "Level:"), title, strings.Repeat(" ", len(title))}
	for i, l := range series.Levels {
		value, band := m.Text(l.Value(m)), string(bands[i])
		width := max(len([]rune(value)), len(formatLevel(l.At)), len(band)) + 2
		if i > 0 && bands[i] == bands[i-1] {
			band = ""
		}
		for j, text := range []string{formatLevel(l.At), value, band} {
			lines[j] += fmt.Sprintf("%*s", width, text)
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return chart.OneLine(series.Name) + "\n" + strings.Join(lines, "\n")
}

// bandLines describes each band: "**90–100**: degrading, TPOT p95 83–86ms (+36% to +41% against concurrency 80)".
func bandLines(s *Study, series Series, m Metric) (out []string) {
	bands := levelBands(series)
	for i := 0; i < len(bands); {
		j := i
		for j+1 < len(bands) && bands[j+1] == bands[i] {
			j++
		}
		var values, pct []float64
		for _, l := range series.Levels[i : j+1] {
			if v := l.Value(m); !math.IsNaN(v) {
				values = append(values, v)
			}
			pct = append(pct, l.Value(ErrorPct))
		}
		text := fmt.Sprintf("**%s**: %s", joinEnds(formatLevel(series.Levels[i].At), formatLevel(series.Levels[j].At)), bands[i])
		if len(values) > 0 {
			text += fmt.Sprintf(", %s %s", m.Title(), joinEnds(m.Text(slices.Min(values)), m.Text(slices.Max(values))))
			if before := series.Levels[max(i-1, 0)]; i > 0 && before.Value(m) > 0 {
				text += fmt.Sprintf(" (%s against %s)", changes(slices.Min(values)/before.Value(m), slices.Max(values)/before.Value(m)), s.At(before.At))
			}
		}
		if most := slices.Max(pct); most > 0 {
			text += fmt.Sprintf(", up to %s errors", ErrorPct.Text(most))
		}
		out, i = append(out, text+"."), j+1
	}
	return out
}

// changes returns "+36% to +41%", or one of two equal changes.
func changes(low, high float64) string {
	if from, to := formatChange(low, 0), formatChange(high, 0); from != to {
		return from + " to " + to
	}
	return formatChange(low, 0)
}

// keyFindings returns what the curves of a series show.
func keyFindings(s *Study, series Series) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, m := range knownMetrics(s, TPOTP50, TPOTP95, TTFTP50, TTFTP95, LatencyP95) {
		if from, to := ends(series, m); from.At != to.At && from.Value > 0 {
			say("**%s** goes from %s (%s) to %s (%s), %sx.", m.Title(), m.Text(from.Value), s.At(from.At), m.Text(to.Value), s.At(to.At), Digits(to.Value/from.Value, 1))
		}
	}
	x := saturate(series)
	if !x.Known {
		say("**Levels that are not called saturated may be,** because the TTFT p50 is unknown at some %s.", s.LevelName())
	}
	if x.Step.Found {
		low, _ := series.Level(x.From)
		high, _ := series.Level(x.Step.At)
		say("**The sharpest step of %s** is from %s to %s: %s → %s, %s.", x.Metric.Title(), s.At(x.From), formatLevel(x.Step.At),
			x.Metric.Text(low.Value(x.Metric)), x.Metric.Text(high.Value(x.Metric)), formatChange(1+x.Step.Value/100, 0))
	}
	if text := unstable(s, series); text != "" {
		out = append(out, text)
	}
	if x.FirstErrors.Found {
		say("**Errors** begin at %s (%s).", s.At(x.FirstErrors.At), ErrorPct.Text(x.FirstErrors.Value))
	}
	if x.LeftOut != nil {
		say("**Runs above %d%% errors** were excluded at %s.", MaxErrorPct, s.At(x.LeftOut...))
	}
	if text := flat(s, series); text != "" {
		out = append(out, text)
	}
	return out
}

// ends returns the first and the last finite value of a figure.
func ends(series Series, m Metric) (from, to foundPoint) {
	points := finitePoints(series, m)
	if points == nil {
		return from, to
	}
	return points[0], points[len(points)-1]
}

// unstableRatio of TTFT p95 to p50 is that of queues that come and go.
const unstableRatio = 5

// unstable says from where on the TTFT p95 is far above the p50.
func unstable(s *Study, series Series) string {
	for _, l := range series.Levels {
		p50, p95 := l.Value(TTFTP50), l.Value(TTFTP95)
		if p95 > unstableRatio*p50 && p95 > slowTTFT {
			return fmt.Sprintf("**TTFT becomes unstable** at %s: p95 %s, while p50 is %s. Some turns wait in a queue.",
				s.At(l.At), TTFTP95.Text(p95), TTFTP50.Text(p50))
		}
	}
	return ""
}

// flatRatio bounds the largest value of a rate that counts as flat over the least one.
const flatRatio = 1.4

// flat says between which rates the series stays although its concurrency grows.
func flat(s *Study, series Series) string {
	from, to := ends(series, TurnsPerSecond)
	if !from.Found || s.LevelKind() == runs.Rate || to.At < 1.5*from.At {
		return ""
	}
	var rates []float64
	for _, p := range finitePoints(series, TurnsPerSecond) {
		rates = append(rates, p.Value)
	}
	if slices.Max(rates) > flatRatio*slices.Min(rates) {
		return ""
	}
	return fmt.Sprintf("**The rate stays flat** at %s turns/s while concurrency grows %sx: a higher concurrency makes the queue and the latency longer, and hardly adds throughput.",
		between(rates), Digits(to.At/from.At, 1))
}

// addSummary adds how the improvement develops over the levels, and the hit rates.
func addSummary(d *document, s *Study) {
	var out []string
	for _, series := range s.Series[1:] {
		for _, m := range []Metric{TTFTP50, TTFTP95, TTFTP99} {
			if o := summarise(m, s.Series[0], series, s.comparePrinted); len(o.changes) > 1 {
				out = append(out, trend(s, series, o)...)
				break
			}
		}
	}
	for _, series := range s.Series {
		if text := hitRates(s, series); text != "" {
			out = append(out, text)
		}
	}
	for _, series := range s.Series {
		var sum probe.SessionCounts
		for _, l := range series.Levels {
			sum.Merge(l.Sessions)
		}
		if text := sum.Finding(); text != "" {
			out = append(out, fmt.Sprintf("**Sessions of %s:** %s.", series.Name, text))
		}
	}
	d.list("Summary", out)
}

// trend describes the improvement at both ends, between them and at its peak. Between runs, it describes the change.
func trend(s *Study, series Series, o overall) (out []string) {
	who, word := "", "improvement"
	if len(s.Series) > 2 {
		who = " of " + series.Name
	}
	if s.Compared {
		word = "change"
	}
	kind, what := s.LevelName(), o.metric.Title()+" "+word+who
	first, last, peak := o.changes[0], o.changes[len(o.changes)-1], o.changes[0]
	for _, c := range o.changes {
		if c.improvement() > peak.improvement() {
			peak = c
		}
	}
	hits := ""
	if from, to := ends(series, KVHitRatePct); from.Found {
		hits = fmt.Sprintf(" The hit rate of %s goes from %s to %s.", series.Name, KVHitRatePct.Text(from.Value), KVHitRatePct.Text(to.Value))
	}
	out = []string{
		fmt.Sprintf("**%s at lowest %s (%s):** %s", what, kind, formatLevel(first.At), changeWords(s, first)),
		fmt.Sprintf("**%s at highest %s (%s):** %s", what, kind, formatLevel(last.At), changeWords(s, last)),
		fmt.Sprintf("**Trend%s:** %s (%s at %s -> %s at %s).%s", who, development(s, o.metric, first, last), changeWords(s, first), formatLevel(first.At), changeWords(s, last), formatLevel(last.At), hits),
	}
	if peak.improvement() > 0 {
		out = append(out, fmt.Sprintf("**Peak benefit%s:** %s %s shows the maximum %s improvement at %s.", who, levelTitle(s), formatLevel(peak.At), o.metric.Title(), peak.gain()))
	}
	return append(out, fmt.Sprintf("**Mean%s:** %s %s over %d levels.", who, o.metric.Title()+" "+word, changeWords(s, o.mean()), len(o.changes)))
}

// development says how the improvement changes from the first to the last level.
func development(s *Study, m Metric, first, last change) string {
	name, develops := "The "+m.Title()+" improvement", "decreases"
	switch rises, bad := last.improvement() > first.improvement(), first.improvement() < 0 && last.improvement() < 0; {
	case changeWords(s, first) == changeWords(s, last):
		return "The " + m.Title() + " improvement does not change"
	case bad && rises:
		name, develops = m.Title(), "is less worse"
	case bad:
		name, develops = m.Title(), "is even worse"
	case rises:
		develops = "increases"
	}
	return fmt.Sprintf("%s %s at higher %s", name, develops, s.LevelName())
}

// hitRates returns minimum, maximum and average of a series.
func hitRates(s *Study, series Series) string {
	m, points := KVHitRatePct, finitePoints(series, KVHitRatePct)
	if points == nil {
		return ""
	}
	sum := 0.0
	for _, p := range points {
		sum += p.Value
	}
	byValue := func(a, b foundPoint) int { return cmp.Compare(a.Value, b.Value) }
	low, high := slices.MinFunc(points, byValue), slices.MaxFunc(points, byValue)
	return fmt.Sprintf("**KV cache hit rate (%s):** %s (at %s) to %s (at %s), average %s.", series.Name,
		m.Text(low.Value), formatLevel(low.At), m.Text(high.Value), formatLevel(high.At), m.Text(sum/float64(len(points))))
}

// knee returns the highest clean level before saturation, NaN if there is no such level.
func knee(series Series) float64 {
	i := slices.IndexFunc(levelBands(series), func(b band) bool { return b == bandDegrading || b == bandSaturated })
	if i < 1 {
		return math.NaN()
	}
	return series.Levels[i-1].At
}
