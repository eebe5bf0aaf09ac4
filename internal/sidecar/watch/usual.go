package watch

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	// halfHour is the length of an entry of the usual level.
	halfHour        = halfHourMinutes * time.Minute
	halfHourMinutes = 30
	dayMinutes      = slots * halfHourMinutes
	slots           = 48 // half hours in a day
	week            = 7 * slots
	// keptDays is how far the past reaches.
	keptDays = 28
	// startEntries is how many half hours are needed for a comparison, and leastDays how many days for a comparison
	// with the time of day, and to know the moves.
	startEntries, leastDays = 6, 2
	// few turns say nothing: of a class, and of a half hour.
	few = 8
	// mostFailed says which half hours are good enough to learn.
	mostFailed = 0.05
)

// entry is the mean of half an hour: the logarithm of its turns, each against its class.
type entry struct {
	// Number counts half hours since 1970.
	Number int32
	// Mean of the turns; Bad is the share that missed the objective.
	Mean, Bad float32
	// Level is what was usual until then, 0 if nothing was.
	Level float32
	Turns uint16
	// Learned half hours say what is usual.
	Learned bool
}

func numberOf(at time.Time) int32     { return int32(at.Unix() / int64(halfHour/time.Second)) }
func numberAt(minute int64) int32     { return int32(minute / halfHourMinutes) }
func startOf(number int32) time.Time  { return time.Unix(int64(number)*1800, 0).UTC() }
func minuteOf(at time.Time) int64     { return at.Unix() / 60 }
func timeOf(minute int64) time.Time   { return time.Unix(minute*60, 0).UTC() }
func middleOf(minute int64) time.Time { return time.Unix(minute*60+30, 0).UTC() }

// usual is what one timing of a job usually is, as a logarithm: a level, and what each half hour of a working and of
// a free day differs from it. What classes of turns differ is in classes.
type usual struct {
	Entries []entry
	// Since is the first half hour of an accepted level, 0 without one; Accepted is that level. Moved is when a lasting
	// level last became the usual one.
	Since    int32
	Accepted float64
	Moved    time.Time

	zone *time.Location
	// apart is by how many half hours its daily work differs from that of others.
	apart   int32
	block   block
	learned int // half hours
	level   float64
	shape   shape // zero before leastDays
	shapeAt int32 // the period of six hours in which it was computed
	// noise is the standard deviation of half hours around the level of their day.
	noise float64
}

// block is the half hour in progress.
type block struct {
	number                  int32
	turns, sum, bad, failed float64
	unfit, paged            bool // unfit is never learned, paged only if it repeats
}

func (b *block) entry() entry {
	n := max(1, b.turns)
	return entry{Number: b.number, Mean: float32(b.sum / n), Bad: float32(b.bad / n), Turns: uint16(min(b.turns, math.MaxUint16))}
}

func (b *block) add(x float64, bad bool) {
	b.turns++
	b.sum += x
	if bad {
		b.bad++
	}
}

func (b *block) fit() bool {
	return !b.unfit && b.turns >= few && b.failed <= mostFailed*(b.turns+b.failed)
}

// roll ends the half hour in progress if at is in another one, and learns it if learn says so. It reports whether
// there is a new entry.
func (u *usual) roll(at time.Time, learn func(e *entry, paged bool) bool) bool {
	number := numberOf(at)
	if number == u.block.number {
		return false
	}
	done := u.block
	u.block = block{number: number}
	if done.number == 0 || !done.fit() {
		return false
	}
	e := done.entry()
	if u.started() && e.Number != u.Since { // in which the level rose
		e.Level = float32(u.level)
	}
	e.Learned = learn(&e, done.paged)
	u.put(e)
	u.derive(e.Number)
	return true
}

// put adds an entry, and drops those older than four weeks and those in the future, which a wrong clock wrote.
func (u *usual) put(e entry) {
	u.Entries = slices.Delete(u.Entries[:u.search(e.Number)], 0, u.search(e.Number-keptDays*slots+1))
	if len(u.Entries) == cap(u.Entries) { // grow by a day
		u.Entries = append(make([]entry, 0, len(u.Entries)+slots), u.Entries...)
	}
	u.Entries = append(u.Entries, e)
}

// search returns the index of the first entry at or after a half hour.
func (u *usual) search(number int32) int {
	i, _ := slices.BinarySearchFunc(u.Entries, number, func(e entry, n int32) int { return cmp.Compare(e.Number, n) })
	return i
}

// entryOf returns the entry of a half hour, nil without one.
func (u *usual) entryOf(number int32) *entry {
	if i := u.search(number); i < len(u.Entries) && u.Entries[i].Number == number {
		return &u.Entries[i]
	}
	return nil
}

func (u *usual) started() bool { return u.learned >= startEntries }
func (u *usual) mature() bool  { return u.learned >= leastDays*slots }

// covers reports whether there are half hours over a period of n, at least half of which were measured.
func (u *usual) covers(n int32) bool {
	e := u.Entries
	return u.mature() && e[len(e)-1].Number-e[0].Number >= n-1 && int32(len(e)) >= n/2
}

// next returns when the next kind of rise can page at the earliest: a step, then a level; zero if both can.
func (u *usual) next(now int32) time.Time {
	switch {
	case !u.started():
		return startOf(max(now, cmp.Or(u.block.number, now)+startEntries-int32(u.learned)))
	case !u.covers(week):
		return startOf(max(now, u.Entries[0].Number+week))
	}
	return time.Time{}
}

// in changes the time zone; nil means UTC. It reports whether the usual level is another one then.
func (u *usual) in(zone *time.Location) bool {
	if u.zone.String() == zone.String() { // the name of nil is UTC
		return false
	}
	u.zone, u.shapeAt = zone, 0
	u.rederive()
	return len(u.Entries) > 0
}

// rederive computes what follows from the entries, as after a restart.
func (u *usual) rederive() {
	if n := len(u.Entries); n > 0 {
		u.derive(u.Entries[n-1].Number)
	}
}

// derive computes level, shape and noise from the learned entries.
func (u *usual) derive(now int32) {
	var learned []*entry
	for i := range u.Entries {
		if e := &u.Entries[i]; e.Learned && e.Number <= now {
			learned = append(learned, e)
		}
	}
	if u.learned = len(learned); u.learned == 0 {
		u.shape = shape{}
		return
	}
	if period := (now + 1 + u.apart) / (slots / 4); u.mature() && period != u.shapeAt {
		u.shape, u.shapeAt = *shapeOf(learned, u.zone), period
	}
	var all, current []float64
	for _, e := range learned {
		v := float64(e.Mean) - u.offset(e.Number)
		if all = append(all, v); e.Number >= u.Since {
			current = append(current, v)
		}
	}
	u.level, u.noise = u.Accepted, noiseOf(all)
	if len(current) >= startEntries || u.Since == 0 {
		u.level = levelOf(current)
	}
}

// levelOf returns the level after some half hours: the median of the last day and a half, or of the last week if that is
// higher, because a quiet day is no new level, and the rise after it no regression.
func levelOf(v []float64) float64 {
	last := func(n int) float64 { return median(v[max(0, len(v)-n):]) }
	return max(last(slots*3/2), last(week))
}

// noiseOf returns the standard deviation of half hours around the mean of their day, from those below it.
func noiseOf(v []float64) float64 {
	sum, n := 0.0, 0.0
	for i := range v {
		day := v[max(0, i-slots/2):min(len(v), i+slots/2)]
		if d := v[i] - mean(day); d <= 0 {
			sum, n = sum+d*d, n+1
		}
	}
	return math.Sqrt(sum/max(1, n)) * (1 + 0.8/math.Sqrt(max(1, n)))
}

// at returns the usual logarithm at a time. Between the middles of half hours it is interpolated, so that a steep
// morning does not look like a rise.
func (u *usual) at(t time.Time) float64 { return u.level + u.between(t) }

func (u *usual) between(t time.Time) float64 {
	position := float64(t.Unix())/halfHour.Seconds() - 0.5
	n := int32(math.Floor(position))
	share := position - float64(n)
	return (1-share)*u.offset(n) + share*u.offset(n+1)
}

func (u *usual) offset(number int32) float64 {
	return float64(u.shape[cellOf(number, u.zone)])
}

// move returns how far a past minute was from the usual of its time, NaN if nothing was known. A fall to a much lower level
// that is usual a week later, or now, is none.
func (u *usual) move(minute int64, mean float64) float64 {
	then, later := u.entryOf(numberAt(minute)), u.entryOf(numberAt(minute)+week)
	if then == nil || then.Level == 0 {
		return math.NaN()
	}
	x, fall := mean-u.between(middleOf(minute))-float64(then.Level), float64(then.Level)-u.level
	if later != nil && later.Level != 0 {
		fall = float64(then.Level - later.Level)
	}
	if fall > risen && x < 0 {
		x = min(0, x+fall)
	}
	return min(max(x, -clip), clip)
}

// median returns the median of v, which must not be empty.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
