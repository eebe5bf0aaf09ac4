package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// minTurns is the smallest number of turns of a usable figure. With 30 turns and σ = 0.5,
// the geometric mean is known within 20 % (95 %), the smallest regression that is detected.
const minTurns = 30

// benchmarkFile is a run of synthetic sweep, or the JSON of a report.
type benchmarkFile struct {
	// Name is the name of the file, or of its directory if the file is run.json or
	// report.json.
	Name string
	Kind runfile.LevelKind
	// Variants in the order of the file.
	Variants []string
	// Workload of the measurement; nil if the file does not contain it.
	Workload []runfile.Parameter

	study *figures.Study
}

// openBenchmarkFile reads a file. Errors name the file, the place and the remedy.
func openBenchmarkFile(path string) (*benchmarkFile, error) {
	study, err := figures.Read(path)
	if err != nil {
		return nil, err
	}
	f := &benchmarkFile{Name: nameOf(path), Kind: study.Kind, Workload: study.Workload, study: study}
	if run := study.Run; run != nil { // a run lists variants without measurements, too
		f.Variants, f.Workload = run.Variants, run.Workload.Parameters
		return f, nil
	}
	for _, s := range study.Series {
		f.Variants = append(f.Variants, s.Name)
	}
	return f, nil
}

// levels returns the measured levels of a variant, rising.
func (f *benchmarkFile) levels(variant string) []float64 {
	var out []float64
	for _, l := range f.study.SeriesNamed(variant).Levels {
		out = append(out, l.At)
	}
	return out
}

// at returns a measured level of a variant. It returns an error for a level that is unfit as a baseline.
func (f *benchmarkFile) at(variant string, level float64) (*sink.Benchmark, error) {
	l, ok := f.study.SeriesNamed(variant).Level(level)
	switch pct := l.Value(figures.ErrorPct); {
	case !ok:
		return nil, fmt.Errorf("nothing was measured at %g", level)
	case pct > figures.MaxErrorPct:
		return nil, fmt.Errorf("%.1f %% of its turns failed, so that its latencies are those of the survivors", pct)
	case l.NotReached != "":
		return nil, fmt.Errorf("the level was not reached: %s", l.NotReached)
	case l.GivenUp:
		return nil, errors.New("the sweep gave it up before its end: it is more than the deployment can carry")
	}
	out := &sink.Benchmark{Run: f.Name, Variant: variant, Kind: string(f.Kind), Level: level}
	return out, addFigures(out, l)
}

// addFigures adds the figures of a level. Without separate first and follow-up turns, both kinds share the
// quantiles, and there is no typical value to compare with.
func addFigures(out *sink.Benchmark, l figures.Level) error {
	// In the order of probe.TurnKinds and of sink.Signals.
	kinds := []figures.Turns{figures.FirstTurns, figures.FollowupTurns}
	signals := []figures.Timing{figures.TTFT, figures.TPOT}
	out.Pooled = !slices.ContainsFunc(kinds, func(kind figures.Turns) bool {
		return slices.ContainsFunc(signals, func(t figures.Timing) bool { return !math.IsNaN(l.Figure(t.Quantile(kind, 0)).Value) })
	})
	few, known := uint64(0), false
	for k, kind := range kinds {
		for i, timing := range signals {
			b, n := benchmark(l, timing, kind, out.Pooled)
			if b == (sink.SignalFigures{}) {
				few = max(few, n)
				continue
			}
			known, out.Figures[k][i] = true, b
		}
	}
	switch {
	case known:
		return nil
	case few > 0:
		return fmt.Errorf("it has only %d turns of a kind, and it takes %d", few, minTurns)
	}
	return errors.New("it has neither a TTFT nor a TPOT")
}

// benchmark returns the benchmark of one signal, and the number of its turns. The benchmark is
// zero if these are too few.
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
	if !median.Known() || n > 0 && n < minTurns {
		return b, n
	}
	b.Samples = probe.Opt[int]{V: int(n), OK: n > 0}
	for i := range sink.Quantiles() { // TestQuantilesAgree compares them with those of the figures
		if f := l.Figure(timing.Quantile(over, i)); f.Known() {
			b.Quantiles[i] = probe.Some(fromMillis(f.Value))
		}
	}
	if !pooled {
		// A report of another tool has no geometric mean. Latencies are nearly log-normal, so
		// the median is close to it.
		b.Typical = probe.Some(fromMillis(cmp.Or(l.Figures[timing.Typical(kind)].Value, median.Value)))
	}
	return b, n
}

func fromMillis(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// nameOf returns the file's name without its extension, or its directory's name for a default
// file name.
func nameOf(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	dir := filepath.Base(filepath.Dir(path))
	if (name == "run" || name == "report") && dir != "." && dir != string(filepath.Separator) {
		return dir
	}
	return name
}
