package metrics

import (
	"math"
	"net"
	"net/netip"
	"net/url"
	"time"

	"synthetic/internal/slo"
)

// expectedStarts is the number of overdue conversations at which silence counts as a fault.
// Poisson starts leave a gap of 12 mean intervals with a probability of e^-12, about once in
// 160,000 conversations.
const expectedStarts = 12

// SilenceOf returns the age of the last turn at which a job counts as silent: the time of 12
// conversations and of the longest turn. A rate of 0 means unknown, as for closed-loop traffic.
func SilenceOf(conversationsPerMinute float64, turn time.Duration) time.Duration {
	wait := 15 * time.Minute
	if conversationsPerMinute > 0 {
		wait = time.Duration(min(expectedStarts/conversationsPerMinute, 90*24*60) * float64(time.Minute))
	}
	return slo.WindowAtLeast(max(5*time.Minute, wait+turn))
}

// outageTurns is how many consecutive failures count as an outage. The rules also want them to last for 40 s, so at a high
// rate there are more. A turn that hangs fails only after its timeout.
const outageTurns = 3

// silence returns the age of the last turn at which the job counts as silent.
func (j *job) silence() time.Duration {
	return SilenceOf(j.info.Traffic.Rate*60, j.info.Workload.Timeouts.Total)
}

// gatherWanted adds the series that rules need of every configured job.
func (j *job) gatherWanted(e *exposition, l labels, host string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	silence := j.silence()
	wanted, slept := silence.Seconds(), e.now.Sub(time.Unix(int64(j.lastTurn), 0))
	// After hours without probing, the first turn is awaited as after a start.
	if j.info.Planned(e.now) || slept > silence && j.info.Planned(e.now.Add(-silence)) {
		wanted = math.Inf(1)
	}
	e.add(Silence, l, wanted)
	e.add(OutageTurns, l.with(LabelURL, endpoint(j.info.Target.BaseURL, host)), outageTurns)
}

// endpoint returns the place that a target's URL leads to. A loopback address becomes one of
// this host, so that rules can tell whether several probers test one deployment or each its
// own.
func endpoint(base, host string) string {
	u, err := url.Parse(base)
	if err != nil || host == "" {
		return address(base)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Hostname() == "localhost" || err == nil && ip.IsLoopback() {
		u.Host = net.JoinHostPort(host, u.Port())
	}
	return address(u.String())
}
