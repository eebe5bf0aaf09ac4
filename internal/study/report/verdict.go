package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// comparisonResult says how a series compares with the baseline at equal load.
type comparisonResult string

const (
	resultBetter comparisonResult = "better"
	resultWorse  comparisonResult = "worse"
	// Mixed: better in some figures and worse in others.
	resultMixed comparisonResult = "better and worse"
	// Alike: the intervals show that no figure differs by more than maxAlikeRatio.
	resultAlike comparisonResult = "no different"
	// Inconclusive: the measurement shows neither a difference nor its absence.
	resultInconclusive comparisonResult = "inconclusive"
)

// mostWorse is the ratio above which one latency percentile at one level keeps a series from replacing the baseline.
const mostWorse = 1.10

// comparison compares a series with the baseline. SLOs do not change it: latency at equal load decides, then throughput.
type comparison struct {
	Series
	Baseline     string
	Result       comparisonResult
	Shown        []overall // the figures that decided, or those that were compared
	ByThroughput bool
	// Worse are the latencies and error rates of single levels that are too much worse, worst first.
	Worse []change
	Best  change // the largest improvement of a latency at one level
}

// compareSeries compares a series of a study with its first one.
func compareSeries(s *Study, series Series) comparison {
	base := s.Series[0]
	c := comparison{Series: series, Baseline: base.Name}
	latencies := atEqualLoad(comparedLatencies(s), base, series)
	alike := latencies != nil
	for _, o := range latencies {
		alike = alike && o.alike()
	}
	c.findExtremes(base)
	if c.decide(latencies); c.Result == "" {
		c.decide(atEqualLoad([]Metric{OutputTokensPerSecond, TurnsPerSecond}, base, series))
		c.ByThroughput = c.Result != ""
	}
	switch {
	case c.Result != "":
	case latencies == nil && c.failing() != nil:
		c.Result = resultWorse
	case alike:
		c.Result, c.Shown = resultAlike, latencies
	default:
		c.Result, c.Shown = resultInconclusive, latencies
	}
	return c
}

// findExtremes finds the latency percentiles of single levels that are too much worse, those beyond chance first, and the
// largest improvement.
func (c *comparison) findExtremes(base Series) {
	var all []Metric
	for _, t := range comparedTimings {
		for i := range Quantiles() {
			all = append(all, shownQuantile(t, i))
		}
	}
	for _, o := range atEqualLoad(all, base, c.Series) {
		for _, x := range o.changes {
			if x.Ratio > mostWorse {
				c.Worse = append(c.Worse, x)
			} else if x.Direction > 0 && (c.Best.Ratio == 0 || x.Ratio < c.Best.Ratio) {
				c.Best = x
			}
		}
	}
	c.Worse = append(c.Worse, moreErrors(base, c.Series)...)
	slices.SortStableFunc(c.Worse, func(a, b change) int {
		if a.Noise != b.Noise {
			return map[bool]int{true: 1, false: -1}[a.Noise]
		}
		return cmp.Compare(b.Ratio, a.Ratio)
	})
}

var comparedTimings = []slo.SLI{slo.TTFT, slo.TPOT, slo.TurnDuration}

// comparedLatencies returns p50 and p95 of each latency, or the p99 if they are known at fewer than half of the levels.
func comparedLatencies(s *Study) (all []Metric) {
	for _, t := range comparedTimings {
		all = append(all, shownQuantiles(&Study{Series: s.Series}, t)...)
	}
	return all
}

// decide sets the result by the figures that are better or worse, if any is.
func (c *comparison) decide(all []overall) {
	var better, worse []overall
	for _, o := range all {
		switch o.direction() {
		case 1:
			better = append(better, o)
		case -1:
			worse = append(worse, o)
		}
	}
	c.Shown = slices.Concat(better, worse)
	switch {
	case better != nil && worse != nil:
		c.Result = resultMixed
	case better != nil:
		c.Result = resultBetter
	case worse != nil:
		c.Result = resultWorse
	}
}

// moreErrors returns the levels of both at which more turns of the other series failed. They come before all latencies.
func moreErrors(base, other Series) (out []change) {
	for _, p := range sharedLevels(base, other) {
		if more, noise := moreFail(p[0], p[1]); more {
			out = append(out, change{At: p[1].At, Metric: ErrorPct, Ratio: math.Inf(1), Noise: noise})
		}
	}
	return out
}

// addVerdict answers in at most three sentences: what is better and by how much, where it is not, and what to do next.
func addVerdict(d *document, s *Study) {
	wrong := answerFindings(s)
	var first, second, next string
	lead := slo.TTFT
	if s.compares() {
		first, second, next = compareAll(d, s)
	} else {
		first, second, next = single(d, s)
	}
	fails := capacityOf(s, s.Series[len(s.Series)-1], false).Fails
	for _, o := range s.Objectives {
		if m := metricOf(o); fails != nil && m.Turns == AllTurns && drawable(s, m) && slices.Contains(Judge(s.Objectives, *fails).Lost, o.Name) {
			lead = o.SLI
			break
		}
	}
	d.Picture = cmp.Or(latencyPicture(s, lead), metricPicture(s, OutputTokensPerSecond))
	d.Verdict = []string{first, second, next}
	if wrong != nil {
		d.Class = classBad
		d.Verdict = []string{wrong[0], first, "Next: find the cause of the wrong answers, then measure again."}
		d.Picture = cmp.Or(metricPicture(s, CorrectPct), d.Picture)
	}
	d.Verdict = slices.DeleteFunc(d.Verdict, func(s string) bool { return s == "" })
}

// compareAll returns the sentences on all series after the first, and colors the verdict if they agree.
func compareAll(d *document, s *Study) (first, second, next string) {
	var headlines, exceptions, steps []string
	for i, series := range s.Series[1:] {
		c := compareSeries(s, series)
		class := map[comparisonResult]class{resultBetter: classGood, resultWorse: classBad}[c.Result]
		if c.Worse != nil && class == classGood || i > 0 && class != d.Class {
			class = ""
		}
		d.Class = class
		headlines = append(headlines, c.headline(s)+capacityClause(s, series))
		if text := exception(s, c); text != "" {
			exceptions = append(exceptions, text)
		}
		steps = append(steps, afterwards(s, c))
	}
	sentence := func(parts []string) string { return capitalizedFirst(strings.Join(parts, "; ")) + "." }
	if exceptions != nil {
		second = sentence(exceptions)
	}
	return sentence(headlines), second, "Next: " + strings.Join(steps, "; ") + "."
}

// capitalizedFirst makes "at" at the start of a sentence "At", and so on. A name stays as it is.
func capitalizedFirst(text string) string {
	for _, word := range []string{"at ", "no ", "whether "} {
		if strings.HasPrefix(text, word) {
			return capitalized(text)
		}
	}
	return text
}

// headline states the result and the mean changes that show it.
func (c comparison) headline(s *Study) string {
	const mostShown = 4
	var words []string
	for _, o := range c.Shown[:min(mostShown, len(c.Shown))] {
		words = append(words, o.String())
	}
	shown := ""
	if words != nil {
		shown = ": " + strings.Join(words, ", ")
		if n := len(c.Shown[0].changes); n > 1 {
			shown += fmt.Sprintf(", geometric means over %d levels", n)
		}
	}
	if c.Shown == nil && c.Result == resultWorse {
		shown = ": " + c.failures(s)
	}
	switch c.Result {
	case resultInconclusive:
		return fmt.Sprintf("whether %s is better than %s cannot be told%s", c.Name, c.Baseline, shown)
	case resultAlike:
		return fmt.Sprintf("%s is no different from %s%s", c.Name, c.Baseline, shown)
	}
	except := ""
	if at := c.worseAt(); c.Result == resultBetter && at != nil {
		except = ", except" + c.worseFigure() + " at " + s.At(at...)
	}
	return fmt.Sprintf("%s is %s than %s%s%s", c.Name, c.Result, c.Baseline, except, shown)
}

// worseFigure names the figure that is too much worse beyond chance, with a space before it; "" for several.
func (c comparison) worseFigure() string {
	var titles []string
	for _, x := range c.Worse {
		if !x.Noise {
			titles = append(titles, x.Metric.Title())
		}
	}
	if slices.Sort(titles); len(slices.Compact(titles)) != 1 {
		return ""
	}
	return " " + titles[0]
}

// worseAt returns the levels at which a figure is too much worse beyond chance, in rising order.
func (c comparison) worseAt() (at []float64) {
	for _, x := range c.Worse {
		if !x.Noise {
			at = append(at, x.At)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// failing returns the levels at which more turns failed beyond chance, in rising order.
func (c comparison) failing() (at []float64) {
	for _, x := range c.Worse {
		if x.Metric == ErrorPct && !x.Noise {
			at = append(at, x.At)
		}
	}
	return at
}

// failures says where turns failed: "all turns of b failed at concurrency 10 and 20".
func (c comparison) failures(s *Study) string {
	which := "all"
	for _, at := range c.failing() {
		if l, _ := c.Level(at); l.Value(ErrorPct) < 100 {
			which = "more"
		}
	}
	return fmt.Sprintf("%s turns of %s failed at %s", which, c.Name, s.At(c.failing()...))
}

// capacityClause adds up to which level a series and the baseline meet the SLOs.
func capacityClause(s *Study, series Series) string {
	own, base := capacityOf(s, series, false), capacityOf(s, s.Series[0], false)
	if len(s.Objectives) == 0 || !own.Judged() || !base.Judged() {
		return ""
	}
	upTo := func(x capacity) string {
		if x.Meets == nil {
			return "at no level" + x.unknown()
		}
		return "up to " + s.At(x.Least()) + x.unknown()
	}
	if own.Least() == base.Least() && own.NotJudged == nil && base.NotJudged == nil {
		return ", and both meet the SLOs " + upTo(own)
	}
	return fmt.Sprintf(", and it meets the SLOs %s, %s %s", upTo(own), base.Variant, upTo(base))
}

// exception says where a series is not what its headline says.
func exception(s *Study, c comparison) string {
	switch {
	case c.Result == resultWorse && c.Best.Ratio > 0:
		text := describeChange(s, c.Best, c.Series)
		if c.Best.Survivors {
			l, _ := c.Level(c.Best.At)
			text += fmt.Sprintf(", but %s of its turns failed there", ErrorPct.Text(l.Value(ErrorPct)))
		}
		return text
	case c.Result == resultWorse && c.Shown == nil:
		return describeChange(s, c.Worse[0], c.Series)
	case c.Result == resultWorse && !c.ByThroughput:
		return fmt.Sprintf("no latency percentile of %s is better at any level of both", c.Name)
	case c.Result == resultWorse, c.Shown == nil:
		return ""
	case c.Worse == nil:
		return fmt.Sprintf("no latency percentile of %s is more than 10%% worse at any level of both", c.Name)
	}
	text := describeChange(s, c.Worse[0], c.Series)
	more := 0
	for _, x := range c.Worse[1:] {
		if !x.Noise && x.Metric != ErrorPct {
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf(", and %s over 10%% worse", map[bool]string{true: "1 more figure is", false: fmt.Sprintf("%d more figures are", more)}[more == 1])
	}
	return text
}

// describeChange describes a change at one level: "at concurrency 110, TTFT p50 of kv is 392ms against 348ms (13% worse)".
func describeChange(s *Study, c change, series Series) string {
	base, _ := s.Series[0].Level(c.At)
	own, _ := series.Level(c.At)
	text := fmt.Sprintf("at %s, %s of %s is %s against %s", s.At(c.At), c.Metric.Title(), series.Name, c.Metric.Text(own.Value(c.Metric)), c.Metric.Text(base.Value(c.Metric)))
	var notes []string
	if c.Known {
		notes = append(notes, strings.TrimLeft(c.String(), "+-"))
	}
	if c.Noise {
		notes = append(notes, "which may be chance")
	}
	if notes != nil {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}

// afterwards says what to do after a comparison.
func afterwards(s *Study, c comparison) string {
	switch {
	case c.Result == resultWorse:
		return fmt.Sprintf("keep %s, and find what makes %s worse", c.Baseline, c.Name)
	case c.Shown == nil:
		return "measure both at the same levels: " + nothingShared(s, c.Series)
	case c.Result == resultMixed:
		return "decide which of the figures below matter more"
	case c.Result == resultInconclusive:
		return "measure each level for longer, or repeat the sweep, because no figure differs beyond chance at most levels"
	case c.Worse != nil && c.Worse[0].Noise:
		return fmt.Sprintf("measure %s for longer before %s replaces %s", s.At(c.Worse[0].At), c.Name, c.Baseline)
	case c.Worse != nil:
		return fmt.Sprintf("find what makes %s worse at %s before it replaces %s", c.Name, s.At(c.Worse[0].At), c.Baseline)
	case c.Result == resultAlike:
		return fmt.Sprintf("%s can replace %s; choose by other reasons", c.Name, c.Baseline)
	}
	return fmt.Sprintf("%s can replace %s", c.Name, c.Baseline)
}

// nothingShared says why no level of a series can be compared with the baseline.
func nothingShared(s *Study, with Series) string {
	for _, series := range []Series{with, s.Series[0]} {
		for _, l := range series.Levels {
			if why := unsound(l); why != "" {
				return fmt.Sprintf("%s of %s was %s", s.At(l.At), series.Name, why)
			}
		}
	}
	return "no level of both has a latency or a throughput"
}

// single returns the sentences on the only series.
func single(d *document, s *Study) (first, second, next string) {
	x, name := capacityOf(s, s.Series[0], false), s.Series[0].Name
	slos := runs.JoinWords(judgedWords(s, cmp.Or(x.Meets, x.Fails)))
	switch {
	case len(s.Objectives) == 0:
		return unjudged(s)
	case !x.Judged():
		why := "no level has the figures"
		for _, l := range s.Series[0].Levels {
			if text := cmp.Or(unsound(l), Judge(s.Objectives, l).Why); text != "" {
				why = s.At(l.At) + ": " + text
				break
			}
		}
		return fmt.Sprintf("Whether %s meets %s is not known.", name, slos), capitalized(why) + ".", "Next: repair what kept the levels from being judged, and measure again."
	case x.Meets == nil:
		d.Class = classBad
		first = fmt.Sprintf("%s does not meet %s, not even at %s.", name, slos, s.At(x.Fails.At))
		next = fmt.Sprintf("Next: measure below %s, relax the SLO, or change the deployment.", s.At(x.Fails.At))
	case x.Fails == nil:
		d.Class = classGood
		first = fmt.Sprintf("%s meets %s up to %s, the highest %slevel.", name, slos, s.At(x.Least()), map[bool]string{true: "judged "}[x.NotJudged != nil])
		next = fmt.Sprintf("Next: measure above %s to find its end.", s.At(x.Least()))
	default:
		d.Class = classGood
		first = fmt.Sprintf("%s meets %s up to %s.", name, slos, s.At(x.Least()))
		next = fmt.Sprintf("Next: plan with %s; for a finer answer, measure between %s.", s.At(x.Least()), s.At(x.Least(), x.Fails.At))
	}
	if x.Fails != nil {
		second = fmt.Sprintf("At %s, it misses %s.", s.At(x.Fails.At), missedWords(s, *x.Fails))
	}
	if x.Unsettled {
		next = "Next: measure longer at the end of what passes, because chance could turn a verdict there (~ in the matrix)."
	}
	return first, second, next
}

// missedWords names the SLOs that a level misses, with its percentiles.
func missedWords(s *Study, l Level) string {
	var words []string
	for _, name := range Judge(s.Objectives, l).Lost {
		switch name {
		case givenUp:
			return "its SLOs, and the sweep gave it up"
		case manyErrors:
			return "its SLOs, because too many turns failed"
		}
		word := labels(s.Objectives)(name)
		for _, o := range s.Objectives {
			if f := l.Figure(metricOf(o)); o.Name == name && f.Known() {
				word += fmt.Sprintf(" (p%g %s)", percent(o), metricOf(o).Text(f.Value))
			}
		}
		words = append(words, word)
	}
	return runs.JoinWords(words)
}

// unjudged describes the saturation of a series without SLOs.
func unjudged(s *Study) (first, second, next string) {
	x := saturate(s.Series[0])
	first = x.sentence(s.LevelKind())
	if end := x.end(); !math.IsInf(end, 1) {
		l, _ := s.Series[0].Level(end)
		second = fmt.Sprintf("At %s, TTFT p50 is %s and %s of turns fail.", s.At(end), TTFTP50.Text(l.Value(TTFTP50)), ErrorPct.Text(l.Value(ErrorPct)))
	}
	switch {
	case x.Known && x.Last > 0 && second != "":
		next = fmt.Sprintf("Next: plan with at most %s, and write `slos` into the plan to judge the levels.", s.At(x.Last))
	case x.Known && x.Last > 0:
		next = fmt.Sprintf("Next: measure above %s to find its end, and write `slos` into the plan to judge the levels.", s.At(x.Last))
	default:
		next = "Next: write `slos` into the plan to judge the levels."
	}
	return first, second, next
}
