package worlds

import (
	"testing"
	"time"
)

// TestAdaptiveProbesAreFew: without a fault, adaptive probing takes little more turns than a constant rate. A fault
// that is too small for a page causes more bursts.
func TestAdaptiveProbesAreFew(t *testing.T) {
	calm := Typical()
	calm.ConversationsPerMinute = 2
	turns := func(burstRate float64, injections ...Injection) (turns, bursts int) {
		s := NewSimulation(SimulationOptions{Model: calm, Seed: 5, Injections: injections, Length: 9 * day, BurstRate: burstRate})
		s.WarmUp(9 * day)
		return s.traffic.turns, s.traffic.bursts
	}
	const adaptive = 0.2
	constant, none := turns(0)
	few, some := turns(adaptive)
	_, more := turns(adaptive, Injection{Fault{Kind: Slow, Size: 1.2}, 8 * day, 8*day + 12*time.Hour})
	if none != 0 || some == 0 || more <= some {
		t.Errorf("%d bursts at a constant rate, %d of an adaptive one, %d with a fault", none, some, more)
	}
	if float64(few) < 0.95*float64(constant) || float64(few) > 1.3*float64(constant) {
		t.Errorf("%d turns at a constant rate, %d with bursts", constant, few)
	}
}
