package rules_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/tools/measured"
)

// oneFault is a fault of the table.
type oneFault struct {
	name    string
	healthy manner
	// faulty returns the turns of a fault that begins at an age of the street.
	faulty func(began time.Duration) manner
	// lasts is its length; 0 means 12 minutes, and 30 at one turn a minute.
	lasts time.Duration
	// pages is the number of pages; nil means one.
	pages func(age time.Duration) int
}

func oneFaults() []oneFault {
	always := func(m manner) func(time.Duration) manner { return func(time.Duration) manner { return m } }
	return []oneFault{
		{name: "connections are refused", healthy: well, faulty: always(fails(probe.ConnectError, 0))},
		{name: "429 for all turns", healthy: well, faulty: always(fails(probe.HTTP429, 0))},
		{name: "half of the turns fail", healthy: well, faulty: everySecondFails},
		{
			name:    "TTFT × 3, above the objective",
			healthy: first(400 * time.Millisecond), faulty: always(first(1200 * time.Millisecond)),
		},
		{
			name: "TTFT × 3, within the objective", healthy: well, faulty: always(first(600 * time.Millisecond)),
			pages: func(age time.Duration) int {
				if age < 3*time.Hour {
					return 0
				}
				return 1
			},
		},
		{
			name: "stall of 30 s", healthy: well, lasts: 30 * time.Second,
			faulty: func(began time.Duration) manner { return frozen(began + 30*time.Second) },
			pages:  func(time.Duration) int { return 0 },
		},
	}
}

// first are turns with a time to first token.
func first(token time.Duration) manner {
	return func(time.Duration) (probe.Result, time.Duration) {
		r := ok(0, probe.First)
		r.TTFT = probe.Some(token)
		return r, token + time.Second
	}
}

func everySecondFails(time.Duration) manner {
	n := 0
	return func(age time.Duration) (probe.Result, time.Duration) {
		if n++; n%2 == 0 {
			return well(age)
		}
		return probe.Result{Outcome: probe.HTTP5xx}, time.Second
	}
}

// play returns the pages from the start of the fault until 12 minutes after its end, each with its delay.
func (f oneFault) play(t *testing.T, perMinute float64, age time.Duration) []string {
	s := newStreet(t, 1, perMinute)
	s.lives(age, f.healthy, true)
	lasts := 12 * time.Minute
	if perMinute < 2 {
		lasts = 30 * time.Minute
	}
	pages := s.lives(cmp.Or(f.lasts, lasts), f.faulty(age), false)
	pages = append(pages, s.lives(12*time.Minute, f.healthy, false)...)
	for i, page := range pages {
		name, at, _ := strings.Cut(page, " ")
		began, err := time.ParseDuration(at)
		if err != nil {
			t.Fatal(err)
		}
		name = strings.TrimPrefix(strings.Replace(name, rules.AlertSLOFastBurn, "SLOFastBurn ", 1), "Synthetic")
		pages[i] = fmt.Sprintf("%s %.0f s", name, (began - age).Seconds())
	}
	return pages
}

// TestOneFaultOnePage: a fault is one page, or none, at every rate of turns and age of the prober.
func TestOneFaultOnePage(t *testing.T) {
	ages := []time.Duration{0, time.Minute, 10 * time.Minute, 2 * time.Hour, 24 * time.Hour}
	var missing atomic.Int32 // cells that do not run
	rows := [][]string{{"fault", "turns a minute", "at birth", "1 min", "10 min", "2 h", "1 day"}}
	t.Run("", func(t *testing.T) {
		for _, f := range oneFaults() {
			for _, perMinute := range []float64{1, 6, 12, 60} {
				row := append([]string{f.name, fmt.Sprint(perMinute)}, make([]string, len(ages))...)
				rows = append(rows, row)
				for i, age := range ages {
					missing.Add(1)
					t.Run(fmt.Sprintf("%s/%v a minute/%v", f.name, perMinute, age), func(t *testing.T) {
						if testing.Short() && (age > 0 || perMinute != 6 || f.name != "half of the turns fail") {
							t.Skip("make test-long runs it")
						}
						t.Parallel()
						pages := f.play(t, perMinute, age)
						row[2+i] = strings.Join(pages, ", ")
						missing.Add(-1)
						want := 1
						if f.pages != nil {
							want = f.pages(age)
						}
						if len(pages) != want {
							t.Errorf("%q, want %d pages", pages, want)
						}
					})
				}
			}
		}
	})
	if missing.Load() == 0 {
		writtenOneFaults(t, measured.Table("---", merged(rows)...))
	}
}

// merged joins rows of a fault that differ in the rate of turns alone.
func merged(rows [][]string) (out [][]string) {
	for _, row := range rows {
		if n := len(out) - 1; n >= 0 && out[n][0] == row[0] && slices.Equal(out[n][2:], row[2:]) {
			out[n][1] += ", " + row[1]
			continue
		}
		out = append(out, row)
	}
	return out
}

// writtenOneFaults compares a table with that of the docs, or writes it there.
func writtenOneFaults(t *testing.T, table string) {
	const file = "../../docs/background/alert-quality.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := measured.Replaced(string(page), "one-fault", table)
	switch {
	case err != nil:
		t.Fatal(err)
	case *update:
		if err := os.WriteFile(file, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	case fresh != string(page):
		t.Errorf("%s has another table: run this test with -args -update", file)
	}
}
