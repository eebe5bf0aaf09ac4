package workload

import (
	"math/rand/v2"
	"sync"
	"time"
	"unicode/utf8"
	"unique"
)

// Source plans conversations. Equal specs and salts give equal plans, as long as the learned
// token ratio is equal. It is safe for concurrent use.
type Source struct {
	*writer
	images  []Image
	trace   *traceReplay // nil if there is none
	version string       // of the trace, when it was opened

	mu   sync.Mutex
	next uint64
}

// writer writes the texts of a Source, which locks it.
type writer struct {
	spec       Spec
	salt       uint64
	titleOrder []int // the order of nouns in titles
	*ratio
	starters map[uint64]starter
	system   starter // the generated system message
}

// starter is a shared opening text. It is generated again when the wanted length changes.
// Targets with equal texts share their memory.
type starter struct {
	chars int
	text  unique.Handle[string]
}

// Keys of the independent random streams of one seed.
const (
	streamOrder uint64 = iota + 1
	streamText
	streamPlan
	streamBlock
	streamRest
	streamCancel
	streamReference
	streamSystem
	streamEstimate
)

// NewSource returns a source for spec. Spec.Trace is read later, so check it with trace.Survey before. The
// caller must Close the source.
//
// The salt distinguishes processes with the same seed. The texts of unique openings (Spec.Starters = 0)
// depend on it, so that replicas and restarts do not find each other's texts in a prefix cache.
func NewSource(spec Spec, salt uint64) (*Source, error) {
	s := &Source{writer: &writer{spec: spec, salt: salt, ratio: newRatio(), starters: map[uint64]starter{}}}
	s.titleOrder = newRand(spec.Seed, s.textSalt(), streamOrder).Perm(len(nouns))
	var err error
	if s.images, err = ReadImages(spec.Images); err != nil {
		return nil, err
	}
	if spec.Trace.File != "" {
		s.version = fileVersion(spec.Trace.File)
		s.trace = &traceReplay{Trace: spec.Trace}
	}
	return s, nil
}

func (s *Source) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trace != nil {
		s.trace.close()
	}
}

// Stale reports whether the trace has changed or is gone.
func (s *Source) Stale() bool {
	return s.trace != nil && s.version != fileVersion(s.spec.Trace.File)
}

func (w *writer) textSalt() uint64 {
	if w.spec.Starters > 0 {
		return 0
	}
	return w.salt
}

// Skip skips the next conversation. Later ones are the same as after Next.
func (s *Source) Skip() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	if s.trace != nil {
		s.replayTrace(&Conversation{})
	}
}

func (s *Source) Next() Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	rng := newRand(s.spec.Seed, s.salt, streamPlan, id)
	c := Conversation{ID: id}
	if s.trace != nil {
		s.replayTrace(&c)
	} else {
		s.generate(&c, rng)
	}
	for range c.Turns - 1 {
		c.Think = append(c.Think, between(rng, s.spec.ThinkMin, s.spec.ThinkMax))
	}
	s.drawPatience(&c)
	c.CharsOpening = countChars(c.Opening)
	if len(s.images) > 0 && len(c.Opening) > 0 {
		c.Opening[len(c.Opening)-1].Images = s.images
		c.CharsOpening = 0 // the usage will include the images, so it says nothing about the text
	}
	return c
}

func countChars(all []Message) (n int) {
	for _, m := range all {
		n += utf8.RuneCountInString(m.Content)
	}
	return n
}

func (s *Source) drawPatience(c *Conversation) {
	if s.spec.Cancel.Share <= 0 {
		return
	}
	rng := newRand(s.spec.Seed, s.salt, streamCancel, c.ID)
	for range c.Turns {
		patience := time.Duration(0)
		if rng.Float64() < s.spec.Cancel.Share {
			patience = max(between(rng, s.spec.Cancel.Min, s.spec.Cancel.Max), 1)
		}
		c.Patience = append(c.Patience, patience)
	}
}

func (s *Source) generate(c *Conversation, rng *rand.Rand) {
	d := s.spec.Dists
	turns := s.drawTurns(rng)
	c.Opening = opening(s.systemText(), s.openingText(c, rng, d.Prompt))
	o := s.drawOutline(rng, d, turns, s.tokens(countChars(c.Opening)))
	c.Turns = len(o.outputs)
	if d.Output != nil {
		c.Outputs = o.outputs
	}
	for k, tokens := range o.followups {
		c.Followups = append(c.Followups, s.followup(k, tokens, rng, s.addReference(c)))
	}
}

func (w *writer) drawTurns(rng *rand.Rand) int {
	return between(rng, max(w.spec.TurnsMin, 1), w.spec.TurnsMax)
}

// systemText returns the system message, which may be "". A generated text depends on no salt, so that
// all replicas share it.
func (w *writer) systemText() string {
	if w.spec.SystemTokens <= 0 {
		return w.spec.System
	}
	if chars := w.chars(w.spec.SystemTokens); w.system.chars != chars {
		rng := newRand(w.spec.Seed, Hash(w.spec.Name), streamSystem)
		w.system = starter{chars: chars, text: unique.Make(document(rng, "Instructions", chars))}
	}
	return w.system.text.Value()
}

// openingText returns a shared text or a unique one for the conversation. If lengths are drawn, each
// shared text has one fixed length.
func (w *writer) openingText(c *Conversation, rng *rand.Rand, lengths *Dist) string {
	index := c.ID
	if w.spec.Starters > 0 {
		index = rng.Uint64N(uint64(w.spec.Starters))
	}
	tokens := w.spec.PromptTokens
	if lengths != nil {
		tokens = lengths.count(newRand(w.spec.Seed, w.textSalt(), streamText, index, 2))
	}
	chars := w.chars(tokens)
	c.References = w.openingReferences(index, chars)
	if w.spec.Starters <= 0 {
		return w.composeWith(c.References, index, chars)
	}
	shared := w.starters[index]
	if shared.chars != chars {
		shared = starter{chars: chars, text: unique.Make(w.composeWith(c.References, index, chars))}
		w.starters[index] = shared
	}
	return shared.text.Value()
}

// compose writes the opening text of an index. A different length changes only the end of the document.
func (w *writer) compose(index uint64, chars int) string {
	ask := question(newRand(w.spec.Seed, w.textSalt(), streamText, index, 1))
	rng := newRand(w.spec.Seed, w.textSalt(), streamText, index)
	return documentAndQuestion(rng, title(w.titleOrder, index), ask, chars)
}

// followup returns follow-up k, counted from 0: a scripted one or a generated one, which is a document
// above documentTokens. It ends with the text end, which is part of the length of a generated one.
func (w *writer) followup(k, tokens int, rng *rand.Rand, end string) string {
	if n := len(w.spec.Followups); n > 0 {
		return w.spec.Followups[k%n] + end
	}
	length := len(end)
	if length > 0 {
		length += codeExcess
	}
	chars := max(w.chars(tokens)-length, 1)
	if tokens <= documentTokens {
		return questionText(rng, chars) + end
	}
	head, ask := title(w.titleOrder, rng.Uint64N(uint64(len(nouns)))), question(rng)
	return documentAndQuestion(rng, head, ask, chars) + end
}

// chars returns the number of characters of a number of tokens, at least 1.
func (w *writer) chars(tokens int) int {
	return max(int(float64(tokens)*w.ratio.value()), 1)
}

// tokens estimates the tokens of a number of characters.
func (w *writer) tokens(chars int) int { return int(float64(chars) / w.ratio.value()) }

func opening(system, user string) []Message {
	all := []Message{{Role: "system", Content: system}, {Role: "user", Content: user}}
	if system == "" {
		return all[1:]
	}
	return all
}

// between draws uniformly from lo to hi, both included. It returns lo if hi is smaller.
func between[T int | time.Duration](rng *rand.Rand, lo, hi T) T {
	if hi <= lo {
		return lo
	}
	return lo + T(rng.Int64N(int64(hi-lo)+1))
}
