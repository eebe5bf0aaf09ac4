package simulate

import (
	"cmp"
	"math/rand/v2"
	"time"

	"synthetic/internal/simulate/cluster"
)

// Load is a closed loop of conversations that other clients hold with the
// cluster. They are submitted straight to it, without HTTP, so that it can be
// as busy as a real one while few real requests come. Fields left zero, but
// Concurrency, take the default named at them.
type Load struct {
	// Concurrency is the number of conversations in flight; 0 means no load.
	Concurrency int
	// MinTurns and MaxTurns of a conversation, equally likely; default 3 and 5.
	MinTurns, MaxTurns int
	// Starters is how many first prompts the conversations share, of
	// StarterTokens tokens each; default 10 and 3600.
	Starters, StarterTokens int
	// Question is the length of a follow-up, default median 60; Answer that of
	// an answer, default median 830.
	Question, Answer Length
	// Think passes between an answer and the next question.
	Think Delay
	// WarmUp is how long the load has gone on when the deployment starts. It
	// costs computing time at once, some milliseconds per minute.
	WarmUp time.Duration
}

const (
	// startEvery is the time between two starts of conversations while the load
	// rises.
	startEvery = 100 * time.Millisecond
	// giveUp is how long a client waits that got no answer.
	giveUp = time.Second
)

func (l Load) withDefaults() Load {
	l.MinTurns = cmp.Or(l.MinTurns, 3)
	l.MaxTurns = max(cmp.Or(l.MaxTurns, 5), l.MinTurns)
	l.Starters = cmp.Or(l.Starters, 10)
	l.StarterTokens = cmp.Or(l.StarterTokens, 3600)
	l.Question = cmp.Or(l.Question, Length{Median: 60, Sigma: 0.3})
	l.Answer = cmp.Or(l.Answer, Length{Median: 830, Sigma: 0.15})
	return l
}

// load submits the conversations of a Load. Its driver's lock guards it.
type load struct {
	Load
	driver   *driver
	rand     *rand.Rand
	block    int // tokens
	starters []history
	begun    uint64
	stopped  bool
}

// conversation is one of a load.
type conversation struct {
	text history
	left int // turns
}

// begin lets a load rise on a driver that is not shared yet.
func (l Load) begin(d *driver, seed uint64) {
	r := &load{
		Load: l.withDefaults(), driver: d, block: d.config.Engine.BlockTokens,
		rand: rand.New(rand.NewPCG(seed, 0x6c6f6164)),
	}
	d.load = r
	for i := range r.Starters {
		var h history
		h.key = mix(seed ^ mix(uint64(i)+1))
		h.grow(r.StarterTokens, r.block)
		r.starters = append(r.starters, h)
	}
	for i := range r.Concurrency {
		r.start(d.cluster.Now() + time.Duration(i)*startEvery)
	}
}

// start begins a new conversation in place of one that has ended.
func (l *load) start(at time.Duration) {
	l.begun++
	c := &conversation{left: l.MinTurns + l.rand.IntN(l.MaxTurns-l.MinTurns+1)}
	c.text = l.starters[l.rand.IntN(len(l.starters))].fork(mix(l.begun), l.block)
	l.send(c, at)
}

// send asks for the next answer. A conversation that has outgrown the cluster
// makes room for another.
func (l *load) send(c *conversation, at time.Duration) {
	prompt, output := c.text.tokens, l.Answer.draw(l.rand)
	if room := l.driver.cluster.MaxTokens() - prompt; output > room {
		l.start(at + giveUp)
		return
	}
	c.text.grow(output, l.block)
	c.left--
	r := cluster.Request{Prompt: prompt, Output: output, Chain: c.text.blocks}
	if err := l.driver.submit(at, r, &call{finish: "stop", conversation: c}); err != nil {
		panic(err) // its time is not over, and its tokens fit
	}
}

// handle goes on when an answer has ended.
func (l *load) handle(c *conversation, e cluster.Event) {
	switch {
	case e.Kind == cluster.Tokens || l.stopped:
	case e.Kind != cluster.Done:
		l.start(e.At + giveUp)
	case c.left == 0:
		l.start(e.At)
	default:
		c.text.grow(l.Question.draw(l.rand), l.block)
		l.send(c, e.At+l.Think.draw(l.rand))
	}
}

// history is a text that is known by the running hashes of its blocks alone.
type history struct {
	key    uint64
	tokens int
	blocks []uint64
}

// fork begins another text that goes on differently.
func (h history) fork(key uint64, block int) history {
	full := h.tokens / block
	return history{key: key, tokens: h.tokens, blocks: append(make([]uint64, 0, 3*full), h.blocks[:full]...)}
}

// grow adds tokens.
func (h *history) grow(tokens, block int) {
	h.tokens += tokens
	for n := len(h.blocks); n < h.tokens/block; n++ {
		before := h.key
		if n > 0 {
			before ^= h.blocks[n-1]
		}
		h.blocks = append(h.blocks, mix(before))
	}
}

// mix scrambles a number: a bijection without visible pattern (the finalizer
// of splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
