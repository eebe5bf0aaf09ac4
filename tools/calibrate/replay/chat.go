package replay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
)

// Chat is a closed loop of conversations. When one ends, the next one starts, unless Rate
// forbids it. The next turn of a conversation follows its answer at once or after Think,
// with the whole history.
type Chat struct {
	// Rate is the maximum number of conversations started per second.
	Rate float64
	// MinTurns and MaxTurns are the bounds of a conversation's turns, which are distributed
	// uniformly.
	MinTurns, MaxTurns int
	// Starters are the lengths of the first prompts, which conversations share.
	Starters []int
	// Opening is the length of the answer to a starter, Answer the length of later answers,
	// and Question the length of a follow-up.
	Opening, Answer, Question Length
	Think                     time.Duration
	Seed                      uint64
}

// Level is a part of a sweep.
type Level struct {
	// Concurrency is the maximum number of conversations in flight. Conversations continue
	// into the next level.
	Concurrency int
	For         time.Duration
}

// validate checks the parameters of the chat.
func (o Chat) validate() error {
	switch {
	case !(o.Rate > 0):
		return fmt.Errorf("chat: rate is %v: give more than 0 conversations per second", o.Rate)
	case o.MinTurns < 1 || o.MaxTurns < o.MinTurns:
		return fmt.Errorf("chat: %d to %d turns: give a minimum of at least 1, and a maximum that is not smaller", o.MinTurns, o.MaxTurns)
	case len(o.Starters) == 0:
		return errors.New("chat: no starters: give the length of at least one")
	}
	return nil
}

// Run simulates the levels. It returns the turns in the order of their ends; unfinished
// turns come last.
func (o Chat) Run(c *cluster.Cluster, levels []Level) ([]Turn, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	l := &chatLoop{Chat: o, cluster: c, rand: rand.New(rand.NewPCG(o.Seed, 0x63686174)), starters: openings(o.Starters)}
	until := c.Now()
	for _, level := range levels {
		until += level.For
		l.pace(level.Concurrency, until)
	}
	for _, conv := range l.slots {
		if conv != nil {
			l.turns = append(l.turns, conv.turn)
		}
	}
	return l.turns, l.err
}

// pace starts conversations until a time, as far as rate and concurrency allow.
func (l *chatLoop) pace(concurrency int, until time.Duration) {
	for l.err == nil {
		at := time.Duration(float64(l.ticks) / l.Rate * float64(time.Second))
		if at >= until {
			break
		}
		l.ticks++
		l.cluster.Advance(at, l.handle)
		if l.inFlight < concurrency {
			l.begin()
		}
	}
	l.cluster.Advance(until, l.handle)
}

// conversation is a conversation in flight.
type conversation struct {
	number, slot int
	left         int
	text         *cluster.Text
	turn         Turn
}

// slotBits is the number of low bits of a request's id that hold its slot.
const slotBits = 20

type chatLoop struct {
	Chat
	cluster  *cluster.Cluster
	rand     *rand.Rand
	starters []*cluster.Text
	slots    []*conversation // in flight; nil marks a free slot
	inFlight int
	begun    int
	ticks    int // ticks of Rate so far
	sent     uint64
	turns    []Turn // finished turns
	err      error
}

// begin starts a conversation.
func (l *chatLoop) begin() {
	starter := l.starters[l.rand.IntN(len(l.starters))]
	slot := slices.Index(l.slots, nil)
	if slot < 0 {
		slot = len(l.slots)
		l.slots = append(l.slots, nil)
	}
	conv := &conversation{
		number: l.begun, slot: slot,
		left: l.MinTurns + l.rand.IntN(l.MaxTurns-l.MinTurns+1),
		text: starter.Fork(cluster.Mix(l.Seed ^ cluster.Mix(uint64(l.begun)+1<<32))),
	}
	l.slots[slot] = conv
	l.begun++
	l.inFlight++
	l.send(conv, l.cluster.Now(), l.Opening)
}

// send sends the next request.
func (l *chatLoop) send(conv *conversation, at time.Duration, answer Length) {
	conv.turn = Turn{Conversation: conv.number, Index: conv.turn.Index, Sent: at, Prompt: conv.text.Tokens}
	output := answer.draw(l.rand)
	conv.text.Grow(output)
	conv.left--
	l.sent++
	err := l.cluster.Submit(at, cluster.Request{ID: l.sent<<slotBits | uint64(conv.slot), Prompt: conv.turn.Prompt, Output: output, Chain: conv.text.Chain})
	if err != nil {
		l.err = fmt.Errorf("conversation %d, turn %d: %w", conv.number, conv.turn.Index, err)
	}
}

// handle processes an event of the cluster.
func (l *chatLoop) handle(e cluster.Event) {
	conv := l.slots[e.ID&(1<<slotBits-1)]
	if !conv.turn.observe(e) {
		return
	}
	l.turns = append(l.turns, conv.turn)
	if conv.left == 0 || e.Kind != cluster.Done {
		l.slots[conv.slot] = nil
		l.inFlight--
		return
	}
	conv.turn.Index++
	conv.text.Grow(l.Question.draw(l.rand))
	l.send(conv, e.At+l.Think, l.Answer)
}
