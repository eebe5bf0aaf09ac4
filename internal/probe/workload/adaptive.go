package workload

import "time"

// Adaptive says how open-loop traffic answers to the first sign of a fault: with a
// burst at a higher rate, of bounded length. Package yamlform reads its tags.
type Adaptive struct {
	// BurstRate is in conversations per second; no more than the calm rate is no
	// burst.
	BurstRate float64 `yaml:"burst_rate" default:"0.2" min:"0" max:"10000"`
	// Burst is how long one may last, CoolDown how long none begins after it, and
	// BurstsPerHour how many begin in an hour at most.
	Burst         time.Duration `yaml:"burst" default:"2m" min:"30s" max:"10m"`
	CoolDown      time.Duration `yaml:"cool_down" default:"3m" min:"0s" max:"1h"`
	BurstsPerHour int           `yaml:"bursts_per_hour" default:"4" min:"1" max:"20"`
}

// Sign is what was seen of a job so far.
type Sign struct {
	// Score is how near a signal is to a page that nobody got yet: from 1 on it is
	// one.
	Score float64
	// Failed turns in a row.
	Failed int
}

const (
	// firstScore is the score that is a first sign: a third of the way to a page is
	// there too often without a fault, so that no burst is left when there is one.
	firstScore = 0.5
	// knownFailed failures in a row are no first sign any more.
	knownFailed = 10
	// leastBurst is how long a burst lasts at least: the score is one of minutes.
	leastBurst = time.Minute
)

// why says of what the sign is; "" of none.
func (s Sign) why() string {
	switch {
	case s.Failed > 0 && s.Failed < knownFailed:
		return BurstFailed
	case s.Score >= firstScore:
		return BurstSlower
	}
	return ""
}

// Reasons of a burst.
const (
	BurstFailed = "failed"
	BurstSlower = "slower"
)

// BurstReasons lists them.
func BurstReasons() []string { return []string{BurstFailed, BurstSlower} }

// Pace says which starts of a process at the rate of bursts there are: all in a
// burst, and at other times so many that the calm rate comes out. It is not safe
// for concurrent use.
type Pace struct {
	calm float64
	Adaptive
	// credit is the part of a calm start that is due.
	credit float64
	// until is the end of the burst, began are those of the last hour.
	until time.Time
	began []time.Time
}

// NewPace returns the pace of a process with such a calm rate; nil where that is
// the only one.
func NewPace(t Traffic) *Pace {
	if t.Process == Closed || t.Adaptive.BurstRate <= t.Rate {
		return nil
	}
	return &Pace{calm: t.Rate, Adaptive: t.Adaptive, credit: 1} // the first start is one
}

// Start is what becomes of a start of the process.
type Start struct {
	// Due says that it is one, and Extra that at the calm rate it were none: what
	// weighs times by turns must leave it out.
	Due, Burst bool
	// Changed says that the rate is another from now on, and Why that it is so
	// because a burst begins, "" for its end.
	Changed bool
	Why     string
}

// Take decides on a start, in the order of their times.
func (p *Pace) Decide(at time.Time, seen Sign) Start {
	var s Start
	why := seen.why()
	switch {
	case p.Bursting():
		since := at.Sub(p.began[len(p.began)-1])
		if !at.Before(p.until) || why == "" && since >= leastBurst {
			p.until, s.Changed = time.Time{}, true
			p.began[len(p.began)-1] = at // from now on it is when the last one ended
		}
	case why != "" && p.rested(at):
		p.began, p.until = append(p.began, at), at.Add(p.Burst)
		s.Changed, s.Why = true, why
	}
	if p.credit += p.calm / p.BurstRate; p.credit >= 1 {
		p.credit--
		s.Due = true
		return s
	}
	s.Due, s.Burst = p.Bursting(), p.Bursting()
	return s
}

// Bursting reports whether there is a burst.
func (p *Pace) Bursting() bool { return !p.until.IsZero() }

// Rate is that of now, in conversations per second.
func (p *Pace) Rate() float64 {
	if p.Bursting() {
		return p.BurstRate
	}
	return p.calm
}

// rested reports whether a burst may begin.
func (p *Pace) rested(at time.Time) bool {
	for len(p.began) > 0 && at.Sub(p.began[0]) >= time.Hour {
		p.began = p.began[1:]
	}
	n := len(p.began)
	return n < p.BurstsPerHour && (n == 0 || at.Sub(p.began[n-1]) >= p.CoolDown)
}
