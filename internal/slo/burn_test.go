package slo

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const day = 24 * time.Hour

func TestBurnPlan(t *testing.T) {
	type tier struct {
		severity    Severity
		burn        float64
		long, short string
		share       float64
	}
	for _, tt := range []struct {
		name      string
		objective float64
		window    time.Duration
		perMinute float64
		want      []tier
		dropped   []string
	}{
		{
			name: "the workbook's numbers", objective: 0.99, window: 30 * day, perMinute: 12,
			want: []tier{{Page, 14.4, "1h", "5m", 0.02}, {Page, 6, "6h", "30m", 0.05}, {Ticket, 1, "3d", "6h", 0.1}},
		},
		{
			name: "rate unknown", objective: 0.999, window: 30 * day,
			want: []tier{{Page, 14.4, "1h", "5m", 0.02}, {Page, 6, "6h", "30m", 0.05}, {Ticket, 1, "3d", "6h", 0.1}},
		},
		{
			name: "four weeks", objective: 0.99, window: 28 * day, perMinute: 12,
			want: []tier{{Page, 13.44, "1h", "5m", 0.02}, {Page, 5.6, "6h", "30m", 0.05}, {Ticket, 1, "3d", "6h", 0.107142857143}},
		},
		{
			name: "a week: the ticket would be below 1", objective: 0.99, window: 7 * day, perMinute: 12,
			want: []tier{{Page, 3.36, "1h", "5m", 0.02}, {Page, 1.4, "6h", "30m", 0.05}, {Ticket, 1, "3d", "6h", 0.428571428571}},
		},
		{
			// 14.4 and 6 times a budget of 20 % would be 288 % and 120 % of all turns.
			name: "a low objective", objective: 0.8, window: 30 * day, perMinute: 12,
			want: []tier{{Page, 3.6, "4h", "5m", 0.02}, {Page, 3, "12h", "30m", 0.05}, {Ticket, 1, "3d", "6h", 0.1}},
		},
		{
			// At 12 turns a minute, 14.4 × 0.1 % bad turns are 5 in 29 minutes and 2 in 11m34s.
			name: "three nines", objective: 0.999, window: 30 * day, perMinute: 12,
			want: []tier{{Page, 14.4, "1h", "15m", 0.02}, {Page, 6, "6h", "30m", 0.05}, {Ticket, 1, "3d", "6h", 0.1}},
		},
		{
			name: "few turns", objective: 0.999, window: 30 * day, perMinute: 2,
			want: []tier{{Page, 14.4, "3h", "1h30m", 0.06}, {Page, 6, "8h", "3h", 0.066666666667}, {Ticket, 1, "3d", "18h", 0.1}},
		},
		{
			name: "hardly enough turns", objective: 0.999, window: 30 * day, perMinute: 0.15,
			want: []tier{{Page, 14.4, "2d", "18h", 0.96}, {Page, 6, "4d", "2d", 0.8}, {Ticket, 1, "4w", "10d", 0.933333333333}},
		},
		{
			name: "too few turns", objective: 0.999, window: 30 * day, perMinute: 0.12,
			dropped: []string{
				"the tier over 1h: at 0.12 turns per minute the budget of 30d is only 5.184 bad turns, and an alert needs 5; raise the rate or lower the objective",
				"the tier over 6h: at 0.12 turns per minute the budget of 30d is only 5.184 bad turns, and an alert needs 5; raise the rate or lower the objective",
				"the tier over 3d: at 0.12 turns per minute the budget of 30d is only 5.184 bad turns, and an alert needs 5; raise the rate or lower the objective",
			},
		},
		{
			name: "an objective that allows nearly everything", objective: 0.1, window: 30 * day, perMinute: 12,
			want: []tier{{Ticket, 1, "4d", "6h", 0.133333333333}},
			dropped: []string{
				"the tier over 1h: an objective of 0.1 allows so many bad turns that the alert would need nearly all turns to be bad; use an objective of at least 0.6",
				"the tier over 6h: an objective of 0.1 allows so many bad turns that the alert would need nearly all turns to be bad; use an objective of at least 0.6",
			},
		},
		{
			name: "a day", objective: 0.99, window: day, perMinute: 12,
			dropped: []string{
				"the tier over 1h: spending 2 % of a budget of 1d in 1h is no faster than allowed; use a window of at least 2d2h",
				"the tier over 6h: spending 5 % of a budget of 1d in 6h is no faster than allowed; use a window of at least 5d",
				"the tier over 3d: it would fire only after the whole budget of 1d is spent; use a longer window",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Objective{Objective: tt.objective, Window: tt.window}
			plan := o.BurnPlan(tt.perMinute)
			var got []tier
			for _, x := range plan.Tiers {
				got = append(got, tier{x.Severity, x.Burn, FormatDuration(x.Long), FormatDuration(x.Short), x.Share})
			}
			var dropped []string
			for _, d := range plan.Dropped {
				dropped = append(dropped, d.Reason)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(tier{})); diff != "" {
				t.Errorf("tiers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.dropped, dropped); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBurnPlanHolds tries many objectives, windows and rates. Each tier must be able to fire,
// not fire for one turn, and fire before the budget is spent.
func TestBurnPlanHolds(t *testing.T) {
	for _, objective := range []float64{0.3, 0.5, 0.6, 0.8, 0.9, 0.93, 0.95, 0.99, 0.995, 0.999, 0.9999} {
		for _, window := range []time.Duration{3 * day, 7 * day, 28 * day, 30 * day, 90 * day} {
			for _, perMinute := range []float64{0, 0.01, 0.2, 1, 7, 60, 10_000} {
				o := Objective{Objective: objective, Window: window}
				plan := o.BurnPlan(perMinute)
				if got, want := len(plan.Tiers)+len(plan.Dropped), len(baseTiers()); got != want {
					t.Fatalf("%v over %s at %v: %d tiers kept or dropped, want %d", objective, window, perMinute, got, want)
				}
				for _, x := range plan.Tiers {
					checkTier(t, o, x, perMinute)
				}
			}
		}
	}
}

func checkTier(t *testing.T, o Objective, x Tier, perMinute float64) {
	t.Helper()
	where := strings.Join([]string{string(x.Severity), formatNumber(o.Objective), FormatDuration(o.Window), formatNumber(perMinute)}, " ")
	threshold := x.Burn * o.Budget()
	if threshold > maxBadShare+1e-9 {
		t.Errorf("%s: asks for %v bad turns", where, threshold)
	}
	if x.Burn < 1 || x.Share <= 0 || x.Share >= 1 || x.Short > x.Long {
		t.Errorf("%s: tier %+v makes no sense", where, x)
	}
	if math.Abs(x.Share-x.Burn*float64(x.Long)/float64(o.Window)) > 1e-9 {
		t.Errorf("%s: share is %v, want burn × long / window", where, x.Share)
	}
	if perMinute == 0 {
		return
	}
	for _, w := range []struct {
		d   time.Duration
		bad int
	}{{x.Long, x.MinBadLong}, {x.Short, x.MinBadShort}} {
		if got := threshold * perMinute * w.d.Minutes(); got < float64(w.bad)*(1-1e-9) {
			t.Errorf("%s: %s holds %v bad turns at the threshold, want at least %d", where, FormatDuration(w.d), got, w.bad)
		}
		if w.bad < 2 {
			t.Errorf("%s: one bad turn in %s fires", where, FormatDuration(w.d))
		}
	}
}

func TestBudgetHasNoNoise(t *testing.T) {
	for objective, want := range map[float64]float64{0.99: 0.01, 0.999: 0.001, 0.95: 0.05, 0.9: 0.1} {
		if got := (Objective{Objective: objective}).Budget(); got != want {
			t.Errorf("budget of %v is %v, want %v", objective, got, want)
		}
	}
}

func TestWindowAtLeast(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"0s", "5m"}, {"5m", "5m"}, {"5m1s", "10m"}, {"50m", "1h"}, {"61m", "1h30m"}, {"25h", "1d12h"}, {"10000h", "90d"},
	} {
		d, err := time.ParseDuration(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := FormatDuration(WindowAtLeast(d)); got != tt.want {
			t.Errorf("WindowAtLeast(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
	all := windows()
	for i := 1; i < len(all); i++ {
		if r := float64(all[i]) / float64(all[i-1]); r <= 1 || r > 2 {
			t.Errorf("%s follows %s: want longer, at most twice", FormatDuration(all[i]), FormatDuration(all[i-1]))
		}
	}
}

func TestCoversJob(t *testing.T) {
	o := Objective{Targets: []string{"a"}, Workloads: []string{"x", "y"}}
	for _, tt := range []struct {
		target, workload string
		want             bool
	}{{"a", "x", true}, {"a", "z", false}, {"b", "x", false}} {
		if got := o.CoversJob(tt.target, tt.workload); got != tt.want {
			t.Errorf("CoversJob(%q, %q) = %v, want %v", tt.target, tt.workload, got, tt.want)
		}
	}
}
