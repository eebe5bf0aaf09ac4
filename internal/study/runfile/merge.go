package runfile

import "synthetic/internal/sketch"

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

// Count is the number of values.
func (d Distribution) Count() uint64 {
	if d.Values == nil {
		return 0
	}
	return d.Values.Count()
}

// Merge adds every distribution of o: the first turns' to the follow-ups', or
// one block's to another's.
func (d *Distributions) Merge(o Distributions) {
	d.TTFT.Merge(o.TTFT)
	d.AnswerTTFT.Merge(o.AnswerTTFT)
	d.TPOT.Merge(o.TPOT)
	d.ITL.Merge(o.ITL)
	d.Latency.Merge(o.Latency)
}

// Merge adds o's counts.
func (t *Tokens) Merge(o Tokens) {
	t.Prompt += o.Prompt
	t.Output += o.Output
	t.OutputEstimated += o.OutputEstimated
	if o.Cached != nil && o.CachedOf != nil {
		plus(&t.Cached, int(*o.Cached))
		plus(&t.CachedOf, int(*o.CachedOf))
	}
}
