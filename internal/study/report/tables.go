package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/serverside"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

const tpotTitle = "TPOT -- Time Per Output Token"

// addLevelTables adds the figures of all series, level by level and side by side.
func addLevelTables(d *document, s *Study) {
	d.section("Results")
	if !s.compares() { // the published reports of one run begin with it
		addTopic(d, s, tpotTitle, slices.Concat(shownQuantiles(s, slo.TPOT), knownMetrics(s, ErrorPct)), latencyPicture(s, slo.TPOT))
	}
	for _, x := range []struct {
		timing slo.SLI
		title  string
	}{
		{slo.TTFT, "TTFT -- Time to First Token"}, {slo.AnswerTTFT, "Answer TTFT -- Time to First Content"},
		{slo.TPOT, tpotTitle}, {slo.ITL, "ITL -- Inter-Token Latency"}, {slo.TurnDuration, "End-to-End Latency"},
	} {
		if x.timing == slo.AnswerTTFT && sameAnswers(s) || x.timing == slo.TPOT && !s.compares() {
			continue
		}
		addTopic(d, s, x.title, shownQuantiles(s, x.timing), latencyPicture(s, x.timing))
	}
	addErrors(d, s)
	addTopic(d, s, "KV Cache Hit Rate (Cached / Prompt Tokens)", knownMetrics(s, KVHitRatePct), nil)
	addTopic(d, s, "Throughput (Output Tokens/s)", knownMetrics(s, OutputTokensPerSecond), metricPicture(s, OutputTokensPerSecond))
	addTopic(d, s, "Actual RPS (Completed Turns and Conversation Starts per Second)", knownMetrics(s, TurnsPerSecond, ConversationStartsPerSecond), nil, ratesNote(s))
	addTopic(d, s, "Max Concurrent Requests", knownMetrics(s, InFlightMax), nil)
	addAnswers(d, s)
	addServer(d, s)
	addMatrix(d, s)
	addLegend(d, s)
	d.Tables = len(d.Sections)
}

// addTopic adds a section with a table of metrics, what the changes in it sum up to, and notes.
func addTopic(d *document, s *Study, title string, metrics []Metric, p *picture, notes ...string) {
	if len(metrics) == 0 {
		return
	}
	part := d.subsection(title)
	part.table(byLevel(s, metricColumns(s, metrics...)...))
	for _, series := range s.Series[1:] {
		part.paragraph(differences(s, series, metrics))
	}
	for _, text := range notes {
		part.paragraph(text)
	}
	if d.Picture == nil || p == nil || d.Picture.File != p.File {
		part.picture(p)
	}
}

// column is a column of a table by level.
type column struct {
	title string
	cell  func(at float64) cell
}

// byLevel returns a table with a row per level, without rows if columns is empty.
func byLevel(s *Study, columns ...column) table {
	t := table{Header: []string{levelTitle(s)}}
	if len(columns) == 0 {
		return t
	}
	for _, c := range columns {
		t.Header = append(t.Header, c.title)
	}
	for _, at := range s.Levels() {
		row := []cell{levelCell(s, at)}
		for _, c := range columns {
			row = append(row, c.cell(at))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// levelCell returns a level, with a mark if a series is unsound there.
func levelCell(s *Study, at float64) cell {
	for _, series := range s.Series {
		if l, ok := series.Level(at); ok && unsound(l) != "" {
			return marked(rowName(s, at), markUnreached)
		}
	}
	return cell{Text: rowName(s, at)}
}

// ownColumn returns a column for a series. cell gets its level.
func ownColumn(s *Study, series Series, title string, shown func(Level) cell) column {
	if s.compares() {
		title = strings.TrimSpace(series.Name + " " + title)
	}
	return column{title, func(at float64) cell {
		if l, ok := series.Level(at); ok {
			return shown(l)
		}
		return unknownCell("–")
	}}
}

// metricColumns returns the columns of each metric: the series, then their changes against the first.
func metricColumns(s *Study, metrics ...Metric) (all []column) {
	for _, m := range metrics {
		for _, series := range s.Series {
			all = append(all, ownColumn(s, series, m.Title(), func(l Level) cell { return figure(m, l) }))
		}
		for _, series := range s.Series[1:] {
			if hasChange(m) {
				all = append(all, changeColumn(s, m, series))
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
func changeColumn(s *Study, m Metric, series Series) column {
	title := "Improvement"
	if s.Compared {
		title = "Change"
	}
	if title = strings.TrimSpace(m.Title() + " " + title); len(s.Series) > 2 {
		title = series.Name + " " + title
	}
	return column{title, func(at float64) cell {
		base, ok := s.Series[0].Level(at)
		if other, also := series.Level(at); ok && also && unsound(base)+unsound(other) == "" {
			return changeCell(s, m, base, other)
		}
		return unknownCell("–")
	}}
}

// comparePrinted compares a figure as tables print it.
func (s *Study) comparePrinted(m Metric, base, other Level) change {
	if s.Compared { // a reader can check it by the printed figures
		base, other = asPrinted(m, base), asPrinted(m, other)
	}
	return compareFigures(m, base, other)
}

// changeWords returns a change as tables print it: a change between runs, an improvement within one.
func changeWords(s *Study, c change) string {
	if s.Compared {
		return c.String()
	}
	return c.gain()
}

func changeCell(s *Study, m Metric, base, other Level) cell {
	c := s.comparePrinted(m, base, other)
	if !c.Known {
		return unknownCell("n/a")
	}
	shown := marked(changeWords(s, c), c.mark())
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
		return unknownCell(m.Text(f.Value))
	}
	return marked(m.Text(f.Value), m.mark(f))
}

// knownMetrics returns the metrics that a series has at half of the levels or more. The detailed comparison has the others.
func knownMetrics(s *Study, metrics ...Metric) (all []Metric) {
	for _, m := range metrics {
		if slices.ContainsFunc(s.Series, func(x Series) bool { return 2*len(finitePoints(x, m)) >= len(s.Levels()) }) {
			all = append(all, m)
		}
	}
	return all
}

// shownQuantiles returns the quantiles of a latency in the level tables: p50, p95 and those of SLOs, or the p99 if the
// others are unknown.
func shownQuantiles(s *Study, t slo.SLI) []Metric {
	p50, p95, p99 := shownQuantile(t, 0), shownQuantile(t, 1), shownQuantile(t, 2)
	all := knownMetrics(s, p50, p95)
	if t == slo.ITL { // its p99 is that of long gaps
		all = knownMetrics(s, p50, p99)
	} else if len(all) == 0 {
		all = knownMetrics(s, p99)
	}
	for _, o := range s.Objectives {
		if m := metricOf(o); m.Timing == t && !slices.Contains(all, m) {
			all = append(all, knownMetrics(s, m)...)
		}
	}
	return all
}

// sameAnswers reports whether the first token always is the first content, so that Answer TTFT adds nothing.
func sameAnswers(s *Study) bool {
	return !s.Any(func(l Level) bool {
		answer, first := l.Figure(shownQuantile(slo.AnswerTTFT, 0)), l.Figure(TTFTP50)
		return answer.Known() && answer.Value != first.Value
	})
}

// differences says how far a series differs from the baseline in each metric, and where.
func differences(s *Study, series Series, metrics []Metric) string {
	var parts []string
	survivors := []float64{}
	for _, m := range metrics {
		o := summarise(m, s.Series[0], series, s.comparePrinted)
		if sums := o.sums(s.Levels()); len(sums) > 0 && hasChange(m) {
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
	text := fmt.Sprintf("%s against %s: %s.", series.Name, s.Series[0].Name, strings.Join(parts, "; "))
	if len(survivors) > 0 {
		text += fmt.Sprintf(" Where it is better among survivors, up to %s of its turns failed, and the others had more of the deployment.", ErrorPct.Text(slices.Max(survivors)))
	}
	return text
}

// addErrors adds the shares of failed turns, and notes on runs and outcomes.
func addErrors(d *document, s *Study) {
	metrics := knownMetrics(s, ErrorPct)
	if len(metrics) == 0 {
		return
	}
	if !s.compares() { // otherwise the detailed comparison has them
		metrics = append(metrics, knownMetrics(s, Completed, Failed)...)
	}
	columns := metricColumns(s, metrics...)
	if s.Any(func(l Level) bool { return l.Runs > 1 || l.Runs > l.Valid }) {
		for _, series := range s.Series {
			columns = append(columns, ownColumn(s, series, "Valid Runs", func(l Level) cell {
				return cellIf(l.Runs > 0, fmt.Sprintf("%d/%d", l.Valid, l.Runs))
			}))
		}
	}
	columns = append(columns, column{"Notes", func(at float64) cell { return errorNotes(s, at) }})
	t := byLevel(s, columns...)
	if !slices.ContainsFunc(t.Rows, func(r []cell) bool { return r[len(r)-1].Text != "" }) {
		t = byLevel(s, columns[:len(columns)-1]...)
	}
	d.subsection("Error Rates").table(t)
}

// errorNotes says why runs of a level were left out, and how its turns failed.
func errorNotes(s *Study, at float64) cell {
	var all []string
	for _, series := range s.Series {
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
		if text := strings.Join(own, ", "); text != "" && s.compares() {
			all = append(all, series.Name+": "+text)
		} else if text != "" {
			all = append(all, text)
		}
	}
	return cell{Text: strings.Join(all, "; ")}
}

// ratesNote says what the rates count, and checks them by Little's law: turns per second × the duration of a turn are
// the turns in flight.
func ratesNote(s *Study) string {
	text := "Completed turns/s counts turns, each conversation start several turns."
	if !s.Has(ConversationStartsPerSecond) {
		text = "Completed turns/s counts turns, not conversations, although such a report calls it conversation starts/s (Actual RPS)."
	}
	var bounds, rates, starts []float64
	for _, series := range s.Series {
		for _, l := range series.Levels {
			if bound, rate := rateBound(s, l), l.Value(TurnsPerSecond); bound > 0 && rate > 0 {
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
	if target := s.TargetRPS; target != nil && *target > most && s.LevelKind() == runs.Concurrency {
		text += fmt.Sprintf(" The target of %.1f/s is never reached: conversations are long, so concurrency is the limit, not the arrival rate.", *target)
	}
	return text
}

// rateBound returns the turns per second that the level and the duration of a turn allow, NaN if unknown.
func rateBound(s *Study, l Level) float64 {
	seconds, inFlight := l.Value(TurnTimeMean)/1000, l.Value(InFlightMean)
	if math.IsNaN(seconds) {
		seconds = l.Value(LatencyP50) / 1000
	}
	if math.IsNaN(inFlight) && s.LevelKind() == runs.Concurrency {
		inFlight = l.At
	}
	return inFlight / seconds
}

// between returns the least and the largest value: "1.21–1.62".
func between(values []float64) string {
	return joinEnds(fmt.Sprintf("%.2f", slices.Min(values)), fmt.Sprintf("%.2f", slices.Max(values)))
}

// addLegend explains the marks of the tables and how figures were obtained.
func addLegend(d *document, s *Study) {
	shown := map[mark]bool{}
	for _, part := range d.Sections {
		for _, b := range part.Blocks {
			if b.Table == nil {
				continue
			}
			for _, c := range slices.Concat(b.Table.Rows...) {
				shown[c.Mark] = true
			}
		}
	}
	var used []string
	for m := markUnreached; m <= markLargest; m++ {
		if shown[m] {
			used = append(used, m.footnote())
		}
	}
	d.Footnotes = append(d.Footnotes, used...)
	d.Sections[len(d.Sections)-1].list(append(used, s.Notes...))
}

// addServer adds the deployment's own metrics, those of all its pages side by side.
func addServer(d *document, s *Study) {
	var columns []column
	for _, f := range serverFigures() {
		for _, series := range s.Series {
			if series.Any(func(l Level) bool { return f.text(l) != "" }) {
				columns = append(columns, ownColumn(s, series, f.title, func(l Level) cell {
					text := f.text(l)
					return cellIf(text != "", text)
				}))
			}
		}
	}
	if len(columns) > 0 {
		part := d.subsection("Server Metrics")
		part.table(byLevel(s, columns...))
		part.paragraph("As the server counts them. A figure of several pages of metrics is that of the first page in the alphabet; report.json has all.")
	}
}

type serverFigure struct {
	name, title string
	scale       float64
	unit        string
	decimals    int
}

// serverFigures returns the figures of the table, in the order of columns.
func serverFigures() []serverFigure {
	return []serverFigure{
		{serverside.KVHitRatio, "KV hit", 100, "%", 1},
		{serverside.KVUsageMax, "KV use max", 100, "%", 1},
		{serverside.QueueMean, "Waiting mean", 1, "", 1},
		{serverside.SpecAcceptance, "Acceptance", 100, "%", 2},
		{serverside.TTFTP50, "Server TTFT p50", 1000, "ms", 0},
		{serverside.ITLP50, "Server ITL p50", 1000, "ms", 1},
	}
}

// text returns the figure of a level, "" without it. Snapshots whose value was in the first or the last bucket are
// averaged apart, so there can be a lower and an upper end.
func (f serverFigure) text(l Level) string {
	var ends []string
	for _, form := range [...]struct{ sign, suffix string }{{"≤ ", serverside.AtMost}, {"", ""}, {"> ", serverside.Above}} {
		for _, v := range l.Server {
			if v.Name == f.name+form.suffix {
				ends = append(ends, form.sign+strconv.FormatFloat(v.Value*f.scale, 'f', f.decimals, 64)+f.unit)
				break
			}
		}
	}
	return strings.Join(ends, " to ")
}
