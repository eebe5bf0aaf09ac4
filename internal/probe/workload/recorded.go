package workload

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"synthetic/internal/probe/workload/trace"
)

// Trace is the recorded traffic that a workload replays. The zero value means none.
type Trace struct {
	File string `yaml:"file" required:"true" examples:"trace.jsonl"`
	trace.Options
}

// fileVersion returns a text that changes with the file, or "" if there is none.
func fileVersion(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// traceReplay replays a trace, again from the start at its end.
type traceReplay struct {
	Trace
	reader     *trace.Reader
	lastRecord trace.Record
	// charsPerToken is the ratio at the first replay. It must not change, because equal block
	// names stand for equal texts.
	charsPerToken float64
}

// next returns the next record. If the file can
// no longer be read, it returns the last record again; Source.Stale reports the change.
func (r *traceReplay) next() trace.Record {
	for range 2 { // the rest of this lap, or the next one
		if r.reader == nil {
			var err error
			if r.reader, err = trace.Open(r.File, r.Options); err != nil {
				return r.lastRecord
			}
		}
		rec, err := r.reader.Next()
		if err != nil {
			r.close()
			continue
		}
		r.lastRecord = rec
		break
	}
	return r.lastRecord
}

// close ends a lap.
func (r *traceReplay) close() {
	if r.reader == nil {
		return
	}
	r.reader.Close()
	r.reader = nil
}

func (s *Source) replayTrace(c *Conversation) {
	rec := s.trace.next()
	if s.trace.charsPerToken == 0 {
		s.trace.charsPerToken = s.ratio.value()
	}
	c.Turns = max(len(rec.Turns), 1)
	for i, t := range rec.Turns {
		all := s.recordedMessages(t, c.ID)
		c.Outputs = append(c.Outputs, t.Output)
		if i == 0 {
			c.Opening = all
			continue
		}
		c.Followups = append(c.Followups, all[len(all)-1].Content)
	}
	if len(c.Opening) > 0 && c.Opening[0].Role != "system" && s.spec.System != "" {
		c.Opening = append([]Message{{Role: "system", Content: s.spec.System}}, c.Opening...)
	}
}

// recordedMessages returns the recorded messages of a turn. If only lengths are recorded, it
// generates a text of that length which shares the recorded blocks with other turns.
func (s *Source) recordedMessages(t trace.Turn, id uint64) (out []Message) {
	for _, m := range t.Messages {
		out = append(out, Message{Role: m.Role, Content: string(m.Content)})
	}
	if out != nil {
		return out
	}
	chars := func(tokens int) int { return max(int(float64(tokens)*s.trace.charsPerToken), 1) }
	length := chars(t.Prompt)
	if len(t.Blocks) == 0 {
		return opening("", s.compose(id, length))
	}
	var b strings.Builder
	b.Grow(length)
	for _, name := range t.Blocks {
		if b.Len() < length {
			rng := newRand(s.spec.Seed, s.salt, streamBlock, name)
			b.WriteString(filler(rng, min(chars(t.BlockTokens), length-b.Len())))
		}
	}
	if rest := length - b.Len(); rest > 0 {
		b.WriteString(filler(newRand(s.spec.Seed, s.salt, streamRest, id, 0), rest))
	}
	return opening("", b.String())
}

// filler returns exactly n characters. With the same random source, a shorter text is a prefix
// of a longer one.
func filler(rng *rand.Rand, n int) string {
	p := &prose{rng: rng}
	for p.b.Len() < n {
		p.fill(p.pick(sentences))
		p.b.WriteByte(' ')
	}
	return p.b.String()[:n]
}
