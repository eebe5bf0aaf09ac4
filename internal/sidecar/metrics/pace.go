package metrics

import (
	"net"
	"net/netip"
	"net/url"
	"time"

	"synthetic/internal/slo"
)

// expectedStarts is how many conversations must be overdue before silence is
// taken for a fault. Of random (Poisson) starts, a gap of 12 mean intervals
// has a probability of e^-12, about once in 160,000 conversations.
const expectedStarts = 12

// SilenceOf is the age of the last turn from which on a job counts as silent: in
// which 12 conversations should have come, the longest turn included. A rate of 0
// is unknown, as for closed-loop traffic.
func SilenceOf(conversationsPerMinute float64, turn time.Duration) time.Duration {
	wait := 15 * time.Minute
	if conversationsPerMinute > 0 {
		wait = time.Duration(min(expectedStarts/conversationsPerMinute, 90*24*60) * float64(time.Minute))
	}
	return slo.WindowAtLeast(max(5*time.Minute, wait+turn))
}

// outageOf is how many failures in a row are an outage: the fewer where waiting
// for another takes long.
func outageOf(conversationsPerMinute float64) float64 {
	if conversationsPerMinute > 0 && conversationsPerMinute < 3 {
		return 3
	}
	return 5
}

// gatherWanted shows what rules must know of a job that is configured.
func (j *job) gatherWanted(e *exposition, l labels, host string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	rate := j.info.Traffic.Rate * 60
	e.add(Silence, l, SilenceOf(rate, j.info.Workload.Timeouts.Total).Seconds())
	e.add(OutageTurns, l.with(LabelURL, endpoint(j.info.Target.BaseURL, host)), outageOf(rate))
}

// endpoint is what a target's URL leads to, so that probers of the same deployment
// are told from those that each have one of their own: a loopback address is one
// of this host.
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
