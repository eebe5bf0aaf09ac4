package workload

import (
	"math/rand/v2"
	"strings"
	"time"

	"synthetic/internal/probe/workload/trace"
)

// Trace is a file of recorded traffic, and what of it is replayed; the zero value
// is none.
type Trace struct {
	File string
	trace.Options
}

// recorded replays a trace, from its begin again when it has ended.
type recorded struct {
	Trace
	reader *trace.Reader
	// first and last are the times of records of this lap, of which there were n;
	// before is how long the laps before it took.
	first, last, before time.Duration
	n                   int
	record              trace.Record
	// perToken is how many characters a token has. What was learned at first holds
	// for all, or a block were another text later on.
	perToken float64
}

// next returns the next record, its time since the first lap began. A file that was
// read before and cannot be any more gives the last record again: Source.Stale
// tells of it.
func (r *recorded) next() trace.Record {
	for range 2 { // what is left of this lap, or the next one
		if r.reader == nil {
			var err error
			if r.reader, err = trace.Open(r.File, r.Options); err != nil {
				return r.record
			}
		}
		rec, err := r.reader.Next()
		if err == nil {
			return r.take(rec)
		}
		r.close()
	}
	return r.record
}

func (r *recorded) take(rec trace.Record) trace.Record {
	if r.n++; r.n == 1 {
		r.first = rec.At
	}
	r.last = rec.At
	rec.At += r.before
	r.record = rec
	return rec
}

// close ends a lap, and leaves the mean interval between it and the next.
func (r *recorded) close() {
	if r.reader == nil {
		return
	}
	r.reader.Close()
	r.reader = nil
	span := r.last - r.first
	r.before += span + span/time.Duration(max(r.n-1, 1))
	r.n = 0
}

// retell fills in the conversation of the trace whose turn it is.
func (s *Source) retell(c *Conversation) {
	rec := s.trace.next()
	if s.trace.perToken == 0 {
		s.trace.perToken = s.ratio.value()
	}
	c.At, c.Turns = rec.At, max(len(rec.Turns), 1)
	for i, t := range rec.Turns {
		all := s.said(t, c.ID, uint64(i))
		c.Outputs = append(c.Outputs, t.Output)
		if i == 0 {
			c.Opening = all
			continue
		}
		c.Followups = append(c.Followups, all[len(all)-1].Content)
		c.Think = append(c.Think, t.After)
	}
	if len(c.Opening) > 0 && c.Opening[0].Role != "system" && s.spec.System != "" {
		c.Opening = append([]Message{{Role: "system", Content: s.spec.System}}, c.Opening...)
	}
}

// said are the messages of a recorded turn: those that were recorded, or one that
// is as long and shares with others what the recorded one did.
func (s *Source) said(t trace.Turn, id, turn uint64) (out []Message) {
	for _, m := range t.Messages {
		out = append(out, Message{Role: m.Role, Content: string(m.Content)})
	}
	if out != nil {
		return out
	}
	chars := func(tokens int) int { return max(int(float64(tokens)*s.trace.perToken), 1) }
	length := chars(t.Prompt)
	if len(t.Blocks) == 0 {
		if turn == 0 {
			return opening("", s.compose(id, length))
		}
		return opening("", questionsOf(newRand(s.spec.Seed, s.salt, streamRest, id, turn), length))
	}
	var b strings.Builder
	b.Grow(length)
	for _, name := range t.Blocks {
		if b.Len() < length {
			b.WriteString(filler(newRand(s.spec.Seed, s.salt, streamBlock, name), min(chars(t.BlockTokens), length-b.Len())))
		}
	}
	if rest := length - b.Len(); rest > 0 {
		b.WriteString(filler(newRand(s.spec.Seed, s.salt, streamRest, id, turn), rest))
	}
	return opening("", b.String())
}

// filler writes exactly n characters. Of one random source, a shorter text begins
// a longer one.
func filler(rng *rand.Rand, n int) string {
	p := &prose{rng: rng}
	for p.b.Len() < n {
		p.fill(p.pick(sentences))
		p.b.WriteByte(' ')
	}
	return p.b.String()[:n]
}
