// Package cause compares the parts of recent turns with usual ones. It names the likely cause of a rise that the package
// watch finds, so simple means suffice.
package cause

import (
	"math"
	"time"

	"synthetic/internal/probe"
)

// Part is a part of a turn's time.
type Part string

const (
	// DNS, TCP and TLS
	Connect Part = "connect"
	// the rest of the TTFT: queue, network and prefill
	QueuePrefill Part = "queue_prefill"
	// ProxyBuffering is the part of the TTFT in which a proxy between the server and the prober
	// held tokens back.
	ProxyBuffering Part = "proxy_buffering"
	// Decode is the time from the first to the last token, for an answer of usual length.
	Decode Part = "decode"
)

// PartCount is the number of parts.
const PartCount = 4

// Parts returns all parts. The position in this list is the part's index.
func Parts() []Part { return []Part{Connect, QueuePrefill, ProxyBuffering, Decode} }

const (
	// time constants of the recent and the usual mean
	recentSpan, usualSpan = 5 * time.Minute, 24 * time.Hour
	// maxLearned is the ratio of recent to usual above which nothing is learned.
	maxLearned = 1.15
	// minUsual is the number of turns needed for a usual mean.
	minUsual = 30
)

// Means are exponentially weighted means of the parts of a turn, in seconds, and its usual share of cached tokens.
type Means struct {
	Turns   float64 `json:"turns"`
	Connect float64 `json:"connect"`
	TTFT    float64 `json:"ttft"`
	TPOT    float64 `json:"tpot"`
	Output  float64 `json:"output"`
	// share of turns whose tokens were held back
	Buffered float64 `json:"buffered,omitzero"`
	Cached   Cached  `json:"cached,omitzero"`
}

// add moves the means towards a turn by a weight in (0, 1]. The first turns have equal weights.
func (m *Means) add(t phaseSeconds, weight float64) {
	m.Turns++
	weight = max(weight, 1/m.Turns)
	towards := func(mean *float64, v float64) { *mean += weight * (v - *mean) }
	towards(&m.Connect, t.connect)
	towards(&m.TTFT, t.ttft)
	towards(&m.Buffered, t.buffered)
	if t.output > 0 {
		towards(&m.TPOT, t.tpot)
		towards(&m.Output, t.output)
	}
}

// Comparison compares the recent turns of one kind with its usual ones.
type Comparison struct {
	recent, usual Means
	last          time.Time
}

// Observe adds a turn with its TTFT and TPOT, which differ from those of the result if it timed out. If quiet, nothing is
// slower than usual and the turn may be learned.
func (p *Comparison) Observe(r *probe.Result, v Values, now time.Time, quiet bool) {
	if quiet && r.CachedTokens.OK && r.PromptTokens.OK && r.PromptTokens.V > 0 {
		p.usual.Cached.learn(float64(r.CachedTokens.V)/float64(r.PromptTokens.V), now)
	}
	t, ok := phaseSecondsOf(r, v, p.usual.Output)
	if !ok {
		return
	}
	elapsed := time.Duration(0)
	if !p.last.IsZero() {
		elapsed = max(0, now.Sub(p.last))
	}
	p.last = now
	p.recent.add(t, 1-math.Exp(-elapsed.Minutes()/recentSpan.Minutes()))
	if quiet && !r.Outcome.Failed() && (p.usual.Turns < minUsual || p.recent.TTFT < maxLearned*p.usual.TTFT && p.recent.TPOT < maxLearned*p.usual.TPOT) {
		p.usual.add(t, 1-math.Exp(-elapsed.Minutes()/usualSpan.Minutes()))
	}
}

// Values are the TTFT and the TPOT of a turn.
type Values = [2]probe.Opt[time.Duration]

// Means returns the usual means, to be saved.
func (p *Comparison) Means() Means { return p.usual }

// Restore takes over saved means, unless they are damaged.
func (p *Comparison) Restore(m Means) {
	for _, v := range []float64{m.Turns, m.Connect, m.TTFT, m.TPOT, m.Output, m.Buffered, m.Cached.Turns} {
		if !(v >= 0 && v < 1e12) {
			return
		}
	}
	p.usual = m
	p.usual.Cached.recent = m.Cached.Share
}

// Forget discards the usual means.
func (p *Comparison) Forget() { p.usual = Means{} }

// Excess returns by how many seconds each part exceeds its usual mean; unknown without enough turns.
func (p *Comparison) Excess() (out probe.Opt[[PartCount]float64]) {
	if p.usual.Turns < minUsual {
		return out
	}
	connect := p.recent.Connect - p.usual.Connect
	waited := p.recent.TTFT - p.usual.TTFT - connect
	// Buffered tokens arrive before the first token is read.
	decode := p.usual.TPOT * p.usual.Output
	buffering := max(0, min(waited, (p.recent.Buffered-p.usual.Buffered)*decode))
	return probe.Some([PartCount]float64{
		connect,
		waited - buffering,
		buffering,
		(p.recent.TPOT - p.usual.TPOT) * p.usual.Output,
	})
}

// phaseSeconds holds the seconds of each part of a turn. output is the number of tokens, 0 if
// unknown; buffered is 1 if tokens were held back, else 0.
type phaseSeconds struct{ connect, ttft, tpot, output, buffered float64 }

// phaseSecondsOf returns the parts of a turn. A timed-out turn counts in the part in which it
// waited: connect without a connection, then the first token, then decode with the usual number
// of output tokens. An error answer is no wait and counts nowhere.
func phaseSecondsOf(r *probe.Result, v Values, usualOutput float64) (t phaseSeconds, ok bool) {
	p := r.Phases
	t = phaseSeconds{connect: (p.DNS.V + p.Connect.V + p.TLS.V).Seconds(), ttft: r.TTFT.V.Seconds()}
	if r.Buffered {
		t.buffered = 1
	}
	switch waited := v[0]; {
	case r.TTFT.OK && r.Outcome.Failed() && !r.Outcome.WrongAnswer():
		if usualOutput > 0 && v[1].OK {
			t.tpot, t.output = v[1].V.Seconds()/usualOutput, usualOutput
		}
	case r.TTFT.OK:
		if r.TPOT.OK && r.OutputTokens.OK {
			t.tpot, t.output = r.TPOT.V.Seconds(), float64(r.OutputTokens.V)
		}
	case !waited.OK:
		return t, false
	case r.Outcome == probe.ConnectError || r.Outcome == probe.TLSError:
		t.connect, t.ttft = waited.V.Seconds(), waited.V.Seconds()
	case r.Outcome == probe.TimeoutFirstToken: // the phases say how long it had no connection
		t.ttft = waited.V.Seconds()
	default:
		return t, false
	}
	return t, true
}
