package backtest

import (
	"math"
	"math/rand/v2"
	"time"
)

// levelStep is the resolution of the level.
const levelStep = 10 * time.Second

// level is the log level of the latency over time, without faults.
type level []float32

// newLevel draws the level of a run.
func newLevel(m Model, rng *rand.Rand, length time.Duration) level {
	l := make(level, int(length/levelStep)+2)
	l.wander(m, rng)
	l.seasons(m)
	l.bursts(m, rng)
	l.shifts(m, rng)
	return l
}

func (l level) at(t time.Duration) float64 {
	return float64(l[min(max(0, int(t/levelStep)), len(l)-1)])
}

// wander adds an Ornstein-Uhlenbeck process whose 30-minute means have the
// wanted standard deviation: averaging takes away what is quicker.
func (l level) wander(m Model, rng *rand.Rand) {
	if m.LevelSD == 0 {
		return
	}
	r := (30 * time.Minute).Seconds() / m.LevelTime.Seconds()
	sd := m.LevelSD / math.Sqrt(2*(r-1+math.Exp(-r))/(r*r))
	keep := math.Exp(-levelStep.Seconds() / m.LevelTime.Seconds())
	x, kick := sd*rng.NormFloat64(), sd*math.Sqrt(1-keep*keep)
	for i := range l {
		l[i] += float32(x)
		x = keep*x + kick*rng.NormFloat64()
	}
}

// seasons adds the daily one, highest at 14:00, and the weekly one.
func (l level) seasons(m Model) {
	if m.Daily == 0 && m.Weekly == 0 {
		return
	}
	for i := range l {
		hours := (time.Duration(i) * levelStep).Hours()
		l[i] += float32(m.Daily*math.Cos(2*math.Pi*(hours-14)/24) + m.Weekly*math.Cos(2*math.Pi*hours/168))
	}
}

func (l level) bursts(m Model, rng *rand.Rand) {
	if m.BurstsPerDay == 0 {
		return
	}
	for at := 0.0; ; {
		at += rng.ExpFloat64() / m.BurstsPerDay * 24 * time.Hour.Seconds() / levelStep.Seconds()
		if int(at) >= len(l) {
			return
		}
		steps := min(rng.ExpFloat64(), 2) * m.BurstLength.Seconds() / levelStep.Seconds()
		size := m.BurstMin + rng.Float64()*(m.BurstMax-m.BurstMin)
		for i := int(at); i < min(len(l), int(at+steps)+1); i++ {
			l[i] += float32(size)
		}
	}
}

func (l level) shifts(m Model, rng *rand.Rand) {
	if m.ShiftsPerMonth == 0 {
		return
	}
	shift := 0.0
	perStep := m.ShiftsPerMonth * levelStep.Hours() / (30 * 24)
	for i := range l {
		if rng.Float64() < perStep {
			shift = m.ShiftSD * rng.NormFloat64()
		}
		l[i] += float32(shift)
	}
}
