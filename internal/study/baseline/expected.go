// Package baseline reads what a benchmark says that turns should take: one
// level of a run of synthetic sweep, or of a report, as the plain values that
// live turns are compared with.
package baseline

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"synthetic/internal/sidecar/sink"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// leastTurns is how many turns a figure has to stand on. With 30, and turns
// that vary by σ = 0.5, the geometric mean is known within 20 % (95 %), which is
// the smallest regression that is looked for.
const leastTurns = 30

// File is a run or a report that was read.
type File struct {
	// Name is that of the measurement: the file's, or its directory's where that
	// is run.json or report.json.
	Name string
	Kind runfile.LevelKind
	// Variants in the order of the file.
	Variants []string
	// Workload is what was said to the deployment; nil where the file does not
	// tell.
	Workload []runfile.Parameter

	study *figures.Study
}

// Level is what one level of one variant says.
type Level struct {
	// Benchmarks by kind of turn and signal; the zero value of each that the
	// level does not know well enough.
	Benchmarks sink.Figures
	// Pooled says that the file does not tell first turns from follow-up turns:
	// the quantiles of all of them stand for both kinds, and there is no typical
	// value to compare with.
	Pooled bool
}

// Open reads a file. Errors name the file, the place and the remedy.
func Open(path string) (*File, error) {
	study, err := figures.Read(path)
	if err != nil {
		return nil, err
	}
	f := &File{Name: nameOf(path), Kind: study.Kind, Workload: study.Workload, study: study}
	if run := study.Run; run != nil { // with the variants that nothing was measured of
		f.Variants, f.Workload = run.Variants, run.Workload.Parameters
		return f, nil
	}
	for _, s := range study.Series {
		f.Variants = append(f.Variants, s.Name)
	}
	return f, nil
}

// Levels are those of a variant that something was measured of, in rising order.
func (f *File) Levels(variant string) []float64 {
	var out []float64
	for _, l := range f.study.Of(variant).Levels {
		out = append(out, l.At)
	}
	return out
}

// At reads a level, which must be one of Levels. An error says why it is not
// fit to be compared with.
func (f *File) At(variant string, level float64) (Level, error) {
	l, ok := f.study.Of(variant).Level(level)
	if !ok {
		return Level{}, fmt.Errorf("nothing was measured at %g", level)
	}
	if err := fit(l); err != nil {
		return Level{}, err
	}
	return levelOf(l)
}

// fit refuses levels whose latencies are those of survivors, or of a queue that
// grew for as long as it was measured.
func fit(l figures.Level) error {
	if pct := l.Value(figures.ErrorPct); pct > figures.MaxErrorPct {
		return fmt.Errorf("%.1f %% of its turns failed, so that its latencies are those of the survivors", pct)
	}
	if l.NotReached != "" {
		return fmt.Errorf("the level was not reached: %s", l.NotReached)
	}
	if l.GivenUp {
		return fmt.Errorf("the sweep gave it up before its end: it is more than the deployment can carry")
	}
	return nil
}

// levelOf turns figures into benchmarks.
func levelOf(l figures.Level) (Level, error) {
	// In the order of probe.TurnKinds and of regression.Signals.
	kinds := []figures.Turns{figures.FirstTurns, figures.FollowupTurns}
	signals := []figures.Timing{figures.TTFT, figures.TPOT}
	// No figure is of one kind of turn alone.
	out := Level{Pooled: !slices.ContainsFunc(kinds, func(kind figures.Turns) bool {
		return slices.ContainsFunc(signals, func(t figures.Timing) bool { return !math.IsNaN(l.Figure(t.Quantile(kind, 0)).Value) })
	})}
	few, known := uint64(0), false
	for k, kind := range kinds {
		for i, timing := range signals {
			b, n := benchmark(l, timing, kind, out.Pooled)
			if b == (sink.SignalFigures{}) {
				few = max(few, n)
				continue
			}
			known, out.Benchmarks[k][i] = true, b
		}
	}
	switch {
	case known:
		return out, nil
	case few > 0:
		return Level{}, fmt.Errorf("it has only %d turns of a kind, and it takes %d", few, leastTurns)
	}
	return Level{}, fmt.Errorf("it has neither a TTFT nor a TPOT")
}

// benchmark is the zero value where the level knows too little; n is then how
// many turns it has.
func benchmark(l figures.Level, timing figures.Timing, kind figures.Turns, pooled bool) (b sink.SignalFigures, n uint64) {
	over := kind
	if pooled {
		over = figures.AllTurns
	}
	median := l.Figure(timing.Quantile(over, 0))
	n = median.N
	if completed := l.Value(figures.Completed); pooled && n == 0 && completed > 0 {
		n = uint64(completed)
	}
	if !median.Known() || n > 0 && n < leastTurns {
		return b, n
	}
	b.Samples = int(n)
	for i := range sink.Quantiles() { // those of the figures, see TestQuantilesAgree
		if f := l.Figure(timing.Quantile(over, i)); f.Known() {
			b.Quantiles[i] = fromMillis(f.Value)
		}
	}
	if !pooled {
		// A report knows no geometric mean; of latencies, which are nearly
		// log-normal, the median is close to it.
		b.Typical = fromMillis(cmp.Or(l.Figures[timing.Typical(kind)].Value, median.Value))
	}
	return b, n
}

func fromMillis(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// nameOf is the file's name without its ending or, where that says nothing,
// its directory's.
func nameOf(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	dir := filepath.Base(filepath.Dir(path))
	if (name == "run" || name == "report") && dir != "." && dir != string(filepath.Separator) {
		return dir
	}
	return name
}
