package figures

import (
	"math"

	"synthetic/internal/study/estimate"
	"synthetic/internal/study/runfile"
)

// TypicalKey is the key in Level.Typical of a latency ("ttft") of one kind of
// turn ("first" or "followup").
func TypicalKey(timing, kind string) string { return timing + "_" + kind }

// addTypical adds the geometric means by kind of turn. Only a run knows them: a
// report has quantiles.
func (l *Level) addTypical(results []runfile.Result) {
	l.Typical = map[string]Figure{}
	for part, kinds := range parts() {
		if part == "" {
			continue
		}
		for _, timing := range Timings() {
			values := estimate.Pool(timingSeries(results, pick(timing.Key), kinds)).Values
			if n := values.Count(); n > 0 {
				l.Typical[TypicalKey(timing.Key, part)] = Figure{
					Value: 1000 * values.GeometricMean(), Low: math.NaN(), High: math.NaN(), N: n,
				}
			}
		}
	}
}
