package metrics

import (
	"time"

	"synthetic/internal/sidecar/regression"
)

// The sizes of two bounded label sets. A test holds them against the lists.
const (
	signals = 2
	parts   = 3
)

// regressionFrame shows what a job's turns are compared with, and how they
// compare.
type regressionFrame struct {
	signals [kinds][signals]signalFrame
	excess  [kinds][parts]float64
	cached  [kinds]float64
	prefill [kinds]regression.Prefill
}

// signalFrame shows one signal of one kind of turn.
type signalFrame struct {
	view  regression.View
	young float64
}

func (f *frame) addRegression(jf *jobFrame) {
	rf := &jf.regression
	for k, turn := range f.words.turns {
		l := jf.labels.with(turn)
		for i, signal := range f.words.signals {
			f.addSignal(l.with(signal), &rf.signals[k][i])
		}
		for i, part := range f.words.parts {
			f.gauge(Excess, l.with(part), &rf.excess[k][i])
		}
		f.gauge(CachedBaseline, l, &rf.cached[k])
		f.addPrefill(l, &rf.prefill[k])
	}
}

func (f *frame) addSignal(l labels, s *signalFrame) {
	v := &s.view
	f.counter(SignalTurns, l, &v.Turns)
	f.counter(SignalLog2, l, &v.Log2)
	f.counter(SignalLog2Squared, l, &v.Log2Squared)
	f.counter(SignalBaselineLog2, l, &v.BaselineLog2)
	f.counter(SignalTail, l, &v.Tail)
	f.gauge(TailLimit, l, &v.TailSeconds)
	f.gauge(Baseline, l, &v.Baseline)
	f.gauge(BaselineYoung, l, &s.young)
	f.gauge(BaselineTurns, l, &v.Samples)
	f.gauge(BaselineNoise, l, &v.Noise)
	f.gauge(Cusum, l, &v.Cusum)
	f.gauge(CusumLimit, l, &v.Limit)
	f.gauge(CusumAllowance, l, &v.Allowance)
	f.gauge(Step, l, &v.Step)
}

func (f *frame) addPrefill(l labels, p *regression.Prefill) {
	f.counter(PrefillTurns, l, &p.Turns)
	f.counter(PrefillUncached, l, &p.Uncached)
	f.counter(PrefillSquared, l, &p.Squared)
	f.counter(PrefillTime, l, &p.Seconds)
	f.counter(PrefillProduct, l, &p.Product)
}

// fill takes the job's state; its lock must be held.
func (rf *regressionFrame) fill(j *regression.Job, now time.Time) {
	for k := range rf.signals {
		for i := range rf.signals[k] {
			s := &rf.signals[k][i]
			s.view = j.View(k, i, now)
			s.young = 0
			if s.view.Young {
				s.young = 1
			}
		}
		rf.excess[k] = j.Parts(k)
		rf.cached[k] = j.CachedBaseline(k, now)
		rf.prefill[k] = j.Prefill(k)
	}
}
