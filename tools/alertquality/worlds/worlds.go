package worlds

import (
	"math"
	"slices"
	"time"
)

// Models are the named models: those of every kind of trouble that healthy
// deployments are known for, and the held-out ones.
func Models() []Model {
	return slices.Concat([]Model{Quiet(), Typical()}, loads(), disturbed(), weeks(), heldOut())
}

// Quiet is a deployment with little noise, all of it from parameters.
func Quiet() Model {
	m := bare("quiet", "a level that wanders over an hour, four bursts of at most 3 min a day")
	m.ConversationsPerMinute = 12
	m.LevelSD, m.LevelTime = 0.054, time.Hour
	m.BurstsPerDay, m.BurstLength, m.BurstMin, m.BurstMax = 4, 90*time.Second, 0.2, 0.55
	return m
}

// Typical is a deployment with the noise that most have: on several scales of
// time, with heavy tails, and with office hours.
func Typical() Model {
	m := bare("typical", "a level of three time scales (2 min, 25 min, 4 h) with Student-t kicks, office hours of some 20 % that differ from day to day, spikes that jump and fade, and turns of which every fourth waits behind long prompts",
		wander(0.06, 2*time.Minute, student), wander(0.06, 25*time.Minute, student), wander(0.05, 4*time.Hour, normal),
		officeHours(0.18), spikes(5, 80*time.Second, 1.45))
	m.ConversationsPerMinute, m.Sigma, m.PaceSigma = 12, 0.42, 0.15
	m.nature.body = mixed
	return m
}

// bare is a model without noise of its level: what others add to.
func bare(name, about string, moves ...move) Model {
	return Model{
		Name: name, ConversationsPerMinute: 6, TurnsMin: 3, TurnsMax: 5,
		FirstTTFT: 250 * time.Millisecond, FollowupTTFT: 150 * time.Millisecond,
		TPOT: 20 * time.Millisecond, Output: 48, FirstToken: 30 * time.Second, TTFTObjective: time.Second,
		Sigma: 0.3, PaceSigma: 0.1, LevelTime: time.Hour, BurstLength: 90 * time.Second, BurstMin: 0.2, BurstMax: 0.55,
		Outliers: 0.003, OutlierMin: 3, OutlierMax: 10, Failures: 0.0003,
		nature: nature{about: about, moves: moves},
	}
}

// calm is the little that goes on in any deployment.
func calm() move { return wander(0.05, 40*time.Minute, student) }

// loads are models whose turns depend on replicas, caches and the probe's rate.
func loads() []Model {
	auto := bare("autoscale", "replicas come and go with the load of the day; a new one is cold for 5 min, and its turns take 1.5 to 3 times as long", autoscaling, wander(0.04, 10*time.Minute, student))
	auto.Sigma, auto.nature.slow, auto.nature.misses = 0.35, times(1.5, 3), true
	heavy := bare("pareto", "a Pareto tail (power 1.7) on 5 % of turns, and a share of cache misses that drifts around 30 % within hours; a miss takes 2.2 to 3.4 times as long",
		calm(), missShare(0.3, 0.3, 8*time.Hour))
	heavy.Sigma, heavy.Outliers = 0.35, 0
	heavy.nature.body, heavy.nature.slow, heavy.nature.misses = pareto, times(2.2, 3.4), true
	sparse := Typical()
	sparse.Name, sparse.ConversationsPerMinute = "sparse", 1
	sparse.nature.about = "typical, at one conversation a minute"
	return []Model{auto, heavy, sparse}
}

// disturbed are models whose level does not stand still.
func disturbed() []Model {
	oneToThree := between(day, 3*day)
	return []Model{
		bare("deployments", "deployments of 5 to 15 %, up or down, every 1 to 3 days, that stay and add up, within ±35 %",
			calm(), shifts(oneToThree, stepWithin(math.Log(1.05), math.Log(1.15), 0.3))),
		bare("neighbours", "neighbours' bursts of 2 to 5 min, ×1.5 to ×2.5, three a day",
			calm(), bursts(3, between(2*time.Minute, 5*time.Minute), times(1.5, 2.5))),
		bare("wander-10m", "a level with an autocorrelation of 10 min and an SD of 15 %", wander(0.15, 10*time.Minute, normal)),
		bare("wander-1h", "a level with an autocorrelation of 60 min and an SD of 20 %", wander(0.20, time.Hour, normal)),
		bare("wander-6h", "a level with an autocorrelation of 6 h and an SD of 15 %", wander(0.15, 6*time.Hour, normal)),
	}
}

// weeks are models that follow the calendar.
func weeks() []Model {
	always := func(int) bool { return false }
	holiday := func(d int) bool { return weekend(d) || isHoliday(d) }
	all := []Model{
		bare("peak", "a queue around noon every day, ×3.4 at the median with twice the scatter, at another height and time each day", calm(), queuePeak(3.4, always)),
		bare("weekend", "the same without the queue on Saturdays and Sundays", calm(), queuePeak(3.4, weekend)),
		bare("holiday", "the same with a public holiday on a working day, the first in the second week and then one in four weeks", calm(), queuePeak(3.4, holiday)),
		bare("quiet-week", "nine days at −22 % from the tenth day on, and then as before; again after 45 days", calm(), officeHours(0.15), away(9, 9, 45, -math.Log(0.78))),
	}
	for i := range all[:3] {
		all[i].nature.pace = 0.1               // who waits in a queue is not yet decoded
		all[i].TTFTObjective = 5 * time.Second // what such a deployment can keep
	}
	overload := all[0]
	overload.Name, overload.TTFTObjective = "overload", time.Second
	overload.nature.about = "peak, with an objective that it misses every noon: the burn alerts page on working days and others"
	return append(all, overload)
}

// isHoliday names the working days that are holidays: Wednesday of the second
// week, Thursday of the sixth, and so on through the week.
func isHoliday(d int) bool {
	month, rest := d/28, d%28
	return rest == 7+(2+month)%5
}
