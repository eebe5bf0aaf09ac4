package worlds

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"synthetic/tools/alertquality/engine"
)

// Scenario holds the contents of a scenario file.
type Scenario struct {
	Models []Model
	Faults []Fault
}

// PlaceFaults returns the faults at their own times, counted from a time after the start of the
// run, sorted. It ignores faults without times.
func PlaceFaults(faults []Fault, from time.Duration) []Injection {
	var out []Injection
	for _, f := range faults {
		for _, at := range f.At {
			out = append(out, Injection{f, from + at, from + at + f.Length})
		}
	}
	slices.SortFunc(out, func(a, b Injection) int { return cmp.Compare(a.From, b.From) })
	return out
}

// minGap is the least time between the end of a placed fault and the next fault. A page in it
// still belongs to the first.
const minGap = engine.Grace

// CheckFit returns an error if a run is too short for one of the faults, because tables would
// not show such a fault.
func CheckFit(faults []Fault, run time.Duration) error {
	for _, f := range faults {
		// A random onset lies up to one hour after the first hour of the run.
		least := 2*time.Hour + f.Length + recovery
		if len(f.At) > 0 {
			least = slices.Max(f.At) + f.Length + minGap
		}
		if least > run {
			return fmt.Errorf("fault %q needs runs of %s and they last %s", f.Name, least, run)
		}
	}
	return nil
}
