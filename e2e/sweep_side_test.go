//go:build e2e

package e2e

// side holds the measurements of the client or the server in a window, as sums that can be
// added.
type side struct {
	turns, gaps            float64
	ttft, itl              float64 // seconds, summed over all turns and all gaps
	prompt, cached, output float64 // tokens
}

func (s side) meanTTFT() float64    { return s.ttft / s.turns }
func (s side) meanITL() float64     { return s.itl / s.gaps }
func (s side) cachedShare() float64 { return s.cached / s.prompt }

func (s side) plus(o side) side {
	return side{
		turns: s.turns + o.turns, gaps: s.gaps + o.gaps, ttft: s.ttft + o.ttft, itl: s.itl + o.itl,
		prompt: s.prompt + o.prompt, cached: s.cached + o.cached, output: s.output + o.output,
	}
}
