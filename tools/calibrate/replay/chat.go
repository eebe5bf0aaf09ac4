package replay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
)

// chat is a closed loop of conversations. When one ends, the next one starts, unless rate
// forbids it. The next turn of a conversation follows its answer at once, with the whole history.
type chat struct {
	// rate is the maximum number of conversations started per second.
	rate float64
	// minTurns and maxTurns are the bounds of a conversation's turns, which are distributed
	// uniformly.
	minTurns, maxTurns int
	// starters are the lengths of the first prompts, which conversations share.
	starters []int
	// firstAnswer is the length of the answer to a starter, answer the length of later answers,
	// and question the length of a follow-up.
	firstAnswer, answer length
	question            int
	seed                uint64
}

// validate checks the parameters of the chat.
func (o chat) validate() error {
	switch {
	case !(o.rate > 0):
		return fmt.Errorf("chat: rate is %v: give more than 0 conversations per second", o.rate)
	case o.minTurns < 1 || o.maxTurns < o.minTurns:
		return fmt.Errorf("chat: %d to %d turns: give a minimum of at least 1, and a maximum that is not smaller", o.minTurns, o.maxTurns)
	case len(o.starters) == 0:
		return errors.New("chat: no starters: give the length of at least one")
	}
	return nil
}

// run keeps a number of conversations in flight for a time, then waits for the turns in flight. It
// returns the turns in the order of their ends.
func (o chat) run(c *cluster.Cluster, concurrency int, duration time.Duration) ([]turn, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	l := &chatLoop{chat: o, cluster: c, rand: rand.New(rand.NewPCG(o.seed, 0x63686174)), texts: openings(o.starters)}
	l.pace(concurrency, c.Now()+duration)
	l.ending = true
	for l.inFlight > 0 && l.err == nil {
		at, _ := c.Next()
		c.Advance(at, l.handle)
	}
	return l.turns, l.err
}

// pace starts conversations until a time, as far as rate and concurrency allow.
func (l *chatLoop) pace(concurrency int, until time.Duration) {
	begin := l.cluster.Now()
	for tick := 0; l.err == nil; tick++ {
		at := begin + time.Duration(float64(tick)/l.rate*float64(time.Second))
		if at >= until {
			break
		}
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
	turn         turn
}

// slotBits is the number of low bits of a request's id that hold its slot.
const slotBits = 20

type chatLoop struct {
	chat
	cluster  *cluster.Cluster
	rand     *rand.Rand
	texts    []*cluster.Text
	slots    []*conversation // in flight; nil marks a free slot
	inFlight int
	begun    int
	ending   bool // no turn starts
	sent     uint64
	turns    []turn // finished turns
	err      error
}

// begin starts a conversation.
func (l *chatLoop) begin() {
	starter := l.texts[l.rand.IntN(len(l.texts))]
	slot := slices.Index(l.slots, nil)
	if slot < 0 {
		slot = len(l.slots)
		l.slots = append(l.slots, nil)
	}
	conv := &conversation{
		number: l.begun, slot: slot,
		left: l.minTurns + l.rand.IntN(l.maxTurns-l.minTurns+1),
		text: starter.Fork(cluster.Mix(l.seed ^ cluster.Mix(uint64(l.begun)+1<<32))),
	}
	l.slots[slot] = conv
	l.begun++
	l.inFlight++
	l.send(conv, l.cluster.Now(), l.firstAnswer)
}

// send sends the next request.
func (l *chatLoop) send(conv *conversation, at time.Duration, answer length) {
	conv.turn = turn{Conversation: conv.number, Index: conv.turn.Index, Sent: at, Prompt: conv.text.Tokens}
	output := answer.draw(l.rand)
	conv.text.Grow(output)
	conv.left--
	l.sent++
	err := l.cluster.Submit(at, cluster.Request{ID: l.seed<<40 ^ l.sent<<slotBits | uint64(conv.slot), Prompt: conv.turn.Prompt, Output: output, Chain: conv.text.Chain})
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
	if conv.left == 0 || e.Kind != cluster.Done || l.ending {
		l.slots[conv.slot] = nil
		l.inFlight--
		return
	}
	conv.turn.Index++
	conv.text.Grow(l.question)
	l.send(conv, e.At, l.answer)
}
