package config

import (
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// price keeps what the tokens of a target cost, where that is said. Cached ones
// cost as much as others unless they have a price of their own.
func (b *builder) price(path, target string, p workload.Price) {
	at := path + ".price"
	if !b.Has(at) {
		return
	}
	if !b.Has(at + ".cached") {
		p.Cached = p.Prompt
	}
	b.prices[target] = &p
}

// costAt is what a conversation costs at an API.
func (c conversation) costAt(api target.API) workload.Tokens {
	if api == target.Embeddings || api == target.Rerank {
		return c.shot
	}
	return c.cost
}

// Footprint adds up what all jobs are expected to spend in a day, in tokens and,
// where every job has a price, in money. Known says that no job was left out
// because nobody knows what it spends.
func (c *Config) Footprint() (day workload.Tokens, money float64, priced, known bool) {
	priced, known = true, true
	for _, j := range c.Jobs {
		upTo := float64(c.UpTo(j.Target.Name))
		day = day.Plus(j.Footprint.Day.Times(upTo))
		known = known && j.Footprint.Day.Sum() > 0
		if j.Price == nil {
			priced = false
			continue
		}
		money += j.Price.Cost(j.Footprint.Day) * upTo
	}
	return day, money, priced, known
}
