package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

const tpotTitle = "TPOT -- Time Per Output Token"

// levelTables adds the figures of all series, level by level and side by side.
func (b *builder) levelTables() {
	b.section("Results")
	if !b.compares { // the published reports of one run begin with it
		b.topic(tpotTitle, slices.Concat(b.shownQuantiles(slo.TPOT), b.known(ErrorPct)), b.latencyPicture(slo.TPOT))
	}
	for _, x := range []struct {
		timing slo.SLI
		title  string
	}{
		{slo.TTFT, "TTFT -- Time to First Token"}, {slo.AnswerTTFT, "Answer TTFT -- Time to First Content"},
		{slo.TPOT, tpotTitle}, {slo.ITL, "ITL -- Inter-Token Latency"}, {slo.TurnDuration, "End-to-End Latency"},
	} {
		if x.timing == slo.AnswerTTFT && b.sameAnswers() || x.timing == slo.TPOT && !b.compares {
			continue
		}
		b.topic(x.title, b.shownQuantiles(x.timing), b.latencyPicture(x.timing))
	}
	b.errors()
	b.topic("KV Cache Hit Rate (Cached / Prompt Tokens)", b.known(KVHitRatePct), nil)
	b.topic("Throughput (Output Tokens/s)", b.known(OutputTokensPerSecond), b.metricPicture(OutputTokensPerSecond))
	b.topic("Actual RPS (Completed Turns and Conversation Starts per Second)", b.known(TurnsPerSecond, ConversationStartsPerSecond), nil, b.ratesNote())
	b.topic("Max Concurrent Requests", b.known(InFlightMax), nil)
	b.answers()
	b.server()
	b.matrix()
	b.legend()
}

// topic adds a section with a table of metrics, what the changes in it sum up to, and notes.
func (b *builder) topic(title string, metrics []Metric, p *picture, notes ...string) {
	if len(metrics) == 0 {
		return
	}
	s := b.subsection(title)
	s.table(b.byLevel(b.metricColumns(metrics...)...))
	for _, series := range b.s.Series[1:] {
		s.paragraph(b.sums(series, metrics))
	}
	for _, text := range notes {
		s.paragraph(text)
	}
	if b.doc.Picture == nil || p == nil || b.doc.Picture.File != p.File {
		s.picture(p)
	}
}

// column is a column of a table by level.
type column struct {
	title string
	cell  func(at float64) cell
}

// byLevel returns a table with a row per level, without rows if columns is empty.
func (b *builder) byLevel(columns ...column) table {
	t := table{Header: []string{b.level}}
	if len(columns) == 0 {
		return t
	}
	for _, c := range columns {
		t.Header = append(t.Header, c.title)
	}
	for _, at := range b.s.Levels() {
		row := cells(b.markLevel(at))
		for _, c := range columns {
			row = append(row, c.cell(at))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// markLevel returns a level, with a mark if a series is unsound there.
func (b *builder) markLevel(at float64) string {
	for _, s := range b.s.Series {
		if l, ok := s.Level(at); ok && unsound(l) != "" {
			return b.row(at) + " †"
		}
	}
	return b.row(at)
}

// own returns a column for a series. cell gets its level.
func (b *builder) own(series Series, title string, shown func(Level) cell) column {
	if b.compares {
		title = strings.TrimSpace(series.Name + " " + title)
	}
	return column{title, func(at float64) cell {
		if l, ok := series.Level(at); ok {
			return shown(l)
		}
		return cell{"–", classUnknown}
	}}
}

// metricColumns returns the columns of each metric: the series, then their changes against the first.
func (b *builder) metricColumns(metrics ...Metric) (all []column) {
	for _, m := range metrics {
		for _, series := range b.s.Series {
			all = append(all, b.own(series, m.Title(), func(l Level) cell { return figure(m, l) }))
		}
		for _, series := range b.s.Series[1:] {
			if hasChange(m) {
				all = append(all, b.changeColumn(m, series))
			}
		}
	}
	return all
}

// hasChange reports whether tables compare a figure: shares of turns and of tokens already are ratios.
func hasChange(m Metric) bool {
	return m.Better() != Neither && m.Unit() != "%" && m != Failed && m != ForeignAnswers
}

// changeColumn compares a series with the baseline: an improvement within one study, otherwise a change.
func (b *builder) changeColumn(m Metric, series Series) column {
	title := "Improvement"
	if b.s.Compared {
		title = "Change"
	}
	if title = strings.TrimSpace(m.Title() + " " + title); len(b.s.Series) > 2 {
		title = series.Name + " " + title
	}
	return column{title, func(at float64) cell {
		base, ok := b.baseline.Level(at)
		if other, also := series.Level(at); ok && also && unsound(base)+unsound(other) == "" {
			return b.changeCell(m, base, other)
		}
		return cell{"–", classUnknown}
	}}
}

// compare compares a figure as tables print it.
func (b *builder) compare(m Metric, base, other Level) change {
	if b.s.Compared { // a reader can check it by the printed figures
		base, other = asPrinted(m, base), asPrinted(m, other)
	}
	return compareFigures(m, base, other)
}

// words returns a change as tables print it: a change between runs, an improvement within one.
func (b *builder) words(c change) string {
	if b.s.Compared {
		return c.String()
	}
	return c.gain()
}

// summarise summarises the changes of a figure as tables print them.
func (b *builder) summarise(m Metric, series Series) overall {
	o := overall{metric: m}
	for _, p := range sharedLevels(b.baseline, series) {
		if c := b.compare(m, p[0], p[1]); c.Known && c.Ratio > 0 {
			o.add(c)
		}
	}
	return o
}

func (b *builder) changeCell(m Metric, base, other Level) cell {
	c := b.compare(m, base, other)
	if !c.Known {
		return cell{"n/a", classUnknown}
	}
	shown := cell{Text: b.words(c) + c.mark()}
	if c.sure() {
		shown.Class = map[int]class{1: classGood, -1: classBad}[c.Direction]
	}
	return shown
}

// asPrinted returns the level with a latency rounded as it is printed.
func asPrinted(m Metric, l Level) Level {
	if f := l.Figure(m); m.Unit() == "ms" && f.Value >= 10 && !math.IsInf(f.Value, 0) {
		f.Value = math.RoundToEven(f.Value)
		l.Figures = maps.Clone(l.Figures)
		l.Figures[m] = f
	}
	return l
}

func figure(m Metric, l Level) cell {
	f := l.Figure(m)
	if !f.Known() {
		return cell{m.Cell(f), classUnknown}
	}
	return cell{Text: m.Cell(f)}
}

// known returns the metrics that a series has at half of the levels or more. The detailed comparison has the others.
func (b *builder) known(metrics ...Metric) (all []Metric) {
	for _, m := range metrics {
		if slices.ContainsFunc(b.s.Series, func(s Series) bool { return 2*countKnown(s, m) >= len(b.s.Levels()) }) {
			all = append(all, m)
		}
	}
	return all
}

// shownQuantiles returns the quantiles of a latency in the level tables: p50, p95 and those of SLOs, or the p99 if the
// others are unknown.
func (b *builder) shownQuantiles(t slo.SLI) []Metric {
	p50, p95, p99 := shownQuantile(t, 0), shownQuantile(t, 1), shownQuantile(t, 2)
	all := b.known(p50, p95)
	if t == slo.ITL { // its p99 is that of long gaps
		all = b.known(p50, p99)
	} else if len(all) == 0 {
		all = b.known(p99)
	}
	for _, o := range b.s.Objectives {
		if m := metricOf(o); m.Timing == t && !slices.Contains(all, m) {
			all = append(all, b.known(m)...)
		}
	}
	return all
}

// sameAnswers reports whether the first token always is the first content, so that Answer TTFT adds nothing.
func (b *builder) sameAnswers() bool {
	return !b.s.Any(func(l Level) bool {
		answer, first := l.Figure(shownQuantile(slo.AnswerTTFT, 0)), l.Figure(TTFTP50)
		return answer.Known() && answer.Value != first.Value
	})
}

// sums says how far a series differs from the baseline in each metric, and where.
func (b *builder) sums(series Series, metrics []Metric) string {
	var parts []string
	survivors := []float64{}
	for _, m := range metrics {
		o := b.summarise(m, series)
		if sums := o.sums(b.s.Levels()); len(sums) > 0 && hasChange(m) {
			parts = append(parts, fmt.Sprintf("%s is %s", m.Title(), strings.Join(sums, ", ")))
		}
		for _, c := range o.changes {
			if l, _ := series.Level(c.At); c.Survivors {
				survivors = append(survivors, l.Value(ErrorPct))
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s against %s: %s.", series.Name, b.baseline.Name, strings.Join(parts, "; "))
	if len(survivors) > 0 {
		text += fmt.Sprintf(" Where it is better among survivors, up to %s of its turns failed, and the others had more of the deployment.", ErrorPct.Text(slices.Max(survivors)))
	}
	return text
}

// errors adds the shares of failed turns, and notes on runs and outcomes.
func (b *builder) errors() {
	metrics := b.known(ErrorPct)
	if len(metrics) == 0 {
		return
	}
	if !b.compares { // otherwise the detailed comparison has them
		metrics = append(metrics, b.known(Completed, Failed)...)
	}
	columns := b.metricColumns(metrics...)
	if b.s.Any(func(l Level) bool { return l.Runs > 1 || l.Runs > l.Valid }) {
		for _, series := range b.s.Series {
			columns = append(columns, b.own(series, "Valid Runs", func(l Level) cell {
				return cellIf(l.Runs > 0, fmt.Sprintf("%d/%d", l.Valid, l.Runs))
			}))
		}
	}
	columns = append(columns, column{"Notes", b.notes})
	t := b.byLevel(columns...)
	if !slices.ContainsFunc(t.Rows, func(r []cell) bool { return r[len(r)-1].Text != "" }) {
		t = b.byLevel(columns[:len(columns)-1]...)
	}
	b.subsection("Error Rates").table(t)
}

// notes says why runs of a level were left out, and how its turns failed.
func (b *builder) notes(at float64) cell {
	var all []string
	for _, series := range b.s.Series {
		l, _ := series.Level(at)
		var own []string
		if l.Notes != "" {
			own = append(own, l.Notes)
		}
		if l.GivenUp {
			own = append(own, "given up")
		}
		for _, outcome := range slices.Sorted(maps.Keys(l.Errors)) {
			own = append(own, fmt.Sprintf("%s %d", outcome, l.Errors[outcome]))
		}
		if text := strings.Join(own, ", "); text != "" && b.compares {
			all = append(all, series.Name+": "+text)
		} else if text != "" {
			all = append(all, text)
		}
	}
	return cell{Text: strings.Join(all, "; ")}
}

// ratesNote says what the rates count, and checks them by Little's law: turns per second × the duration of a turn are
// the turns in flight.
func (b *builder) ratesNote() string {
	text := "Completed turns/s counts turns, each conversation start several turns."
	if !b.s.Has(ConversationStartsPerSecond) {
		text = "Completed turns/s counts turns, not conversations, although such a report calls it conversation starts/s (Actual RPS)."
	}
	var bounds, rates, starts []float64
	for _, series := range b.s.Series {
		for _, l := range series.Levels {
			if bound, rate := b.bound(l), l.Value(TurnsPerSecond); bound > 0 && rate > 0 {
				bounds, rates = append(bounds, bound), append(rates, rate)
			}
			if start := l.Value(ConversationStartsPerSecond); !math.IsNaN(start) {
				starts = append(starts, start)
			}
		}
	}
	if len(bounds) == 0 {
		return text
	}
	text += fmt.Sprintf(" Turns in flight ÷ turn latency is %s turns/s, and %s were measured.", between(bounds), between(rates))
	most := slices.Max(rates) // at least as many as conversations
	if starts != nil {
		most = slices.Max(starts)
	}
	if target := b.s.TargetRPS; target != nil && *target > most && b.s.LevelKind() == runs.Concurrency {
		text += fmt.Sprintf(" The target of %.1f/s is never reached: conversations are long, so concurrency is the limit, not the arrival rate.", *target)
	}
	return text
}

// bound returns the turns per second that the level and the duration of a turn allow, NaN if unknown.
func (b *builder) bound(l Level) float64 {
	seconds, inFlight := l.Value(TurnTimeMean)/1000, l.Value(InFlightMean)
	if math.IsNaN(seconds) {
		seconds = l.Value(LatencyP50) / 1000
	}
	if math.IsNaN(inFlight) && b.s.LevelKind() == runs.Concurrency {
		inFlight = l.At
	}
	return inFlight / seconds
}

// between returns the least and the largest value: "1.21–1.62".
func between(values []float64) string {
	return joinEnds(fmt.Sprintf("%.2f", slices.Min(values)), fmt.Sprintf("%.2f", slices.Max(values)))
}

// legend explains the marks of the tables and how figures were obtained.
func (b *builder) legend() {
	marks := []struct{ mark, text string }{
		{" †", "† is not compared: the level did not carry its load."},
		{"(survivors)", "(survivors): more turns failed than in the baseline, and the others had more of the deployment."},
		{"% ~", "~ behind a change: the 95 % intervals do not separate the two figures. report.json has the intervals."},
		{"s ~", "~ behind a latency: so few turns that it is the largest one."},
	}
	var used []string
	for _, m := range marks {
		if slices.ContainsFunc(b.doc.Sections, func(s section) bool { return s.shows(m.mark) }) {
			used = append(used, m.text)
		}
	}
	used = append(used, b.s.Notes...)
	if len(used) > 0 {
		b.doc.Sections[len(b.doc.Sections)-1].list(used)
	}
}

// shows reports whether a cell of the section has a mark.
func (s section) shows(mark string) bool {
	return slices.ContainsFunc(s.Blocks, func(x block) bool {
		return x.Table != nil && slices.ContainsFunc(x.Table.Rows, func(row []cell) bool {
			return slices.ContainsFunc(row, func(c cell) bool { return strings.HasSuffix(c.Text, mark) })
		})
	})
}
