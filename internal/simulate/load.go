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
	starters []*cluster.Text
	begun    uint64
	stopped  bool
}

// conversation is one of a load.
type conversation struct {
	text *cluster.Text
	left int // turns
}

// begin lets a load rise on a driver that is not shared yet.
func (l Load) begin(d *driver, seed uint64) {
	r := &load{
		Load: l.withDefaults(), driver: d, rand: rand.New(rand.NewPCG(seed, 0x6c6f6164)),
	}
	d.load = r
	for i := range r.Starters {
		t := cluster.NewText(cluster.Mix(seed^cluster.Mix(uint64(i)+1)), d.config.Engine.BlockTokens)
		t.Grow(r.StarterTokens)
		r.starters = append(r.starters, t)
	}
	for i := range r.Concurrency {
		r.start(d.cluster.Now() + time.Duration(i)*startEvery)
	}
}

// start begins a new conversation in place of one that has ended.
func (l *load) start(at time.Duration) {
	l.begun++
	c := &conversation{left: l.MinTurns + l.rand.IntN(l.MaxTurns-l.MinTurns+1)}
	c.text = l.starters[l.rand.IntN(len(l.starters))].Fork(cluster.Mix(l.begun))
	l.send(c, at)
}

// send asks for the next answer. A conversation that has outgrown the cluster
// makes room for another.
func (l *load) send(c *conversation, at time.Duration) {
	prompt, output := c.text.Tokens, l.Answer.draw(l.rand)
	if room := l.driver.cluster.MaxTokens() - prompt; output > room {
		l.start(at + giveUp)
		return
	}
	c.text.Grow(output)
	c.left--
	r := cluster.Request{Prompt: prompt, Output: output, Chain: c.text.Chain}
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
		c.text.Grow(l.Question.draw(l.rand))
		l.send(c, e.At+l.Think.draw(l.rand))
	}
}
