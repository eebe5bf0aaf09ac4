// Package redact removes the secrets of this process from texts. A server may repeat a key that it
// was sent, in any spelling, so every text from outside passes Text before the process shows or
// stores it.
//
// The code that reads a secret passes it to Key or Value. Text then removes it in these spellings:
// any case; white space, punctuation, zero-width and other non-ASCII characters between the
// characters; reversed; in hex, base64 or as a list of byte values; and all of these
// escaped up to maxLayers times for URLs, JSON, Go, C, HTML or mail (quoted-printable).
package redact

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"sync"
)

const (
	// Mark replaces a secret.
	Mark = "<redacted>"
	// keyRun is how many consecutive bytes of a key are removed. Shorter runs are too frequent in
	// other texts.
	keyRun = 12
	// shortestKey is the length of the shortest key. Users write shorter texts, such as "none" and
	// "EMPTY", for servers that need no key.
	shortestKey = 6
	// shortestValue is the length of the shortest header value that counts as a secret.
	shortestValue = 8
	// maxLayers is how often a text may be escaped: for example a message in a page in a JSON string.
	maxLayers = 4
	// maxBytes is the total length of the secrets of one generation. 1 MiB holds 6,000 keys of 164
	// bytes; 5,000 of them take 75 MB of memory.
	maxBytes = 1 << 20
	// maxSessionBytes is the same for the tokens and cookies of conversations.
	maxSessionBytes = 64 << 10
	// longest bounds a secret; the rest of a longer one is not found. Servers accept headers of 8 KiB.
	longest = 8 << 10
)

// secrets holds the secrets of this process. There is one set, because a secret of one target may
// appear in a text about another one.
var secrets set

// sessions holds the tokens and cookies of conversations. There may be a new one in each answer, so
// they have a small set of their own, where they cannot displace the keys.
var sessions = set{capacity: maxSessionBytes}

// Key adds a key, a password or a token. Text removes each run of keyRun bytes of it; if it is
// shorter, it must appear in full and in its own case.
func Key(secret string) { secrets.add(secret, keyRun, shortestKey) }

// Value adds the value of a header, which may be a secret. Text removes it where it appears in full.
func Value(secret string) { secrets.add(secret, len(secret), shortestValue) }

// Session adds a token or a cookie of a conversation. Text removes it where it appears in full. Only
// the last few hundred are known, so add it again before each text that may have it.
func Session(secret string) { sessions.add(secret, len(secret), shortestValue) }

// Text returns a text without the secrets. It does not change a text without secrets.
func Text(text string) string { return sessions.text(secrets.text(text)) }

// Error returns err with a text without the secrets.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return redacted{err, Text(err.Error())}
}

type redacted struct {
	error
	text string
}

func (r redacted) Error() string { return r.text }
func (r redacted) Unwrap() error { return r.error }

// Writer removes the secrets from each Write. A log writes one record at a time.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ io.Writer }

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// set holds secrets that are added while texts are searched. Tokens are replaced every hour, so that
// old ones must be forgotten: if recent is full, it becomes older. A secret in use is added again at
// each use.
type set struct {
	capacity      int // total bytes of the secrets of one generation; 0 means maxBytes
	mu            sync.RWMutex
	recent, older generation
}

func (s *set) add(secret string, run, shortest int) {
	secret = secret[:min(len(secret), longest)]
	id := identity{secret, min(run, longest)}
	s.mu.RLock()
	known := s.recent.known[id]
	s.mu.RUnlock()
	if known || len(secret) < shortest {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recent.known[id] {
		return
	}
	if s.recent.size+len(secret) > cmp.Or(s.capacity, maxBytes) {
		s.recent, s.older = generation{}, s.recent
	}
	s.recent.add(id)
}

func (s *set) text(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(text) < shortestKey || s.recent.size == 0 {
		return text
	}
	f := finder{set: s, budget: 64*len(text) + 1<<16}
	l := &layer{text: text}
	for range maxLayers {
		f.search(l)
		if l = l.unescape(); l == nil {
			break
		}
	}
	if l != nil {
		f.search(l)
	}
	if f.budget < 0 {
		return Mark
	}
	return f.replace(text)
}

// finder collects the places of secrets in one text.
type finder struct {
	set   *set
	found []span
	// budget bounds the comparisons, so that no text takes more than linear time.
	budget int
}

type span struct{ from, to int }

func (f *finder) search(l *layer) {
	for _, g := range []*generation{&f.set.recent, &f.set.older} {
		if len(g.words.seeds) > 0 {
			f.scan(&g.words, l, l.codes(&wordCodes))
		}
		if len(g.symbols.seeds) > 0 {
			f.scan(&g.symbols, l, l.codes(&symbolCodes))
		}
		if len(g.short.texts) > 0 {
			g.short.find(l.text, func(from, to int) { f.found = append(f.found, l.span(from, to)) })
		}
	}
}

// scan looks up every window of the text in the index. After a match it goes on behind it.
func (f *finder) scan(x *index, l *layer, c coded) {
	window, begin := uint64(0), 0
	for i := 0; i < len(c.codes); i++ {
		window = (window<<7 | uint64(c.codes[i])) & seedMask
		if i+1-begin < seedLength || !x.filter.mayHave(window) {
			continue
		}
		if from, to := x.match(window, c.codes, begin, i+1, &f.budget); to > 0 {
			f.found = append(f.found, l.span(c.at(from), c.at(to-1)+1))
			i, begin = to-1, to
		}
		if f.budget < 0 {
			return
		}
	}
}

func (f *finder) replace(text string) string {
	if len(f.found) == 0 {
		return text
	}
	slices.SortFunc(f.found, func(a, b span) int { return a.from - b.from })
	var out strings.Builder
	end := 0
	for i, s := range f.found {
		if i == 0 || s.from > end {
			out.WriteString(text[end:s.from])
			out.WriteString(Mark)
		}
		end = max(end, s.to)
	}
	out.WriteString(text[end:])
	return out.String()
}
