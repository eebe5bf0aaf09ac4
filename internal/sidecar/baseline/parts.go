package baseline

import (
	"math"
	"time"

	"synthetic/internal/probe"
)

// Part is where a turn spends its time.
type Part string

const (
	// Connect is DNS, TCP and TLS.
	Connect Part = "connect"
	// QueuePrefill is what is left of the TTFT: the queue and the prefill.
	QueuePrefill Part = "queue_prefill"
	// ProxyBuffering is what of the TTFT went by while something between the server
	// and us kept tokens back.
	ProxyBuffering Part = "proxy_buffering"
	// Decode is from the first token to the last, at the usual answer's length.
	Decode Part = "decode"
)

const partCount = 4

// Parts lists every part, in the order of their index.
func Parts() []Part { return []Part{Connect, QueuePrefill, ProxyBuffering, Decode} }

const (
	// recent and usual are the time constants of the two means.
	recentSpan, usualSpan = 5 * time.Minute, 24 * time.Hour
	// strange is the ratio of recent to usual from which on nothing is learned.
	strange = 1.15
	// minUsual turns make the usual means meaningful.
	minUsual = 30
)

// means are exponentially weighted means of the parts of a turn, in seconds.
type means struct {
	Turns   float64 `json:"turns"`
	Connect float64 `json:"connect"`
	TTFT    float64 `json:"ttft"`
	TPOT    float64 `json:"tpot"`
	Output  float64 `json:"output"`
	// Buffered is the share of turns whose tokens were kept back.
	Buffered float64 `json:"buffered,omitzero"`
}

// add moves the means by a weight in (0, 1] towards a turn; at first they are
// plain means.
func (m *means) add(t took, weight float64) {
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

// parts compares the recent turns with the usual ones. It names the likely
// cause of a regression that others detect, so it is simple: means.
type parts struct {
	recent, usual means
	last          time.Time
}

func (p *parts) observe(r *probe.Result, v values, now time.Time, calm bool) {
	t, ok := tookOf(r, v, p.usual.Output)
	if !ok {
		return
	}
	elapsed := time.Duration(0)
	if !p.last.IsZero() {
		elapsed = max(0, now.Sub(p.last))
	}
	p.last = now
	p.recent.add(t, 1-math.Exp(-elapsed.Minutes()/recentSpan.Minutes()))
	if calm && !r.Outcome.Failed() && (p.usual.Turns < minUsual || p.recent.TTFT < strange*p.usual.TTFT && p.recent.TPOT < strange*p.usual.TPOT) {
		p.usual.add(t, 1-math.Exp(-elapsed.Minutes()/usualSpan.Minutes()))
	}
}

// excess is by how much each part takes longer than usual; NaN without enough
// turns.
func (p *parts) excess() [partCount]float64 {
	if p.usual.Turns < minUsual {
		return [partCount]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	connect := p.recent.Connect - p.usual.Connect
	waited := p.recent.TTFT - p.usual.TTFT - connect
	// Tokens that are kept back are waited for before the first.
	decode := p.usual.TPOT * p.usual.Output
	buffering := max(0, min(waited, (p.recent.Buffered-p.usual.Buffered)*decode))
	return [partCount]float64{
		connect,
		waited - buffering,
		buffering,
		(p.recent.TPOT - p.usual.TPOT) * p.usual.Output,
	}
}

// took is what the parts of one turn took, in seconds. An output of 0 tokens
// says nothing of the decode; buffered is 1 if its tokens were kept back, or 0.
type took struct{ connect, ttft, tpot, output, buffered float64 }

// tookOf reads a turn. One that failed waited in the part in which it stood,
// for as long as it enters its signal with: without a connection in connect,
// then for the first token, then in the decode, whose usual output stands in
// for one that never came. An answer of the server that it has failed is no
// wait, so it says nothing.
func tookOf(r *probe.Result, v values, usualOutput float64) (t took, ok bool) {
	p := r.Phases
	t = took{connect: (p.DNS.V + p.Connect.V + p.TLS.V).Seconds(), ttft: r.TTFT.V.Seconds()}
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
	case r.Outcome == probe.TimeoutFirstToken: // of which the phases say what went by without a connection
		t.ttft = waited.V.Seconds()
	default:
		return t, false
	}
	return t, true
}
