package baseline

import (
	"math"
	"synthetic/internal/sidecar/sink"
	"time"
)

const (
	// tailFloor and tailSpread define the tail: a turn beyond tailSpread
	// standard deviations of single turns, at least e^tailFloor (2.5) times the
	// recent level.
	tailFloor, tailSpread = 0.916, 2.5
	// youngSpread stands in for that of a baseline that has none.
	youngSpread = 0.5
	// clip bounds what one turn says: an outlier or a deadline is no more than e²
	// times the usual.
	clip = 2.0
	// learnNoise is how many times the noise of half hours one may lie above the
	// usual to be learned, if a ticket does not mind.
	learnNoise = 2.5
)

// series is one signal of one kind of turn.
type series struct {
	moments  Moments
	baseline *baseline
	scan     scan
	history  history
	past     calibration
	// calibrated is the day of the calibration in force, limited the half hour of
	// the limits.
	// offset spreads the calibrations of signals over the day, in half hours.
	calibrated, limited, offset int32
	// reliving says that a past is read back, in which a calibration a week does.
	reliving       bool
	pages, tickets limits
	promise        promise
	// The minute that is being measured.
	minute       int64
	turns, total float64 // of log ratios
	absolute     float64 // sum of the logarithms themselves
	tail         float64
	// extra of the turns are of bursts, which come when a level is high: a minute
	// weighs as much as it would without.
	extra        float64
	onset        onset
	page, ticket verdict
	// over is since when the last incident was that has just ended, 0 if none has.
	// Paged says that it was a page.
	over  int64
	paged bool
	// quiet is the minute up to which only what is clearly new is a page.
	quiet int64
	// known is what a ticket has told of, knownPage what a page has.
	known, knownPage heard
	// forgiven is the minute up to which the scan says nothing of either.
	forgiven int64
	// Configured.
	signal    int
	policy    sink.Policy
	threshold time.Duration
	budget    float64
	benchmark sink.SignalFigures
}

// observe takes a value (in seconds, its natural logarithm) at a time. Only the
// minute gets to know of an extra one.
func (s *series) observe(ln float64, failed, changing, extra bool, at time.Time) {
	if s.baseline == nil {
		s.baseline = &baseline{}
	}
	if s.baseline.roll(at, s.usual) {
		s.move(at)
	}
	reference, ok := s.reference(at)
	if !ok {
		reference = ln
	}
	x := min(max(ln-reference, -clip), clip)
	inTail := ok && x-max(0, s.level()) > s.tailLimit(at)
	if ok {
		s.turns++
		s.total += x
		s.absolute += reference + x
		if inTail {
			s.tail++
		}
	}
	if extra {
		if ok {
			s.extra++
		}
		return
	}
	s.moments.add(ln, reference, inTail)
	b := &s.baseline.block
	if failed {
		b.failed++
	} else {
		b.add(ln, s.threshold > 0 && ln > logSeconds(s.threshold))
	}
	b.unsuitable = b.unsuitable || changing
	b.regressed = b.regressed || s.regressed()
}

// fail takes a failed turn that says nothing of the signal: half hours of many are
// not learned from the turns that survived.
func (s *series) fail(at time.Time) {
	if s.baseline != nil && at.Truncate(BlockLength).Equal(s.baseline.block.start) {
		s.baseline.block.failed++
	}
}

// level is the recent log ratio to the usual, 0 while it is not known.
func (s *series) level() float64 {
	if l := s.scan.mean(10); !math.IsNaN(l) {
		return l
	}
	return 0
}

// regressed says that the signal is a page or a ticket.
func (s *series) regressed() bool { return s.page.Up || s.ticket.Up }

// pass closes the minutes that are over.
func (s *series) pass(at time.Time) {
	minute := minuteOf(at)
	if minute <= s.minute {
		return // the same, or a clock that went back
	}
	if s.minute > 0 {
		s.close()
		for s.minute++; s.minute < minute; s.minute++ {
			if s.regressed() || s.onset.Since > 0 {
				s.judge()
			}
		}
	}
	s.minute = minute
}

// close judges the minute that was measured.
func (s *series) close() {
	at := time.Unix(s.minute*60+30, 0).UTC()
	if weight := s.turns - s.extra; weight > 0 {
		part := weight / s.turns
		s.scan.weigh(s.minute, weight, 1/part, s.total*part, s.tail*part)
		s.history.put(s.minute, weight, s.absolute/s.turns, s.tail*part)
	}
	s.turns, s.total, s.absolute, s.tail, s.extra = 0, 0, 0, 0, 0
	s.limit(numberOf(at), at)
	s.judge()
}

// limit chooses the limits anew: once a day from the past, and each half hour as
// the usual level says how much a difference is.
func (s *series) limit(number int32, at time.Time) {
	if number == s.limited {
		return
	}
	s.limited = number
	if day := dayOf(number + s.offset); day != s.calibrated && (!s.reliving || day%7 == 0 || !s.past.known) {
		s.calibrated, s.past = day, calibrate(&s.history, s.past28(number), s.wide)
	}
	reference, _ := s.reference(at)
	s.pages, s.tickets = s.pageLimits(math.Exp(reference), s.wide(at)), s.ticketLimits(s.wide(at))
	s.promise = s.promised()
}

// past28 gives what was usual in the minutes of the history.
func (s *series) past28(now int32) func(minute int64) float64 {
	if s.benchmark.Typical > 0 || s.baseline == nil {
		return func(int64) float64 { return logSeconds(s.benchmark.Typical) }
	}
	return s.baseline.path(now)
}

// wide is by how much more the level wanders at a time than it does as a rule.
func (s *series) wide(at time.Time) float64 {
	if s.benchmark.Typical > 0 || s.baseline == nil {
		return 1
	}
	return s.baseline.wideAt(at)
}

// judge compares what was measured up to the minute with the limits.
func (s *series) judge() {
	if !s.baseline.started() && s.benchmark.Typical == 0 {
		// What nothing is compared with is no regression, and would keep each half
		// hour out of the baseline.
		s.judgeAnew()
		return
	}
	s.scan.to(s.minute)
	s.onset.take(&s.scan, s.minute)
	since := s.began()
	if s.page.end(&s.scan, s.minute) { // and with it whatever lies in longer windows
		s.over, s.paged = since, true
		s.forgive(since)
	}
	if s.ticket.end(&s.scan, s.minute) && !s.regressed() {
		s.over = since
	}
	levels := !s.young()
	paged := s.pages.find(&s.scan, s.knownPage, levels)
	if s.minute <= s.quiet && paged.score < clearly {
		paged.score = min(paged.score, almost)
	}
	s.page.take(s.minute, paged, s.onset.lasted(&s.scan, s.minute, s.policy.PageFor))
	s.forget()
	told := s.tickets.find(&s.scan, s.known, levels)
	told.atOnce = told.by.Tail && told.score >= 1 // what is over soon is no work for the day
	s.ticket.take(s.minute, told, s.onset.lasted(&s.scan, s.minute, ticketFor))
}

// clearly is the score that is something new shortly after a page, almost one that
// is none.
const clearly, almost = 1.4, 0.99

// ticketFor is how long a level must have been up to be a ticket.
const ticketFor = 8 * time.Minute

// told ends a ticket, or a page: its level is known from now on.
func (s *series) told() {
	level := max(0, s.scan.mean(30))
	if math.IsNaN(level) {
		level = 0
	}
	share, _ := s.scan.tailShare()
	s.known = heard{level, max(0, share-s.tickets.usualTail)}
	if s.page.Up {
		s.knownPage = heard{Level: level}
	}
	s.page.Up, s.ticket.Up = false, false
}

// urgent says that the signal is a page that must not end before what it is about
// does: at twice the usual, or where an objective is missed.
func (s *series) urgent() bool {
	return s.page.Up && (s.scan.mean(30) >= math.Log(twice) || s.page.Tail || s.missing())
}

// missing says that the objective is being missed, in this half hour or the one
// before it.
func (s *series) missing() bool {
	if s.baseline == nil {
		return false
	}
	b := &s.baseline.block
	before := false
	s.baseline.each(numberOf(b.start)-2, numberOf(b.start)-1, func(e *entry) { before = s.minded(float64(e.bad)) })
	return before || b.n >= minBlock && s.minded(float64(b.bad)/float64(b.n))
}

// began is when what is up began, 0 where nothing is.
func (s *series) began() int64 {
	began := int64(0)
	for _, v := range []*verdict{&s.page, &s.ticket} {
		if v.Up && (began == 0 || v.Began < began) {
			began = v.Began
		}
	}
	if began == 0 {
		return 0
	}
	if s.onset.Since > 0 {
		began = min(began, s.onset.Since)
	}
	return began - leadMinutes
}

// leadMinutes before a verdict belong to what it is about.
const leadMinutes = 20

// forgive takes the minutes since one for usual ones.
func (s *series) forgive(since int64) {
	s.scan.forgive(since)
	s.forgiven = s.minute
}

// forgetAfter is for how many minutes a known level must be no more.
const forgetAfter = 60

// forget lets go of what was told of and is no more.
func (s *series) forget() {
	if s.known == (heard{}) || s.minute-s.forgiven < forgetAfter {
		return
	}
	if s.scan.mean(forgetAfter) < s.known.Level/2 {
		s.known.Level, s.knownPage.Level = 0, 0
	}
	if n, _, tail := s.scan.sums(0, forgetAfter); n > 0 && tail/n-s.tickets.usualTail < s.known.Tail/2 {
		s.known.Tail = 0
	}
}

// usual says whether a half hour is one to learn from: what is neither a page nor a
// ticket and would not become one, or what the days before it were like, too.
func (s *series) usual(b *block) bool {
	switch {
	case !s.baseline.mature():
		return !b.regressed
	case len(s.baseline.entries) < firstWeek:
		return true // its peaks are not known yet, and medians bear a fault
	}
	return !b.regressed && b.mean-s.baseline.at(b.start) <= s.gate(b.start) || s.habit(b)
}

// firstWeek is how many half hours are learned from whatever they are like.
const firstWeek = 7 * slots

// gate is how far above the usual a half hour may lie to be learned at once.
func (s *series) gate(at time.Time) float64 {
	return max(math.Log(s.policy.TicketRatio), learnNoise*s.baseline.noise*s.baseline.wideAt(at))
}

// reference is the logarithm of what a turn is compared with: a benchmark, or the
// learned baseline.
func (s *series) reference(at time.Time) (ln float64, ok bool) {
	switch {
	case s.benchmark.Typical > 0:
		return logSeconds(s.benchmark.Typical), true
	case s.baseline.started():
		return s.baseline.at(at), true
	}
	return 0, false
}

// young says that there is no baseline yet.
func (s *series) young() bool {
	return s.benchmark.Typical == 0 && !s.baseline.mature()
}

// tailLimit is the log ratio to the recent level beyond which a turn is in the
// tail.
func (s *series) tailLimit(at time.Time) float64 {
	return max(tailFloor, tailSpread*s.baseline.spreadOr()*s.baseline.scatterAt(at))
}

// forgetAll begins to learn anew; what was measured of the noise stays.
func (s *series) forgetAll() {
	s.baseline = nil
	s.judgeAnew()
}

// judgeAnew begins to judge as if nothing had been measured: of what was, the
// ratios are no more those to what is usual now.
func (s *series) judgeAnew() {
	s.scan, s.onset, s.page, s.ticket = scan{}, onset{}, verdict{}, verdict{}
	s.known, s.knownPage, s.over, s.paged = heard{}, heard{}, 0, false
	s.turns, s.total, s.absolute, s.tail, s.extra = 0, 0, 0, 0, 0
	s.limited = 0
}
