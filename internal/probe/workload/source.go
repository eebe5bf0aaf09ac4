package workload

import (
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
)

// NewSource returns a source of the conversations that spec describes. It
// reads Spec.ConversationsFile, and its errors name the file, the line and the
// remedy.
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
	if spec.ConversationsFile != "" {
		s.stamp = stampOf(spec.ConversationsFile) // before reading: rather stale than missed
		if s.file, err = readConversations(spec.ConversationsFile); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Stale reports whether the file of conversations changed since it was read, or
// cannot be found any more; false without a file.
func (s *Source) Stale() bool {
	return s.spec.ConversationsFile != "" && s.stamp != stampOf(s.spec.ConversationsFile)
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
	if len(s.file) > 0 {
		s.replay(&c)
	} else {
		s.generate(&c, rng)
	}
	for range c.Turns - 1 {
		c.Think = append(c.Think, between(rng, s.spec.ThinkMin, s.spec.ThinkMax))
	}
	c.CharsOpening = charsOf(c.Opening)
	if len(s.images) > 0 {
		c.Opening[len(c.Opening)-1].Images = s.images
		c.CharsOpening = 0 // nothing of the usage is of the text alone
	}
	return c
}

// charsOf counts the characters of messages.
func charsOf(all []Message) (n int) {
	for _, m := range all {
		n += utf8.RuneCountInString(m.Content)
	}
	return n
}

func (s *Source) generate(c *Conversation, rng *rand.Rand) {
	c.Turns = between(rng, max(s.spec.TurnsMin, 1), s.spec.TurnsMax)
	c.Opening = opening(s.spec.System, s.openingText(c.ID, rng))
	for k := range c.Turns - 1 {
		c.Followups = append(c.Followups, s.followup(k, rng))
	}
}

// openingText returns one of the shared texts, or one of its own for id.
func (s *Source) openingText(id uint64, rng *rand.Rand) string {
	chars := s.chars(s.spec.PromptTokens)
	if s.spec.Starters <= 0 {
		return s.compose(id, chars)
	}
	index := rng.Uint64N(uint64(s.spec.Starters))
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
