package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// page adds what a reader needs first: the verdict, the capacities, the next step, one picture,
// the verdicts on all levels, what changed, and the warnings.
func (b *builder) page() {
	byRate := false
	for i, series := range b.s.Series[1:] {
		d := compareSeries(b.s, series, b.capacity[0], b.capacity[i+1])
		b.decisions = append(b.decisions, d)
		v := badge{Word: string(d.Verdict), Headline: d.headline(), Reason: d.explanation()}
		v.Class = map[comparisonResult]class{resultBetter: classGood, resultWorse: classBad}[d.Verdict]
		b.doc.Verdicts = append(b.doc.Verdicts, v)
		byRate = byRate || d.Criterion == byThroughput
	}
	if !b.compares {
		b.doc.Verdicts = []badge{b.singleBadge(b.capacity[0])}
	}
	if text := foreignLoad(b.s); text != "" {
		b.doc.Verdicts[0].Headline += " " + text
	}
	b.answerFindings = answerFindings(b.s)
	for i, f := range b.answerFindings {
		b.doc.Verdicts = slices.Insert(b.doc.Verdicts, i, f.badge)
	}
	if len(b.s.Objectives) > 0 {
		for _, c := range b.capacity {
			b.doc.Lead = append(b.doc.Lead, b.capacityLine(c))
		}
	}
	for _, series := range b.s.Series {
		var sum probe.SessionCounts
		for _, l := range series.Levels {
			sum.Merge(l.Sessions)
		}
		if text := sum.Finding(); text != "" {
			b.doc.Lead = append(b.doc.Lead, fmt.Sprintf("**Sessions of %s:** %s.", series.Name, text))
		}
	}
	next := b.nextStep()
	if b.answerFindings != nil {
		next = "find the cause of the wrong answers. Then " + next
	}
	b.doc.Lead = append(b.doc.Lead, "**Next:** "+next)
	b.doc.Picture = b.latencyPicture(b.leadTiming())
	if byRate || b.doc.Picture == nil {
		b.doc.Picture = cmp.Or(b.metricPicture(figures.OutputTokensPerSecond), b.doc.Picture)
	}
	if b.answerFindings != nil {
		b.doc.Picture = cmp.Or(b.metricPicture(figures.CorrectPct), b.doc.Picture)
	}
	b.matrix()
	b.changes()
	b.addWarnings()
}

// singleBadge judges a single series by its SLOs.
func (b *builder) singleBadge(c Compliance) badge {
	slos := joinWords(b.judgedWords())
	switch {
	case len(b.s.Objectives) == 0:
		return badge{Word: "not judged", Headline: saturate(b.baseline).sentence(b.s.LevelKind()), Reason: "No SLO is given."}
	case !c.Judged:
		return badge{Word: string(resultInconclusive), Headline: fmt.Sprintf("Whether %s meets %s is not known.", c.Variant, slos)}
	case c.Level != nil:
		return badge{Word: "meets its SLOs", Class: classGood, Headline: fmt.Sprintf("%s meets %s up to %s.", c.Variant, slos, b.s.At(c.Least))}
	case len(c.Undecided) > 0:
		return badge{Word: string(resultInconclusive), Headline: fmt.Sprintf("%s is not proven to meet %s at any %s that was measured.", c.Variant, slos, b.s.LevelName())}
	}
	if lower := c.unjudgedAbove(); lower != nil {
		return badge{Word: "misses its SLOs", Class: classBad, Headline: fmt.Sprintf("%s does not meet %s at %s; %s could not be judged.", c.Variant, slos, b.s.At(*c.Missed), b.s.At(lower...))}
	}
	return badge{Word: "misses its SLOs", Class: classBad, Headline: fmt.Sprintf("%s does not meet %s, not even at %s.", c.Variant, slos, b.s.At(*c.Missed))}
}

// capacityLine states a capacity, how it is known, and where and by which SLO it ends.
func (b *builder) capacityLine(c Compliance) string {
	if !c.Judged {
		return fmt.Sprintf("**Capacity of %s: not known.** No level could be judged (%s).", c.Variant, b.unjudgedReason(c.Variant))
	}
	proven, known := " (proven)", " (proven)"
	if !b.s.SeriesNamed(c.Variant).Any(func(l figures.Level) bool { return l.Verdict != nil }) {
		proven, known = "", " (from quantiles, without proof)" // a report of another tool
	}
	is := "not proven"
	switch {
	case c.Level != nil && c.Missed != nil:
		is = fmt.Sprintf("at least %s, below %s%s", b.s.At(c.Least), b.s.LevelKind().Number(*c.Missed), known)
	case c.Level != nil:
		is = fmt.Sprintf("at least %s%s", b.s.At(c.Least), known)
	case len(c.Undecided) == 0:
		is = fmt.Sprintf("below %s%s", b.s.At(*c.Missed), known)
	}
	return fmt.Sprintf("**Capacity of %s: %s.** %s", c.Variant, is, strings.Join(b.capacityReasons(c, proven), " "))
}

// capacityReasons returns sentences about the levels that bound a capacity.
func (b *builder) capacityReasons(c Compliance, proven string) (parts []string) {
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.Level != nil {
		text := fmt.Sprintf("At %s, every SLO is met", b.s.At(c.Least))
		if c.Confidence > 0 {
			text += fmt.Sprintf(" (confidence %s%%)", figures.Digits(100*min(c.Confidence, 0.999), 1))
		}
		if f := c.At.Figure(figures.InFlightMean); f.Known() {
			text += fmt.Sprintf(", with %s turns in flight on average", figures.Digits(f.Value, 1))
		}
		say("%s.", text)
	}
	switch {
	case len(c.Undecided) == 0:
	case len(c.Seeming) == len(c.Undecided):
		say("At %s, the SLOs seem to be met, but that is not proven.", b.s.At(c.Undecided...))
	default:
		say("At %s, neither a pass nor a miss is proven.", b.s.At(c.Undecided...))
	}
	if above := c.unjudgedAbove(); above != nil {
		say("%s could not be judged.", capitalized(b.s.At(above...)))
	}
	levels := b.s.SeriesNamed(c.Variant).Levels
	switch {
	case c.Missed != nil:
		say("At %s, it %s%s.", b.s.At(*c.Missed), missWords(b.s, c), proven)
	case c.Level != nil && levels[len(levels)-1].At == c.Least:
		say("It may be higher: no higher level was measured.")
	case c.Level != nil:
		say("It may be higher: no level is proven to miss an SLO.")
	}
	return parts
}

func (b *builder) unjudgedReason(series string) string {
	for _, l := range b.s.SeriesNamed(series).Levels {
		if why := cmp.Or(unsound(l), Judge(b.s.Objectives, l).Why); why != "" {
			return b.s.At(l.At) + ": " + why
		}
	}
	return fmt.Sprintf("no %s has the figures", b.s.LevelName())
}

// nextStep says what to do, for each variant but the baseline.
func (b *builder) nextStep() string {
	var all []string
	if share := foreignShareOf(b.s); share > 0 {
		all = append(all, fmt.Sprintf("stop the other clients and measure again: they received up to %.0f%% of the server's tokens, so these figures are not those of your load alone.", 100*share))
	} else if b.compares {
		for i, d := range b.decisions {
			all = append(all, b.afterComparison(d, b.capacity[0], b.capacity[i+1]))
		}
	} else {
		next := b.openStep(b.capacity[0])
		if next == "" {
			next = b.planWith(b.capacity[0])
		}
		all = append(all, next)
	}
	return strings.Join(append(all, b.caveats()...), " ")
}

// planWith is the next step if nothing is open.
func (b *builder) planWith(c Compliance) string {
	switch {
	case c.Level == nil:
		return fmt.Sprintf("relax the SLO or change the deployment, because not even %s is proven to meet it.", b.s.At(b.s.SeriesNamed(c.Variant).Levels[0].At))
	case len(c.Undecided) == 0:
		return fmt.Sprintf("plan with %s. For a finer answer, measure between %s.", b.s.At(c.Least), b.s.At(c.Least, *c.Missed))
	}
	return fmt.Sprintf("plan with %s, because %s cannot be decided%s.", b.s.At(c.Least), b.s.At(c.Undecided[0]), b.whyUndecided(c, c.Undecided[0]))
}

// afterComparison says what to do after the comparison of a variant with the baseline.
func (b *builder) afterComparison(d decision, base, own Compliance) string {
	open, of := b.openStep(own), own.Variant
	if open == "" {
		open, of = b.openStep(base), base.Variant
	}
	toFind := ""
	if open != "" && len(b.s.Objectives) > 0 {
		toFind = fmt.Sprintf(" To know the capacity of %s, %s", of, open)
	}
	var text string
	switch d.Verdict {
	case resultWorse:
		text = fmt.Sprintf("keep %s, and find what makes %s worse.", d.Baseline, d.Series)
	case resultMixed:
		text = "decide which of the figures below matter more."
	case resultInconclusive:
		text = cmp.Or(d.Remedy, open)
	case resultBetter:
		text = fmt.Sprintf("%s can replace %s.%s", d.Series, d.Baseline, toFind)
		if b.hasWrongAnswers(own) {
			text = fmt.Sprintf("measure %s again before it replaces %s.", d.Series, d.Baseline)
		}
	default:
		text = "choose by other reasons." + toFind
	}
	if len(b.decisions) > 1 {
		text = d.Series + ": " + text
	}
	return text
}

// hasWrongAnswers reports whether a series has a finding about its answers that its capacity does not exclude.
func (b *builder) hasWrongAnswers(c Compliance) bool {
	return slices.ContainsFunc(b.answerFindings, func(f answerFinding) bool {
		return f.series == c.Variant && (c.Level == nil || f.inCapacity(c))
	})
}

// caveats names the levels whose warnings concern what a reader does next: the capacities, and the
// levels that the prober distorted or that did not carry their load.
func (b *builder) caveats() (out []string) {
	for i, series := range b.s.Series {
		of := ""
		if b.compares {
			of = " of " + series.Name
		}
		var distorted, useless []float64
		for _, l := range series.Levels {
			switch {
			case unsound(l) == "" || slices.Contains(b.capacity[i].unjudgedAbove(), l.At):
			case Judge(b.s.Objectives, l).Unjudged():
				useless = append(useless, l.At)
			default:
				distorted = append(distorted, l.At)
			}
		}
		if useless != nil {
			out = append(out, fmt.Sprintf("Do not use the figures%s at %s: see the warnings.", of, b.s.At(useless...)))
		}
		if distorted != nil {
			out = append(out, fmt.Sprintf("Do not use the latencies%s at %s, because the prober was late; the verdicts hold.", of, b.s.At(distorted...)))
		}
		if c := b.capacity[i]; c.Level != nil && !slices.Contains(slices.Concat(useless, distorted), c.Least) && b.warned(series.Name, c.Least) {
			out = append(out, fmt.Sprintf("First read the warnings about %s%s.", b.s.At(c.Least), of))
		}
	}
	return out
}

// warned reports whether a level has a warning.
func (b *builder) warned(series string, at float64) bool {
	return slices.ContainsFunc(slices.Concat(b.warnings...), func(w warning) bool {
		return w.Kind != "" && w.At == at && (w.Series == "" || w.Series == series)
	})
}

// openStep says what to measure to know more about a capacity, "" if it lies between neighbouring
// levels, if no level above it can be decided, or if it is below a concurrency of 1.
func (b *builder) openStep(c Compliance) string {
	above, short := c.unjudgedAbove(), slices.IndexFunc(c.Undecided, func(at float64) bool { return !b.judge(c, at).TooClose() })
	switch {
	case len(b.s.Objectives) == 0:
		return "write `slos` into the plan, to judge the levels."
	case !c.Judged:
		return "repair what kept the levels from being judged, and measure again."
	case short >= 0:
		return fmt.Sprintf("measure %s for longer%s.", b.s.At(c.Undecided[short]), b.whyUndecided(c, c.Undecided[short]))
	case len(above) > 0:
		l, _ := b.s.SeriesNamed(c.Variant).Level(above[0])
		return fmt.Sprintf("measure %s again%s.", b.s.At(above[0]), bracketed(cmp.Or(unsound(l), Judge(b.s.Objectives, l).Why)))
	case b.endsAtOne(c):
	case c.Level == nil && len(c.Undecided) > 0:
		return fmt.Sprintf("measure below %s, which cannot be decided%s.", b.s.At(c.Undecided[0]), b.whyUndecided(c, c.Undecided[0]))
	case c.Level == nil:
		return fmt.Sprintf("measure below %s.", b.s.At(*c.Missed))
	case c.Missed == nil && len(c.Undecided) == 0:
		return fmt.Sprintf("measure above %s.", b.s.At(c.Least))
	}
	return ""
}

// endsAtOne reports whether not even one conversation at a time is proven to meet the SLOs. No lower concurrency can be
// measured.
func (b *builder) endsAtOne(c Compliance) bool {
	levels := b.s.SeriesNamed(c.Variant).Levels
	return c.Level == nil && b.s.LevelName() == string(runfile.Concurrency) && levels[0].At <= 1
}

// whyUndecided returns the reasons in brackets.
func (b *builder) whyUndecided(c Compliance, at float64) string {
	return bracketed(b.undecidedReasons(b.judge(c, at)))
}

func (b *builder) judge(c Compliance, at float64) runfile.LevelVerdict {
	l, _ := b.s.SeriesNamed(c.Variant).Level(at)
	return Judge(b.s.Objectives, l)
}

func (b *builder) undecidedReasons(v runfile.LevelVerdict) string {
	return v.Reasons(runfile.Undecided, labelOf(b.s.Objectives))
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// judgedWords returns the objectives that a level of the only series judges, or all if none does. Answers of one
// token have no TPOT, for example.
func (b *builder) judgedWords() (words []string) {
	for _, o := range b.s.Objectives {
		if b.baseline.Any(func(l figures.Level) bool { return Judge(b.s.Objectives, l).Judges(o.Name) }) {
			words = append(words, o.String())
		}
	}
	if words == nil {
		return b.objectiveWords()
	}
	return words
}

func (b *builder) objectiveWords() (words []string) {
	for _, o := range b.s.Objectives {
		words = append(words, o.String())
	}
	return words
}

// joinWords returns "a", "a and b", "a, b and c".
func joinWords(words []string) string {
	last := max(len(words)-1, 0)
	if last == 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// matrix adds the verdict on every level, beside the turns that were in flight.
func (b *builder) matrix() {
	if len(b.s.Objectives) == 0 {
		return
	}
	s := b.section("SLO Compliance Matrix")
	s.paragraph("PASS = " + strings.Join(b.objectiveWords(), " AND "))
	slos := column{title: "SLO", cell: func(l figures.Level) cell {
		v := Judge(b.s.Objectives, l)
		color := map[runfile.Standing]class{runfile.Met: classGood, runfile.Missed: classBad}[v.Standing]
		return cell{v.Words(labelOf(b.s.Objectives)), cmp.Or(color, classUnknown)}
	}}
	s.table(b.byLevel(append([]column{slos}, b.metricColumns(figures.InFlightMean, figures.CorrectPct)...)...))
	if text := b.unsoundMark(); text != "" {
		s.paragraph(text)
	}
}

// changes adds how each series differs from the baseline over the levels of both.
func (b *builder) changes() {
	for i, series := range b.s.Series[min(1, len(b.s.Series)):] {
		all := atEqualLoad(changedMetrics(), sound(b.baseline), sound(series))
		counts, title := "Levels beyond chance", "What Changed"
		what := "the mean over the levels that both reached, with its 95 % interval, and the number of levels that differ beyond chance."
		if !slices.ContainsFunc(all, func(o overall) bool { return o.ranged > 0 }) {
			counts, what = "Levels", "the mean over the levels that both reached, and the number of levels that differ. No interval is known, so the difference may be chance."
		}
		t := table{Header: []string{"Figure", "Change", counts}, Left: true}
		for _, o := range all {
			color := map[int]class{1: classGood, -1: classBad}[o.direction()]
			t.Rows = append(t.Rows, []cell{{Text: o.metric.Title()}, {Text: o.change()}, {o.count(), color}})
		}
		if len(t.Rows) == 0 {
			continue
		}
		if len(b.decisions) > 1 {
			title += ": " + b.decisions[i].Series
		}
		s := b.section(title)
		s.paragraph(fmt.Sprintf("%s against %s at the same load: %s", series.Name, b.baseline.Name, what))
		s.table(t)
	}
}

func changedMetrics() []figures.Metric {
	return []figures.Metric{
		figures.TTFTP50, figures.TTFTP95, figures.TPOTP50, figures.TPOTP95,
		figures.LatencyP50, figures.OutputTokensPerSecond, figures.KVHitRatePct, figures.CorrectPct,
	}
}

// warningsShown bounds the warnings of a page.
const warningsShown = 5

// addWarnings lists the worst warning of each cause and the places of the others.
func (b *builder) addWarnings() {
	if len(b.warnings) == 0 {
		return
	}
	shown := b.warnings
	if !b.full {
		shown = shown[:min(len(shown), warningsShown)]
	}
	var lines []string
	for _, group := range shown {
		lines = append(lines, group[0].String())
		if others := warningPlaces(group[1:]); others != "" {
			lines[len(lines)-1] += fmt.Sprintf(" Also at: %s.", others)
		}
	}
	if more := len(b.warnings) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("%d more are in %s.", more, figures.DataFile))
	}
	b.section("Warnings").list(lines)
}

// warningPlaces returns "kv, concurrency 40 and 50; rr, concurrency 40".
func warningPlaces(all []warning) string {
	var first []warning // of each series
	levels := map[string][]float64{}
	for _, w := range all {
		if levels[w.Series] == nil {
			first = append(first, w)
		}
		levels[w.Series] = append(levels[w.Series], w.At)
	}
	var places []string
	for _, w := range first {
		slices.Sort(levels[w.Series])
		places = append(places, w.place(levels[w.Series]...))
	}
	return strings.Join(places, "; ")
}

// appendix adds the method and the main figures of each series.
func (b *builder) appendix() {
	var described []runfile.Parameter
	for _, p := range slices.Concat(b.s.Method, b.s.Deployment) {
		if p.Source = ""; p.Name != "Server metrics" && p.Name != "Variants" { // the long form has the sources
			described = append(described, p)
		}
	}
	b.table("Appendix: Method", parameters(described))
	b.eachSeries(b.section("Appendix: Figures"), b.mainMetrics())
	s := b.section("How to Read This")
	s.list(append([]string{
		"In parentheses: the 95 % confidence interval. “?” is an unknown end of it, “(?)” an interval that is unknown or wider than the value. “–” is a figure that is unknown or has too few turns.",
		fmt.Sprintf("TPOT is the time per output token after the first. Latencies do not count failed turns, nor runs with more than %d %% errors. Hit Rate is the share of prompt tokens that the server had cached.", figures.MaxErrorPct),
		"All figures are in `" + figures.DataFile + "` and `report.csv`. The long form: `synthetic report render --full`.",
	}, b.marks()...))
}

// mainMetrics returns the figures of the appendix, and those that the SLOs judge.
func (b *builder) mainMetrics() []figures.Metric {
	all := []figures.Metric{figures.TTFTP50, figures.TTFTP95, figures.TTFTP99, figures.TPOTP50, figures.TPOTP99, figures.LatencyP50}
	for _, o := range b.s.Objectives {
		if m := o.Metric(); m != figures.NoMetric && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	if len(b.s.Objectives) == 0 {
		all = append(all, figures.InFlightMean)
	}
	return append(all, figures.ErrorPct, figures.OutputTokensPerSecond, figures.KVHitRatePct, figures.CorrectPct)
}

// unsoundMark explains the mark of levels at which a series is unsound, "" without one.
func (b *builder) unsoundMark() string {
	if !b.s.Any(func(l figures.Level) bool { return unsound(l) != "" }) {
		return ""
	}
	return "† marks a level whose figures are not compared: it carried less than 95 % of its load, or the prober was late. The verdict holds nevertheless, because turns for which the prober was too late do not count."
}

const notesShown = 3

// marks returns the notes on marks and on how figures were obtained.
func (b *builder) marks() []string {
	var all []string
	if text := b.unsoundMark(); text != "" && (b.full || len(b.s.Objectives) == 0) { // otherwise below the matrix
		all = []string{text}
	}
	notes := b.s.Notes
	if !b.full && len(notes) > notesShown {
		notes = append(slices.Clone(notes[:notesShown]), fmt.Sprintf("%d more notes are in %s.", len(notes)-notesShown, figures.DataFile))
	}
	return append(all, notes...)
}
