package review

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

var (
	quick     = slo.Objective{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.9}
	available = slo.Objective{Name: "up", SLI: slo.Availability, Objective: 0.9}
	key       = probe.Key{Target: "t", Workload: "w"}
	monday    = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
)

func jobWith(objectives ...slo.Objective) sink.Job {
	job := sink.Job{Objectives: objectives}
	job.Target.Name, job.Workload.Name = "t", "w"
	return job
}

// observe counts turns of an hour, of which the first are bad with an outcome.
func observe(c *Counter, start time.Time, turns, bad int, outcome probe.Outcome) {
	for n := range turns {
		r := turn(start.Add(time.Duration(n)*time.Second), probe.Success)
		if n < bad {
			r.Outcome, r.TTFT.V = outcome, 3*time.Second
			r.TTFT.OK = outcome == probe.Success
		}
		c.Observe(r)
	}
}

// TestUsualMisses: an objective is out of reach after three missed days of five, by turns that did not fail, at
// the same hour and by the definition of today. Its usual miss is that of the time of day. Both outlast a restart.
func TestUsualMisses(t *testing.T) {
	const no = -1
	type hours []int // the hour with bad turns on each day
	every := func(hour int) hours { return hours{hour, hour, hour, hour, hour} }
	for name, tt := range map[string]struct {
		hours hours
		// bad is the number of bad turns in the hour, of turns. Another hour has 40 good turns.
		bad     []int
		turns   int
		outcome probe.Outcome
		now     slo.Objective
		at      int // the hour of the question
		want    float64
	}{
		"three of five days":         {every(12), []int{80, 0, 60, 0, 40}, 100, probe.Success, quick, 12, 0.4},
		"the hour before":            {every(12), []int{80, 0, 60, 0, 40}, 100, probe.Success, quick, 11, 0.4},
		"every day":                  {every(12), []int{30, 40, 50, 60, 70}, 100, probe.Success, quick, 12, 0.5},
		"every day, at night":        {every(12), []int{30, 40, 50, 60, 70}, 100, probe.Success, quick, 3, 0},
		"a peak that moves":          {hours{11, 12, 13, 12, 11}, []int{50, 50, 50, 50, 50}, 100, probe.Success, quick, 12, 0.5},
		"around midnight":            {hours{0, 23, 0, 23, 0}, []int{50, 50, 50, 50, 50}, 100, probe.Success, quick, 0, 0.5},
		"nearly all turns":           {every(12), []int{95, 95, 95, 95, 95}, 100, probe.Success, quick, 12, 0.8},
		"incidents at three hours":   {hours{3, 0, 11, 0, 19}, []int{99, 0, 99, 0, 99}, 100, probe.Success, quick, 11, no},
		"incidents at five hours":    {hours{3, 7, 11, 15, 19}, []int{99, 99, 99, 99, 99}, 100, probe.Success, quick, 11, no},
		"two days":                   {every(12), []int{80, 0, 0, 0, 80}, 100, probe.Success, quick, 12, no},
		"two of the last five":       {append(every(12), 12), []int{80, 80, 0, 0, 0, 80}, 100, probe.Success, quick, 12, no},
		"exactly the budget":         {every(12), []int{14, 14, 14, 14, 14}, 100, probe.Success, quick, 12, no},
		"few turns an hour":          {every(12), []int{29, 29, 29, 29, 29}, 29, probe.Success, quick, 12, no},
		"failures":                   {every(12), []int{80, 80, 80, 80, 80}, 100, probe.HTTP5xx, quick, 12, no},
		"another threshold now":      {every(12), []int{80, 80, 80, 80, 80}, 100, probe.Success, slo.Objective{Name: "ttft", SLI: slo.TTFT, Threshold: 2 * time.Second, Objective: 0.9}, 12, no},
		"another share of turns now": {every(12), []int{80, 80, 80, 80, 80}, 100, probe.Success, slo.Objective{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.8}, 12, no},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCounter()
			c.Add(jobWith(quick, available))
			for d, bad := range tt.bad {
				date := monday.AddDate(0, 0, d)
				observe(c, date.Add(time.Duration(tt.hours[d])*time.Hour), tt.turns, bad, tt.outcome)
				observe(c, date.Add(21*time.Hour), 40, 0, probe.Success)
			}
			now := monday.AddDate(0, 0, len(tt.bad)).Add(time.Duration(tt.at) * time.Hour)
			restarted := NewCounter()
			if err := restarted.Restore(c.Save(false), now); err != nil {
				t.Fatal(err)
			}
			for process, c := range map[string]*Counter{"the first": c, "the next": restarted} {
				c.Add(jobWith(tt.now, available))
				got, found := c.UsualMisses(key, now)["ttft"]
				if found != (tt.want != no) || found && math.Abs(got-tt.want) > 1e-9 {
					t.Errorf("%s process: %v, %v, want %v", process, got, found, tt.want)
				}
			}
		})
	}
}

// TestUsualMissesLeaveFailuresOut: failures neither raise the share of an hour nor lower the slow turns of a day.
func TestUsualMissesLeaveFailuresOut(t *testing.T) {
	c := NewCounter()
	c.Add(jobWith(quick, available))
	for d := range 5 {
		date := monday.AddDate(0, 0, d)
		observe(c, date.Add(12*time.Hour), 50, 20, probe.Success)
		observe(c, date.Add(12*time.Hour), 50, 30, probe.HTTP5xx)
		observe(c, date.Add(2*time.Hour), 50, 50, probe.HTTP429)
	}
	if got := c.UsualMisses(key, monday.AddDate(0, 0, 5).Add(12*time.Hour)); got["ttft"] != 0.2 {
		t.Errorf("%v, want 0.2: 20 slow of 100 turns", got)
	}
}

// TestUsualMissesOfLateTurns: a turn that ends late counts in its own hour, even after the hour was looked at.
func TestUsualMissesOfLateTurns(t *testing.T) {
	c := NewCounter()
	c.Add(jobWith(quick))
	now := monday.AddDate(0, 0, 5).Add(12 * time.Hour)
	for d := range 5 {
		noon := monday.AddDate(0, 0, d).Add(12 * time.Hour)
		observe(c, noon, 20, 20, probe.Success)
		observe(c, noon.Add(time.Hour), 40, 0, probe.Success)
		if d == 4 {
			if got := c.UsualMisses(key, now); len(got) > 0 {
				t.Errorf("with 20 turns an hour: %v", got)
			}
		}
	}
	for d := range 5 {
		observe(c, monday.AddDate(0, 0, d).Add(12*time.Hour), 20, 0, probe.Success)
	}
	if got := c.UsualMisses(key, now); got["ttft"] != 0.5 {
		t.Errorf("%v, want 0.5: 20 slow of 40 turns", got)
	}
}

// TestHoursAreForgotten: kept days have no more hours than decisions need, and a changed objective drops them.
func TestHoursAreForgotten(t *testing.T) {
	c := NewCounter()
	c.Add(jobWith(quick))
	for d := range lookedAtDays + 2 {
		observe(c, monday.AddDate(0, 0, d), 1, 1, probe.Success)
	}
	for i, d := range c.Days("") {
		if has := d.Objectives[0].Hours != nil; has != (i > 0) {
			t.Errorf("%s has hours: %v", d.Date, has)
		}
	}
	changed := quick
	changed.Threshold, changed.PerThousand = 2*time.Second, time.Millisecond
	c.Add(jobWith(changed))
	observe(c, monday.AddDate(0, 0, 6), 1, 1, probe.Success)
	if today := c.Days("")[6].Objectives[0]; today.Hours[0] != (HourTurns{1, 1}) || today.Judged != 2 {
		t.Errorf("after the change: %+v", today)
	}
}
