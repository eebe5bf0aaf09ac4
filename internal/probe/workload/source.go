package workload

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"time"
	"unicode/utf8"
	"unique"
)

// Source plans conversations. With an equal Spec and salt the plans are equal,
// as long as equal token counts were learned. It is safe for concurrent use.
type Source struct {
	spec   Spec
	salt   uint64
	images []Image
	file   []replay
	trace  *recorded // nil for none
	mix    *clients  // nil for one kind of conversation
	stamp  stamp
	order  []int // of nouns in titles
	*ratio

	mu       sync.Mutex
	next     uint64
	starters map[uint64]starter
}

// starter is a shared opening text, kept as long as its wanted length stands.
// The handle makes equal texts of many targets one text in memory.
type starter struct {
	chars int
	text  unique.Handle[string]
}

// Streams of random numbers of one seed.
const (
	streamOrder uint64 = iota + 1
	streamText
	streamPlan
	streamBlock
	streamRest
	streamClient
	streamCancel
)

// NewSource returns a source of the conversations that spec describes. It
// reads Spec.ConversationsFile, and its errors name the file, the line and the
// remedy. Spec.Trace is read as conversations are planned: trace.Survey says before
// what is wrong with it. Close the source at the end.
//
// A salt makes the draws differ between processes with the same seed, and
// so the openings where they are to be unique (Spec.Starters = 0): replicas
// and restarts then do not find each other's texts in a prefix cache. The texts
// of shared starters do not depend on it. It also picks where in a file of
// conversations the replay starts.
func NewSource(spec Spec, salt uint64) (*Source, error) {
	s := &Source{spec: spec, salt: salt, ratio: newRatio(), starters: map[uint64]starter{}}
	s.order = newRand(spec.Seed, s.textSalt(), streamOrder).Perm(len(nouns))
	var err error
	if s.images, err = ReadImages(spec.Images); err != nil {
		return nil, err
	}
	if len(spec.Clients) > 0 {
		s.mix = newClients(spec.Clients, spec.Seed, salt)
	}
	if spec.Trace.File != "" {
		s.stamp = stampOf(spec.Trace.File)
		s.trace = &recorded{Trace: spec.Trace}
	}
	if spec.ConversationsFile != "" {
		s.stamp = stampOf(spec.ConversationsFile) // before reading: rather stale than missed
		if s.file, err = readConversations(spec.ConversationsFile); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close closes the trace.
func (s *Source) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trace != nil {
		s.trace.close()
	}
}

// Stale reports whether the file of conversations or the trace changed since it was
// read, or cannot be found any more; false without a file.
func (s *Source) Stale() bool {
	file := cmp.Or(s.spec.ConversationsFile, s.spec.Trace.File)
	return file != "" && s.stamp != stampOf(file)
}

func (s *Source) textSalt() uint64 {
	if s.spec.Starters > 0 {
		return 0
	}
	return s.salt
}

// Next plans the next conversation.
func (s *Source) Next() Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	rng := newRand(s.spec.Seed, s.salt, streamPlan, id)
	c := Conversation{ID: id}
	dists := s.spec.Dists
	switch {
	case s.trace != nil:
		s.retell(&c)
	case len(s.file) > 0:
		s.replay(&c)
	default:
		if s.mix != nil {
			class, at := s.mix.take()
			dists, c.At = class.Dists, at
		}
		s.generate(&c, rng, dists)
	}
	for range c.Turns - 1 - len(c.Think) {
		if dists.Think != nil {
			c.Think = append(c.Think, seconds(dists.Think.draw(rng)))
			continue
		}
		c.Think = append(c.Think, between(rng, s.spec.ThinkMin, s.spec.ThinkMax))
	}
	s.leave(&c)
	c.CharsOpening = charsOf(c.Opening)
	if len(s.images) > 0 {
		c.Opening[len(c.Opening)-1].Images = s.images
		c.CharsOpening = 0 // nothing of the usage is of the text alone
	}
	return c
}

// Pass leaves out the next conversation, and returns its At: the ones after it are
// what they would be after Next.
func (s *Source) Skip() (at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	switch {
	case s.trace != nil:
		return s.trace.next().At
	case s.mix != nil && len(s.file) == 0:
		_, at = s.mix.take()
	}
	return at
}

// charsOf counts the characters of messages.
func charsOf(all []Message) (n int) {
	for _, m := range all {
		n += utf8.RuneCountInString(m.Content)
	}
	return n
}

// leave decides which turns the user does not wait for.
func (s *Source) leave(c *Conversation) {
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

func (s *Source) generate(c *Conversation, rng *rand.Rand, d Dists) {
	if d.Turns != nil {
		c.Turns = d.Turns.count(rng)
	} else {
		c.Turns = between(rng, max(s.spec.TurnsMin, 1), s.spec.TurnsMax)
	}
	c.Opening = opening(s.spec.System, s.openingText(c.ID, rng, d.Prompt))
	for k := range c.Turns - 1 {
		c.Followups = append(c.Followups, s.followup(k, rng))
	}
	if d.Output != nil {
		for range c.Turns {
			c.Outputs = append(c.Outputs, d.Output.count(rng))
		}
	}
}

// openingText returns one of the shared texts, or one of its own for id. Where
// lengths are drawn, a shared text has one of its own, whoever opens with it.
func (s *Source) openingText(id uint64, rng *rand.Rand, lengths *Dist) string {
	index := id
	if s.spec.Starters > 0 {
		index = rng.Uint64N(uint64(s.spec.Starters))
	}
	tokens := s.spec.PromptTokens
	if lengths != nil {
		tokens = lengths.count(newRand(s.spec.Seed, s.textSalt(), streamText, index, 2))
	}
	chars := s.chars(tokens)
	if s.spec.Starters <= 0 {
		return s.compose(id, chars)
	}
	kept := s.starters[index]
	if kept.chars != chars {
		kept = starter{chars: chars, text: unique.Make(s.compose(index, chars))}
		s.starters[index] = kept
	}
	return kept.text.Value()
}

// compose writes the opening text of an index: a document, then a question
// about it, because a model answers a question at length. The document grows
// and shrinks at its end, in front of the question.
func (s *Source) compose(index uint64, chars int) string {
	ask := question(newRand(s.spec.Seed, s.textSalt(), streamText, index, 1))
	rng := newRand(s.spec.Seed, s.textSalt(), streamText, index)
	head := title(s.order, index)
	if room := chars - len(ask) - 2; room > len(ask) {
		return document(rng, head, room) + "\n\n" + ask
	}
	return document(rng, head, chars)
}

// followup returns the k-th follow-up question, from 0: from the script in
// turn, beginning anew with each conversation, or a generated one.
func (s *Source) followup(k int, rng *rand.Rand) string {
	if n := len(s.spec.Followups); n > 0 {
		return s.spec.Followups[k%n]
	}
	return questionsOf(rng, s.chars(s.spec.FollowupTokens))
}

// chars returns how many characters make so many tokens, at least 1.
func (s *Source) chars(tokens int) int {
	return max(int(float64(tokens)*s.ratio.value()), 1)
}

func opening(system, user string) []Message {
	all := []Message{{Role: "system", Content: system}, {Role: "user", Content: user}}
	if system == "" {
		return all[1:]
	}
	return all
}

// between draws uniformly from lo … hi, both included; lo if hi is not above.
func between[T int | time.Duration](rng *rand.Rand, lo, hi T) T {
	if hi <= lo {
		return lo
	}
	return lo + T(rng.Int64N(int64(hi-lo)+1))
}
