package rules_test

import (
	"slices"
	"testing"
	"time"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
)

// sixfold tests one alert in six cases: it fires, it does not fire, it resolves, its data are missing, its
// counters restart, and its values are NaN. Scenarios use the recorder; here the test sets the series, so
// each case tests only the rule.
type sixfold struct {
	alert string
	// scope is the label scope of the rule; "" means all rules of the alert.
	scope string
	// in returns the input of the rules; nil means usual.
	in func() rules.Input
	// fault are the series that differ from the healthy world; almost are series just below the
	// threshold, empty if there is no threshold.
	fault, almost []series
	// lead is the healthy time before the fault.
	lead time.Duration
	// fires and resolves bound the time until the alert does.
	fires, resolves time.Duration
	// onMissing is a metric whose absence fires the alert; onNaN is true if NaN does.
	onMissing string
	onNaN     bool
}

// Lengths of what happens to the data.
const (
	// outOfSight is longer than the hour that the longest window on samples has,
	// and its wait.
	outOfSight = 80 * time.Minute
	// noNumbers is longer than any alert waits.
	noNumbers = 25 * time.Minute
	// blind is how long after that a window may still begin within it: an
	// hour, for the longer ones reach back to before.
	blind = time.Hour
)

// sixCases are the cases by name.
func sixCases() map[string]func(*testing.T, sixfold) {
	return map[string]func(*testing.T, sixfold){
		"fires":         testFires,
		"does not fire": testDoesNotFire,
		"resolves":      testResolves,
		"missing data":  testMissingData,
		"counter reset": testCounterReset,
		"not a number":  testNotANumber,
	}
}

func sixfolds() []sixfold {
	return slices.Concat(sixfoldObjectives(), sixfoldTargets(), sixfoldRegressions(), sixfoldProbers())
}

func TestSixCases(t *testing.T) {
	if testing.Short() {
		t.Skip("evaluates the rules over days; make test-long runs it")
	}
	for _, a := range sixfolds() {
		for name, test := range sixCases() {
			t.Run(a.alert+a.scope+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, a)
			})
		}
	}
}

// TestEveryAlertHasSixCases: the table contains all generated alerts.
func TestEveryAlertHasSixCases(t *testing.T) {
	var listed, entries []string
	for _, a := range sixfolds() {
		listed, entries = append(listed, a.alert), append(entries, a.alert+a.scope)
		if len(a.fault) == 0 || a.fires == 0 || a.resolves == 0 {
			t.Errorf("%s: no fault, or no bound on how long it takes to fire or to resolve", a.alert)
		}
	}
	slices.Sort(entries)
	for _, name := range alertNames() {
		if !slices.Contains(listed, name) && name != rules.AlertFleetRegression { // TestFleet has several targets
			t.Errorf("%s is not in the table of six cases", name)
		}
	}
	if once := slices.Compact(slices.Clone(entries)); len(once) != len(entries) {
		t.Errorf("an alert is in the table twice: %v", entries)
	}
}

func testFires(t *testing.T, a sixfold) {
	b := newBench(t, a)
	b.never(a.lead)
	b.turns(a.fault)
	b.soon(a.fires)
}

func testDoesNotFire(t *testing.T, a sixfold) {
	b := newBench(t, a)
	b.never(a.lead)
	b.turns(a.almost)
	b.never(2 * a.fires)
}

func testResolves(t *testing.T, a sixfold) {
	b := newBench(t, a)
	b.never(a.lead)
	b.turns(a.fault)
	b.soon(a.fires)
	b.turns(nil)
	b.over(a.resolves)
}

// testMissingData: some alerts fire if all or a part of the data end or never existed; the others do not.
// TestFaultNeverReadsAsHealth covers data that end during a fault.
func testMissingData(t *testing.T, a sixfold) {
	for _, lead := range []time.Duration{0, a.lead} {
		b := newBench(t, a)
		b.never(lead)
		b.down = true
		b.expect(a.onMissing == metrics.BuildInfo, b.outOfSight(a))
	}
	for _, metric := range newBench(t, a).reads() {
		t.Run(metric, func(t *testing.T) {
			b := newBench(t, a)
			b.never(a.lead)
			b.lose(metric)
			b.expect(a.onMissing == metric, b.outOfSight(a))
		})
	}
}

// testCounterReset: a new process neither raises the alert nor ends it, and does
// not keep it from firing.
func testCounterReset(t *testing.T, a sixfold) {
	b := newBench(t, a)
	b.never(a.lead)
	b.reset()
	b.never(a.lead)
	b.turns(a.fault)
	b.minute()
	b.reset()
	b.soon(a.lead + a.fires)
	b.reset()
	b.always(10 * time.Minute)
}

// testNotANumber: values that are no numbers raise nothing by themselves, and
// once they are over the alert works as before.
func testNotANumber(t *testing.T, a sixfold) {
	b := newBench(t, a)
	b.never(a.lead)
	b.nan = true
	b.expect(a.onNaN, noNumbers)
	b.nan = false
	b.over(2 * blind)
	b.turns(a.fault)
	b.soon(a.fires + blind)
}

// TestNewTargetIsNotBlind: a new target has no usual level for a day, which is no fault. After two days it is one,
// although the prober restarts every night and its data have a gap then.
func TestNewTargetIsNotBlind(t *testing.T) {
	if testing.Short() {
		t.Skip("evaluates two days; make test-long runs it")
	}
	young := slices.IndexFunc(sixfoldRegressions(), func(a sixfold) bool { return a.scope == "young" })
	for name, known := range map[string]time.Duration{"a healthy target": 24 * time.Hour, "none is ever known": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := sixfoldRegressions()[young]
			b := newBench(t, a)
			b.turns(a.fault)
			for i := range 49 * 60 {
				if minute := time.Duration(i) * time.Minute; minute == known && known > 0 {
					b.turns(nil)
				}
				b.down = i%(12*60) >= 12*60-10
				if b.minute(); b.firing() && (known > 0 || i < 44*60) {
					t.Fatalf("fires after %d minutes", i)
				}
			}
			if got, want := b.firing(), known == 0; got != want {
				t.Errorf("fires: %t, want %t", got, want)
			}
		})
	}
}
