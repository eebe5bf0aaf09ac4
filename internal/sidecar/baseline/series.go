package baseline

import (
	"cmp"
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

const (
	// A turn is slow if it exceeds the recent level by tailSpread standard deviations of single
	// turns, and at least by the factor e^tailFloor (2.5).
	tailFloor, tailSpread = 0.916, 2.5
	// youngSpread replaces an unknown spread.
	youngSpread = 0.5
	// clip bounds the log ratio of one turn: an outlier or a deadline counts as e² times the
	// baseline at most.
	clip = 2.0
	// A half hour without a ticket is learned if it lies at most learnNoise times the noise
	// above the baseline.
	learnNoise = 2.5
)

// series is one signal of one kind of turn.
type series struct {
	moments  Moments
	baseline *baseline
	scan     scan
	history  history
	past     calibration
	// calibrated is the day of the current calibration, limited the half hour of the current
	// limits. offset spreads the calibrations of signals over the day, in half hours.
	calibrated, limited, offset int32
	// replaying is true while stored history is replayed; limits are then recalibrated once a
	// week.
	replaying      bool
	pages, tickets limits
	promise        Promise
	// the minute in progress
	minute       int64
	turns, total float64 // of log ratios
	absolute     float64 // sum of the logarithms themselves
	tail         float64
	// extra counts turns of bursts. Bursts come when the level is high, so the minute gets the
	// weight it would have without them.
	extra        float64
	majority     majority
	size         sizeLine
	breach       breach
	onset        onset
	page, ticket verdict
	// lastIncidentStart is when the last finished incident began, 0 without one.
	// lastIncidentPaged is true if it paged.
	lastIncidentStart int64
	lastIncidentPaged bool
	// ticketLevel and pageLevel are the levels that the last ticket and page reported.
	ticketLevel, pageLevel reportedLevel
	// ignoredUntil is the minute up to which the scan ignores these levels.
	ignoredUntil int64
	calendar     calendar
	// patient is true while the job has had its false pages of 30 days. A level below twice the
	// baseline then pages if it is higher or lasts longer than the rises that ended by themselves.
	// breached is true while a signal of the job violates its objective.
	patient, breached bool
	// configured values
	signal    int
	zone      *time.Location
	policy    sink.Policy
	threshold time.Duration
	budget    float64
}

// turn is a turn with a value of a signal.
type turn struct {
	// ln is the natural logarithm of the value in seconds, size the tokens that the turn brought anew, 0 if
	// unknown.
	ln, size                float64
	failed, changing, extra bool
}

// observe adds a turn. A turn of a burst is extra: it counts in its minute alone.
func (s *series) observe(t turn, at time.Time) {
	if s.baseline == nil {
		s.baseline = &baseline{zone: s.zone}
	}
	if s.baseline.roll(at, s.usual) {
		s.move(at)
	}
	effect := s.size.effect(t.size)
	reference, ok := s.reference(at)
	if !ok {
		reference = t.ln - effect
	}
	isBad := s.threshold > 0 && t.ln > logSeconds(s.threshold)
	s.breach.add(minuteOf(at), isBad)
	isNew := s.size.isNew(t.size)
	if ok && isNew { // nothing to compare it with
		ok, reference, effect = false, t.ln, 0
	}
	x := min(max(t.ln-effect-reference, -clip), clip)
	inTail := ok && x-max(0, s.level()) > s.tailLimit(at)
	if ok {
		s.majority.add(minuteOf(at), x)
		s.turns++
		s.total += x
		s.absolute += reference + x
		if inTail {
			s.tail++
		}
	}
	if t.extra {
		if ok {
			s.extra++
		}
		return
	}
	s.moments.add(t.ln, reference+effect)
	b := &s.baseline.block
	switch {
	case t.failed:
		b.failed++
	case !isNew:
		b.add(t.ln-effect, isBad)
	}
	if usual, known := s.reference(at); known && t.size > 0 && !t.failed && !t.changing && !s.regressed() && s.onset.Since == 0 {
		s.size.learn(t.size, t.ln-s.size.effect(t.size)-usual)
	}
	b.unsuitable = b.unsuitable || t.changing
	b.regressed = b.regressed || s.regressed()
}

// usualOf returns the usual value of a turn of some size; unknown without a line and for a new size.
func (s *series) usualOf(tokens float64, at time.Time) (usual probe.Opt[sized]) {
	reference, ok := s.reference(at)
	if !ok || tokens < 1 || !s.size.known() || s.size.isNew(tokens) {
		return usual
	}
	return probe.Some(sized{math.Exp(reference + s.size.effect(tokens)), s.size.PerToken * tokens / s.size.seconds(tokens)})
}

// fail adds a failed turn without a value. A half hour with many failures is not learned from
// the turns that survived.
func (s *series) fail(at time.Time) {
	if s.baseline != nil && at.Truncate(BlockLength).Equal(s.baseline.block.start) {
		s.baseline.block.failed++
	}
}

func (s *series) level() float64 {
	if l := s.scan.mean(10); !math.IsNaN(l) {
		return l
	}
	return 0
}

func (s *series) regressed() bool { return s.page.Up || s.ticket.Up }
func (s *series) paging() bool    { return s.page.Up }

// pass closes the minutes before at.
func (s *series) pass(at time.Time) {
	minute := minuteOf(at)
	if minute <= s.minute {
		return // the same minute, or the clock went back
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

// close evaluates the minute in progress.
func (s *series) close() {
	at := time.Unix(s.minute*60+30, 0).UTC()
	if weight := s.turns - s.extra; weight > 0 {
		part := weight / s.turns
		if excess := s.total - s.turns*s.majority.bound(s.minute, boundMinutes, cmp.Or(s.onset.Began, s.minute)); excess > 0 {
			s.total, s.absolute = s.total-excess, s.absolute-excess
		}
		s.scan.weigh(s.minute, weight, 1/part, s.total*part, s.tail*part)
		s.history.put(s.minute, weight, s.absolute/s.turns, s.tail*part)
	}
	if s.turns > 0 && s.onset.Since == 0 {
		s.majority.learn()
	}
	s.turns, s.total, s.absolute, s.tail, s.extra = 0, 0, 0, 0, 0
	s.limit(numberOf(at), at)
	s.judge()
}

// limit computes the limits: once a day from the past, and each half hour for the baseline of
// that time.
func (s *series) limit(number int32, at time.Time) {
	if number == s.limited {
		return
	}
	s.limited = number
	if day := dayOf(number + s.offset); day != s.calibrated && (!s.replaying || day%7 == 0 || !s.past.known) {
		s.calibrated, s.past = day, calibrate(&s.history, s.past28(number), s.wide)
	}
	reference, ok := s.reference(at)
	if ok {
		s.size.fit(reference)
	}
	s.pages, s.tickets = s.pageLimits(math.Exp(reference), s.wide(at)), s.ticketLimits(s.wide(at))
	s.promise = s.promised()
}

// past28 returns the baseline of the minutes in the history.
func (s *series) past28(now int32) func(minute int64) float64 {
	if s.baseline == nil {
		return func(int64) float64 { return 0 }
	}
	return s.baseline.path(now)
}

// wide returns how many times more than usual the level moves at a time of day.
func (s *series) wide(at time.Time) float64 {
	if s.baseline == nil {
		return 1
	}
	return s.baseline.wideAt(at)
}

// judge compares the measurements up to the minute with the limits.
func (s *series) judge() {
	if !s.baseline.started() {
		// Without a baseline there is no regression. A regression would also keep every half
		// hour out of the baseline.
		s.judgeAnew()
		return
	}
	s.scan.advanceTo(s.minute)
	s.followRise()
	s.endVerdicts()
	page := s.ofMost(s.pages.find(&s.scan, s.pageLevel, s.expectedNow(minuteTime(s.minute, nil)), s.covers(levelPages)))
	s.page.take(s.minute, page, s.onset.lasted(&s.scan, s.minute, s.wait(&page)))
	s.forget()
	ticket := s.tickets.find(&s.scan, s.ticketLevel, 0, s.covers(levelTickets))
	ticket.atOnce = ticket.reason.Tail && ticket.score >= 1 // a short rise needs no ticket
	s.ticket.take(s.minute, ticket, s.onset.lasted(&s.scan, s.minute, ticketFor))
}

// ofMost lets a rise that slows a part of the turns be no page.
func (s *series) ofMost(f finding) finding {
	if f.score > almost && !f.reason.Tail && s.majority.bound(s.minute, pageMinutes, s.onset.Since) < f.reason.Limit+f.reason.Over {
		f.score, f.atOnce = almost, false
	}
	return f
}

// almost is a score just below that of a page.
const almost = 0.99

// wait returns how long the rise in progress must last to page, and lets a page not begin at once if it
// is longer than usual.
func (s *series) wait(page *finding) time.Duration {
	wait, more := hold(s.policy), time.Duration(0)
	if s.onset.Since == 0 {
		return wait
	}
	if s.patient && !s.breached && !page.atOnce && s.baseline != nil {
		more = max(more, s.calendar.patience(s.onset.Height+s.baseline.shapeAt(minuteTime(s.minute, nil))))
	}
	page.atOnce = page.atOnce && more == 0
	return max(wait, more)
}

// followRise updates the rise in progress and remembers one that is over.
func (s *series) followRise() {
	if s.calendar.began == 0 {
		s.calendar.began = s.minute
	}
	if over := s.onset.take(&s.scan, s.minute); over.From > 0 {
		if over.Height > 0 && s.baseline != nil {
			over.Height += s.baseline.shapeAt(minuteTime((over.From+over.To)/2, nil))
		}
		s.calendar.add(over, s.zone)
	}
	s.onset.Confirmed = s.onset.Confirmed || s.onset.Since > 0 && s.breached
}

// endVerdicts ends a page and a ticket whose cause is over.
func (s *series) endVerdicts() {
	since := s.began()
	if s.page.end(&s.scan, s.minute) { // and with it the data in longer windows
		s.lastIncidentStart, s.lastIncidentPaged = since, true
		s.ignoreSince(since)
	}
	if s.ticket.end(&s.scan, s.minute) && !s.regressed() {
		s.lastIncidentStart = since
	}
}

// Levels open tickets once the baseline has seen each time of day twice, and page once it has
// seen each part of a week. Before that only steps do: the rise of a usual morning is no
// regression.
const levelTickets, levelPages = 2 * slots, 7 * slots

// covers reports whether there is a baseline over a number of half hours, at least half of which were
// measured.
func (s *series) covers(blocks int32) bool {
	if !s.baseline.mature() {
		return false
	}
	e := s.baseline.entries
	return e[len(e)-1].number-e[0].number >= blocks-1 && int32(len(e)) >= blocks/2
}

// ticketFor is how long a level must be up to open a ticket.
const ticketFor = 8 * time.Minute

// closeTicket ends a ticket or page and remembers its level as reported. The levels of all
// signals belong to a page of one of them.
func (s *series) closeTicket(paged bool) {
	level := max(0, s.scan.mean(30))
	if math.IsNaN(level) {
		level = 0
	}
	share, _ := s.scan.tailShare()
	s.ticketLevel = reportedLevel{level, max(0, share-s.tickets.usualTail)}
	if paged {
		s.pageLevel = reportedLevel{Level: level}
	}
	s.page.Up, s.ticket.Up = false, false
}

// urgent reports whether the signal pages and must not end early, because it is at twice the
// baseline or violates an objective.
func (s *series) urgent() bool {
	return s.page.Up && (s.scan.mean(30) >= math.Log(twice) || s.page.Tail || s.violatesObjective())
}

// began returns the minute at which the page or ticket began; 0 if neither is up.
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

// leadMinutes before a verdict belong to its incident.
const leadMinutes = 20

func (s *series) ignoreSince(since int64) {
	s.scan.ignoreSince(since)
	s.ignoredUntil = s.minute
}

// forgetAfter is for how many minutes a reported level must be gone before it can be reported
// again.
const forgetAfter = 60

// forget drops reported levels that are gone.
func (s *series) forget() {
	if s.ticketLevel == (reportedLevel{}) || s.minute-s.ignoredUntil < forgetAfter {
		return
	}
	if s.scan.mean(forgetAfter) < s.ticketLevel.Level/2 {
		s.ticketLevel.Level, s.pageLevel.Level = 0, 0
	}
	if n, _, tail := s.scan.sums(0, forgetAfter); n > 0 && tail/n-s.tickets.usualTail < s.ticketLevel.Tail/2 {
		s.ticketLevel.Tail = 0
	}
}

// usual reports whether a half hour is learned: if it has no page or ticket and would not
// become one, or if earlier days were like it.
func (s *series) usual(b *block) bool {
	switch {
	case !s.baseline.mature():
		return !b.regressed
	case len(s.baseline.entries) < firstWeek:
		return true // peaks are unknown in the first week, and medians tolerate a fault
	}
	return !b.regressed && b.mean-s.baseline.at(b.start) <= s.gate(b.start) || s.habit(b)
}

const firstWeek = 7 * slots

// gate returns how far above the baseline a half hour may lie to be learned at once.
func (s *series) gate(at time.Time) float64 {
	return max(math.Log(s.policy.TicketRatio), learnNoise*s.baseline.noise*s.baseline.wideAt(at))
}

// reference returns the logarithm of the baseline of a turn, if one is known.
func (s *series) reference(at time.Time) (ln float64, ok bool) {
	if s.baseline.started() {
		return s.baseline.at(at), true
	}
	return 0, false
}

func (s *series) young() bool {
	return !s.baseline.mature()
}

// tailLimit returns the log ratio to the recent level above which a turn counts as slow.
func (s *series) tailLimit(at time.Time) float64 {
	return max(tailFloor, tailSpread*s.baseline.spreadOr()*s.baseline.scatterAt(at))
}

// judgeAnew restarts the evaluation, because the measured ratios refer to the previous
// baseline.
func (s *series) judgeAnew() {
	s.scan, s.onset, s.page, s.ticket = scan{}, onset{}, verdict{}, verdict{}
	s.ticketLevel, s.pageLevel, s.lastIncidentStart, s.lastIncidentPaged = reportedLevel{}, reportedLevel{}, 0, false
	s.turns, s.total, s.absolute, s.tail, s.extra = 0, 0, 0, 0, 0
	s.limited = 0
}
