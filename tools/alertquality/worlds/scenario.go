package worlds

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"synthetic/internal/backtest"
)

// Scenario is what a campaign simulates. Without Models or Faults those of the
// package are meant.
type Scenario struct {
	Models []Model
	Faults []Fault
}

// Place puts faults at their own times, counted from a time after the start of
// the source, in order. Faults without times are left out.
func Place(faults []Fault, from time.Duration) []Injection {
	var out []Injection
	for _, f := range faults {
		for _, at := range f.At {
			out = append(out, Injection{f, from + at, from + at + f.Length})
		}
	}
	slices.SortFunc(out, func(a, b Injection) int { return cmp.Compare(a.From, b.From) })
	return out
}

// Apart is the least time between the end of a placed fault and the next: a
// page in it still belongs to the first.
const Apart = backtest.Grace

// Fit says which fault a run of some length has no room for, so that no table
// leaves it out without a word.
func Fit(faults []Fault, run time.Duration) error {
	for _, f := range faults {
		// A random onset is up to an hour after the first hour of the run.
		least := 2*time.Hour + f.Length + recovery
		if len(f.At) > 0 {
			least = slices.Max(f.At) + f.Length + Apart
		}
		if least > run {
			return fmt.Errorf("fault %q needs runs of %s and they last %s", f.Name, least, run)
		}
	}
	return nil
}
