package worlds

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Chosen returns the worlds on which constants of the detection may be chosen: those of the table, and half of the
// kinds of trouble that recur.
func Chosen() []Model {
	replicas := recurring("morning-replicas", "replicas scale from 2 to 8 each morning; a new one is cold for 5 min, and its turns take 1.5 to 3 times as long",
		calm(), autoscaling(2, 1, 1.72))
	replicas.slow = times(1.5, 3)
	releases := recurring("releases", "a release every second day in the afternoon, after which 60 to 90 % of the turns miss the cache for 10 to 20 min, ×1.5 to ×3",
		calm(), daily(slow, everyDays(2, 1), hours(13, 17), between(10*time.Minute, 20*time.Minute), percent(60, 90)))
	releases.slow = times(1.5, 3)
	faster := recurring("slower-faster", "every 4 to 8 days a model that is 35 % slower, or one that takes 0.7 times as long", calm(), shifts(between(4*day, 8*day), backAndForth(1.35, 0.7)))
	faster.Slowdown = true
	sizes := recurring("sizes", "30 % of the prompts are long, ×3.4; the share drifts within 6 h", calm(), officeHours(0.1), drift(long, 0.3, 0.8, 6*time.Hour))
	sizes.long = 1500
	scatter := Typical()
	scatter.Name, scatter.About, scatter.Sigma = "scatter", "typical, with half as much scatter of single turns again", 0.63
	steady := baseModel("steady", "a level without office hours that hardly moves, SD 2 %", wander(0.02, time.Hour, normal))
	return slices.Concat(Table(), []Model{
		recurring("night-batch", "a batch each night that starts at any time before 5:00 and lasts 40 to 90 min, ×1.4 to ×1.8",
			calm(), officeHours(0.12), daily(level, anyDay, hours(0, 5), between(40*time.Minute, 90*time.Minute), times(1.4, 1.8))),
		replicas, releases, faster, sizes, scatter, steady,
		recurring("batch-neighbours", "night-batch, later and shorter, and two bursts a day of ×1.4 to ×2 for 2 to 4 min",
			calm(), daily(level, anyDay, hours(2, 7), between(20*time.Minute, 40*time.Minute), times(1.3, 1.6)), bursts(2, between(2*time.Minute, 4*time.Minute), times(1.4, 2))),
	})
}

// SealedSeed is the first seed of runs of the sealed worlds.
const SealedSeed = 9001

// Sealed returns worlds on which no constant was chosen. Their parameters were fixed before the first run.
func Sealed() []Model {
	limiter := recurring("rate-limiter", "twice a day a rate limiter holds turns back for 4 to 10 min, ×2 to ×4", calm(), officeHours(0.1), bursts(2, between(4*time.Minute, 10*time.Minute), times(2, 4)))
	month := recurring("month-end", "the last three calendar days of a month have ×1.5 to ×1.8 from about 8:00 to 19:00",
		calm(), officeHours(0.15), daily(level, monthEnd, hours(7.5, 8.5), between(10*time.Hour, 12*time.Hour), times(1.5, 1.8)))
	model := recurring("model-changes", "every 2 to 5 days a model that is 50 % slower, or one that takes 0.65 times as long, in TTFT and TPOT",
		wander(0.07, 20*time.Minute, student), shifts(between(2*day, 5*day), backAndForth(1.5, 0.65)))
	model.pace = 1
	limiter.Slowdown, month.Slowdown, model.Slowdown = true, true, true
	byDay := recurring("sizes-by-day", "5 to 60 % of the prompts are long, ×2.4; the share differs from day to day",
		calm(), daily(long, anyDay, hours(0, 0), between(day, day), percent(5, 60)))
	fast := recurring("sizes-fast", "20 % of the prompts are long, ×5.4; the share drifts within 40 min", calm(), drift(long, 0.2, 0.6, 40*time.Minute))
	byDay.long, fast.long = 1000, 2500
	wave := recurring("morning-wave", "morning-replicas with a higher peak and replicas that take 2 to 4 times as long while cold, and a backlog on Mondays",
		calm(), autoscaling(2, 1.1, 1.9), daily(level, everyDays(7, 0), hours(6, 7), between(time.Hour, 2*time.Hour), times(1.3, 1.6)))
	wave.slow = times(2, 4)
	misses := recurring("misses", "40 % of the turns miss the cache, 1.8 to 2.6 times as long; the share drifts within 2 h; office hours of 25 %",
		calm(), officeHours(0.25), drift(slow, 0.4, 0.4, 2*time.Hour))
	misses.slow, misses.misses, misses.body = times(1.8, 2.6), true, mixed
	return []Model{
		recurring("monday-backlog", "a backlog on Mondays from about 8:00 for 2 to 4 h, ×1.5 to ×2.2",
			calm(), officeHours(0.12), daily(level, everyDays(7, 0), hours(7.5, 8.5), between(2*time.Hour, 4*time.Hour), times(1.5, 2.2))),
		recurring("weekly-job", "a job on Wednesdays at 2:00 for 90 to 120 min, ×1.6 to ×2",
			calm(), officeHours(0.12), daily(level, everyDays(7, 2), hours(2, 2.2), between(90*time.Minute, 2*time.Hour), times(1.6, 2))),
		recurring("late-batch", "a batch each evening that starts between 20:00 and 24:00 and lasts 20 to 50 min, ×1.6 to ×2.3",
			wander(0.06, 15*time.Minute, student), daily(level, anyDay, hours(20, 24), between(20*time.Minute, 50*time.Minute), times(1.6, 2.3))),
		recurring("swell", "a level that moves by 10 % within 3 h and by 8 % within 20 min", wander(0.10, 3*time.Hour, normal), wander(0.08, 20*time.Minute, student)),
		recurring("everything", "a deployment every 2 to 4 days of 5 to 12 %, a queue at noon of working days of ×2, and a burst a day of ×1.5 to ×2 for 3 to 6 min",
			calm(), shifts(between(2*day, 4*day), stepWithin(0.05, 0.12, 0.25)), queuePeak(2, weekend), bursts(1, between(3*time.Minute, 6*time.Minute), times(1.5, 2))),
		limiter, month, model, byDay, fast, wave, misses,
	}
}

// recurring returns a model whose objective its own trouble keeps.
func recurring(name, about string, effects ...effect) Model {
	m := baseModel(name, about, effects...)
	m.TTFTObjective = 5 * time.Second
	return m
}

func anyDay(int) bool { return true }

// hours draws a time since midnight between two hours.
func hours(low, high float64) func(*rand.Rand) time.Duration {
	return between(time.Duration(low*float64(time.Hour)), time.Duration(high*float64(time.Hour)))
}

// percent draws a share between two percentages.
func percent(low, high float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return uniform(rng, low, high) / 100 }
}
