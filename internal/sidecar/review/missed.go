package review

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

const (
	// lookedAtDays is the number of days in UTC before today that decide whether an objective is out of reach: it
	// is if it was missed on most of them. An objective that is missed on workdays alone counts, too: any five
	// consecutive days have three workdays.
	lookedAtDays = 5
	// fewestJudged is the number of judged turns that an hour needs for its share of slow turns to count.
	fewestJudged = 30
	// repeatedMiss is the number of slow turns that an hour needs to repeat a miss.
	repeatedMiss = 3
	// mostUsual bounds the usual share of slow turns, so that an hour with bad turns only is worse than usual.
	mostUsual = 0.8
)

// HourTurns counts the turns of an hour that an objective judged. Slow counts bad turns that did not fail.
type HourTurns struct {
	Judged int `json:"j,omitempty"`
	Slow   int `json:"s,omitempty"`
}

// countHour adds a turn to the hours of a latency objective.
func (o *Objective) countHour(at time.Time, slow bool) {
	if o.Hours == nil {
		o.Hours = make([]HourTurns, 24)
	}
	hour := &o.Hours[at.UTC().Hour()]
	hour.Judged++
	if slow {
		hour.Slow++
	}
}

// missed reports whether the slow turns of the day exceed the error budget.
func (o *Objective) missed() bool {
	var sum HourTurns
	for _, hour := range o.Hours {
		sum.Judged, sum.Slow = sum.Judged+hour.Judged, sum.Slow+hour.Slow
	}
	return overBudget(sum, o.Wanted)
}

func overBudget(turns HourTurns, wanted float64) bool {
	return float64(turns.Slow) > (&slo.Objective{Objective: wanted}).Budget()*float64(turns.Judged)
}

// around looks at an hour of the day, the hour before it and the hour after it. It returns the largest share of
// slow turns in one of them, and whether one of them missed the objective.
func (o *Objective) around(hour int) (share float64, repeats bool) {
	for _, at := range []int{hour + 23, hour, hour + 1} {
		if h := o.Hours[at%24]; h.Judged >= fewestJudged {
			share = max(share, float64(h.Slow)/float64(h.Judged))
			repeats = repeats || h.Slow >= repeatedMiss && overBudget(h, o.Wanted)
		}
	}
	return share, repeats
}

// missedCache holds the results of UsualMisses in one hour.
type missedCache struct {
	hour time.Time
	jobs map[probe.Key]map[string]float64
}

// UsualMisses returns the latency objectives of a job that are out of reach, by name, with the usual share of slow
// turns at this time of day. A slow turn is bad but did not fail: objectives of availability count the failures.
//
// An objective is out of reach if the slow turns exceeded its error budget on most of the last five days in UTC, each
// time also at the same hour, give or take one. The usual share is the median of the five days, where each day has its
// largest share in the current hour, the one before and the one after. A day without a miss counts as 0, and so does
// a day that was judged by another threshold or share. The result is at most mostUsual.
func (c *Counter) UsualMisses(job probe.Key, now time.Time) map[string]float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hour := now.UTC().Truncate(time.Hour); !hour.Equal(c.missed.hour) {
		c.missed = missedCache{hour, map[probe.Key]map[string]float64{}}
	}
	found, known := c.missed.jobs[job]
	if !known {
		found = map[string]float64{}
		for _, o := range c.jobs[job].Objectives {
			if share, outOfReach := usualMiss(c.missedDays(job, o, now), now.UTC().Hour()); outOfReach {
				found[o.Name] = share
			}
		}
		c.missed.jobs[job] = found
	}
	return found
}

// missedDays returns the counts of an objective for each of the last days that missed it. The caller holds mu.
func (c *Counter) missedDays(job probe.Key, o slo.Objective, now time.Time) (missed []Objective) {
	for ago := 1; ago <= lookedAtDays; ago++ {
		d := c.days[dayKey{DateOf(now.UTC().AddDate(0, 0, -ago)), job}]
		if d == nil {
			continue
		}
		for _, have := range d.Objectives {
			if have.Name == o.Name && have.Threshold == o.Threshold && have.PerThousand == o.PerThousand && have.Wanted == o.Objective && have.missed() {
				missed = append(missed, have)
			}
		}
	}
	return missed
}

// usualMiss returns the usual share of slow turns at the hour now, and whether any hour of the day was missed on most
// of the days.
func usualMiss(missed []Objective, now int) (share float64, outOfReach bool) {
	shares := make([]float64, lookedAtDays)
	for hour := range 24 {
		repeated := 0
		for i, o := range missed {
			at, repeats := o.around(hour)
			if repeats {
				repeated++
			}
			if hour == now {
				shares[i] = at
			}
		}
		outOfReach = outOfReach || repeated > lookedAtDays/2
	}
	slices.Sort(shares)
	return min(shares[lookedAtDays/2], mostUsual), outOfReach
}
