package worlds

import (
	"math"
	"slices"
	"time"
)

// Table returns the eight worlds of the published table: the most different ones of those that were used to tune the
// detection.
func Table() []Model {
	return slices.Concat([]Model{Typical()}, loads(), disturbed(), []Model{weekendQueue()})
}

// Typical is a deployment with the most common noise: on several time scales, with heavy tails
// and office hours.
func Typical() Model {
	m := baseModel("typical", "level noise on three time scales (2 min, 25 min, 4 h) with heavy tails, office hours of about 20 % that differ from day to day, spikes that fade, and every fourth turn waits behind long prompts",
		wander(0.06, 2*time.Minute, student), wander(0.06, 25*time.Minute, student), wander(0.05, 4*time.Hour, normal),
		officeHours(0.18), spikes(5, 80*time.Second, 1.45))
	m.ConversationsPerMinute, m.Sigma, m.PaceSigma = 12, 0.42, 0.15
	m.body = mixed
	return m
}

// baseModel returns a model whose level is constant except for the given effects.
func baseModel(name, about string, effects ...effect) Model {
	return Model{
		Name: name, About: about, ConversationsPerMinute: 6, TurnsMin: 3, TurnsMax: 5,
		FirstTTFT: 250 * time.Millisecond, FollowupTTFT: 150 * time.Millisecond,
		TPOT: 20 * time.Millisecond, Output: 48, FirstToken: 30 * time.Second, TTFTObjective: time.Second,
		Sigma: 0.3, PaceSigma: 0.1,
		Outliers: 0.003, OutlierMin: 3, OutlierMax: 10, Failures: 0.0003,
		effects: effects,
	}
}

// calm is the small noise of any deployment.
func calm() effect { return wander(0.05, 40*time.Minute, student) }

// loads are models whose turns depend on replicas, caches and the probe rate.
func loads() []Model {
	auto := baseModel("autoscale", "replicas come and go with the load of the day; a new one is cold for 5 min, and its turns take 1.5 to 3 times as long", autoscaling(3, 2.6, 1.2), wander(0.04, 10*time.Minute, student))
	auto.Sigma, auto.slow, auto.misses = 0.35, times(1.5, 3), true
	heavy := baseModel("pareto", "a Pareto tail (power 1.7) on 5 % of turns; a share of cache misses that drifts around 30 % within hours; a miss takes 2.2 to 3.4 times as long",
		calm(), drift(slow, 0.3, 0.3, 8*time.Hour))
	heavy.Sigma, heavy.Outliers = 0.35, 0
	heavy.body, heavy.slow, heavy.misses = pareto, times(2.2, 3.4), true
	sparse := Typical()
	sparse.Name, sparse.ConversationsPerMinute = "sparse", 1
	sparse.About = "typical, at one conversation a minute"
	return []Model{auto, heavy, sparse}
}

// disturbed are models whose level changes.
func disturbed() []Model {
	oneToThree := between(day, 3*day)
	return []Model{
		baseModel("deployments", "a deployment every 1 to 3 days changes the level permanently by 5 to 15 %, up or down, within ±35 %",
			calm(), shifts(oneToThree, stepWithin(math.Log(1.05), math.Log(1.15), 0.3))),
		baseModel("neighbours", "three bursts a day by neighbours, 2 to 5 min long, ×1.5 to ×2.5",
			calm(), bursts(3, between(2*time.Minute, 5*time.Minute), times(1.5, 2.5))),
		baseModel("wander-1h", "a level with an autocorrelation of 60 min and an SD of 20 %", wander(0.20, time.Hour, normal)),
	}
}

// weekendQueue has a queue on working days.
func weekendQueue() Model {
	m := baseModel("weekend", "a queue at noon of working days, ×3.4 at the median with twice the scatter; height and time differ from day to day", calm(), queuePeak(3.4, weekend))
	m.pace = 0.1                      // a queue delays the first token, not decoding
	m.TTFTObjective = 5 * time.Second // an objective that such a deployment can keep
	return m
}
