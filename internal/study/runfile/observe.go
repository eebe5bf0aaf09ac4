package runfile

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
)

// Observe counts one finished turn in the block. It is not safe for concurrent
// use. Canceled turns are counted among the outcomes and nowhere else.
func (b *Block) Observe(r probe.Result, objectives []slo.Objective) {
	if b.Outcomes == nil {
		b.Outcomes = map[probe.Outcome]uint64{}
	}
	b.Outcomes[r.Outcome]++
	if r.Outcome == probe.Canceled {
		return
	}
	b.TurnSeconds += r.Duration().Seconds()
	b.judge(r, objectives)
	b.Tokens.observe(r)
	kind := &b.First
	if r.Kind == probe.Followup {
		kind = &b.Followup
	}
	kind.observe(r)
	add(&b.ScheduleLag, r.ScheduleLag())
	if r.Events > 0 {
		add(&b.ReadLag, r.ReadLagMax)
	}
}

func (b *Block) judge(r probe.Result, objectives []slo.Objective) {
	judged, good := false, true
	for _, o := range objectives {
		if b.SLOs == nil {
			b.SLOs = map[string]Judged{}
		}
		count := b.SLOs[o.Name]
		switch o.Judge(r) {
		case slo.Good:
			judged = true
			count.Good++
		case slo.Bad:
			judged, good = true, false
			count.Bad++
			if r.Outcome.Failed() {
				count.Failed++
			}
		}
		b.SLOs[o.Name] = count
	}
	if judged && good && r.Outcome == probe.Success {
		b.Good++
	}
}

func (t *Tokens) observe(r probe.Result) {
	t.Prompt += uint64(r.PromptTokens.V)
	t.Output += uint64(r.OutputTokens.V)
	if r.UsageMissing {
		t.OutputEstimated += uint64(r.OutputTokens.V)
	}
	if r.CachedTokens.OK && r.PromptTokens.OK {
		plus(&t.Cached, r.CachedTokens.V)
		plus(&t.CachedOf, r.PromptTokens.V)
	}
}

func plus(sum **uint64, n int) {
	if *sum == nil {
		*sum = new(uint64)
	}
	**sum += uint64(n)
}

// observe follows the SLO's judgement: what was measured counts, whatever came
// after it, for TTFT; TPOT, ITL and latency are those of whole answers.
func (d *Distributions) observe(r probe.Result) {
	failed := r.Outcome.Failed()
	d.TTFT.observe(r.TTFT, failed)
	d.AnswerTTFT.observe(r.AnswerTTFT, failed)
	if failed {
		d.TPOT.Failures++
		d.Latency.Failures++
		return
	}
	d.TPOT.observe(r.TPOT, false)
	d.Latency.observe(probe.Some(r.Duration()), false)
	for _, gap := range r.Gaps {
		add(&d.ITL.Values, gap)
	}
}

func (d *Distribution) observe(v probe.Opt[time.Duration], failed bool) {
	switch {
	case v.OK:
		add(&d.Values, v.V)
	case failed:
		d.Failures++
	}
}

func add(s **sketch.Sketch, d time.Duration) {
	if *s == nil {
		*s = &sketch.Sketch{}
	}
	(*s).Add(d.Seconds())
}

// Merge adds o's values and failures.
func (d *Distribution) Merge(o Distribution) {
	d.Failures += o.Failures
	if o.Values == nil || o.Values.Count() == 0 {
		return
	}
	if d.Values == nil {
		d.Values = &sketch.Sketch{}
	}
	d.Values.Merge(o.Values)
}
