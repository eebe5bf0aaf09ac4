package simulate

import (
	"math/rand/v2"
	"time"

	"synthetic/internal/simulate/cluster"
)

// Load is a closed loop of conversations of other clients. They reach the cluster without HTTP, so
// that it is as busy as a real one while few real requests come.
type Load struct {
	// Concurrency is the number of conversations in flight; 0 means no load.
	Concurrency int
	// WarmUp is how long the load has run when the deployment starts. It costs some milliseconds of
	// computing per minute.
	WarmUp time.Duration
}

// A conversation has 3 to 5 turns and starts with one of 10 shared prompts, as in the reports that
// the presets were fitted to.
const (
	minTurns, maxTurns = 3, 5
	openings           = 10
	openingTokens      = 3600
	// startInterval is the time between two starts while the load rises.
	startInterval = 100 * time.Millisecond
	// retryDelay is how long a client without an answer waits before its next conversation.
	retryDelay = time.Second
)

// load submits the conversations of a Load. The lock of its driver guards it.
type load struct {
	driver   *driver
	rand     *rand.Rand
	openings []*cluster.Text
	started  uint64
}

type conversation struct {
	text      *cluster.Text
	turnsLeft int
}

// begin starts a load on a driver that is not shared yet.
func (l Load) begin(d *driver, seed uint64) {
	d.load = &load{driver: d, rand: rand.New(rand.NewPCG(seed, 0x6c6f6164))}
	for i := range uint64(openings) {
		t := cluster.NewText(cluster.Mix(seed^cluster.Mix(i+1)), d.config.Engine.BlockTokens)
		t.Grow(openingTokens)
		d.load.openings = append(d.load.openings, t)
	}
	for i := range l.Concurrency {
		d.load.start(d.cluster.Now() + time.Duration(i)*startInterval)
	}
}

func (l *load) start(at time.Duration) {
	l.started++
	c := &conversation{turnsLeft: minTurns + l.rand.IntN(maxTurns-minTurns+1)}
	c.text = l.openings[l.rand.IntN(openings)].Fork(cluster.Mix(l.started))
	l.send(c, at)
}

// send requests the next answer. A new conversation replaces one that no longer fits the cluster.
func (l *load) send(c *conversation, at time.Duration) {
	prompt, output := c.text.Tokens, Length{Median: 830, Sigma: 0.15}.Draw(l.rand)
	if prompt+output > l.driver.cluster.MaxTokens() {
		l.start(at + retryDelay)
		return
	}
	c.text.Grow(output)
	c.turnsLeft--
	r := cluster.Request{Prompt: prompt, Output: output, Chain: c.text.Chain}
	if err := l.driver.submit(at, r, &call{conversation: c}); err != nil {
		panic(err) // the time is not in the past, and the tokens fit
	}
}

// handle continues a conversation after an answer has ended.
func (l *load) handle(c *conversation, e cluster.Event) {
	switch {
	case e.Kind == cluster.Tokens:
	case e.Kind != cluster.Done:
		l.start(e.At + retryDelay)
	case c.turnsLeft == 0:
		l.start(e.At)
	default:
		c.text.Grow(Length{Median: 60, Sigma: 0.3}.Draw(l.rand))
		// This draw was a think time, which is now 0. It keeps the sequence of draws that the
		// baselines of the demo were learned with.
		l.rand.NormFloat64()
		l.send(c, e.At)
	}
}
