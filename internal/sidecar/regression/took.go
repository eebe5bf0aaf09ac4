package regression

import "synthetic/internal/probe"

// took is what the parts of one turn took, in seconds. An output of 0 tokens
// says nothing of the decode.
type took struct{ connect, ttft, tpot, output float64 }

// tookOf reads a turn. One that failed waited in the part in which it stood,
// for as long as it enters its signal with: without a connection in connect,
// then for the first token, then in the decode, whose usual output stands in
// for one that never came. An answer of the server that it has failed is no
// wait, so it says nothing.
func tookOf(r *probe.Result, v values, usualOutput float64) (t took, ok bool) {
	p := r.Phases
	t = took{connect: (p.DNS.V + p.Connect.V + p.TLS.V).Seconds(), ttft: r.TTFT.V.Seconds()}
	switch waited := v[0]; {
	case r.TTFT.OK && r.Outcome.Failed() && r.Outcome != probe.ContentMismatch:
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
