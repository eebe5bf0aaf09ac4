// Package redact removes the secrets of this process from texts. A server may repeat a key that it
// was sent, so every text from outside passes Text before the process shows or stores it.
//
// The code that reads a secret passes it to Key or Value. Text replaces it in its plain, hex, URL-, JSON-,
// HTML- and base64-escaped form. A text that then still has the beginning or the end of a key, in these or other
// spellings, is not shown at all.
package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	// Mark replaces a secret.
	Mark = "<redacted>"
	// Withheld replaces a text that has the beginning or the end of a key.
	Withheld = "the server's answer holds a part of the key"
	// part is how many letters and digits the beginning and the end of a key have at least.
	part = 10
	// longestPart is how many they have at most.
	longestPart = 16
	// shortestKey is the length of the shortest key. Users write shorter texts, such as "none" and
	// "EMPTY", for servers that need no key.
	shortestKey = 6
	// shortestValue is the length of the shortest header value that counts as a secret.
	shortestValue = 8
	// maxBytes is the total length of the keys of one of two generations: 3,000 keys of 164 bytes.
	maxBytes = 512 << 10
	// maxSessionBytes is the same for the tokens and cookies of conversations, which have sessionGenerations. They are
	// small, because a new token costs a new replacer of its generation: 0.2 ms.
	maxSessionBytes, sessionGenerations = 2 << 10, 16
	// longest bounds a secret. Servers accept headers of 8 KiB.
	longest = 8 << 10
)

// secrets holds the secrets of this process. There is one set, because a secret of one target may
// appear in a text about another one. Sessions have their own, where they cannot displace the keys.
var secrets, sessions = newSet(maxBytes, 2), newSet(maxSessionBytes, sessionGenerations)

// Key adds a key, a password or a token. Text also finds its beginning and its end.
func Key(secret string) { secrets.add(secret, shortestKey, true) }

// Value adds the value of a header, which may be a secret.
func Value(secret string) { secrets.add(secret, shortestValue, false) }

// Session adds a token or a cookie of a conversation. Only the last few hundred are known, so add it
// again before each text that may have it.
func Session(secret string) { sessions.add(secret, shortestValue, false) }

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
	text := Text(string(p))
	if text == Withheld {
		text += "\n"
	}
	if _, err := io.WriteString(w.Writer, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// set holds secrets. Tokens are replaced every hour, so that old ones must be forgotten: if the newest
// generation is full, a new one replaces the oldest. A secret in use is added again at each use.
type set struct {
	capacity    int // bytes of one generation
	mu          sync.Mutex
	generations []*generation // the newest is the last
}

type generation struct {
	secrets map[string]bool // true if its beginning and its end are secret, too
	size    int             // bytes of the secrets
	// replacer replaces the secrets. It is nil until the next text.
	replacer *strings.Replacer
	// parts has the letters of beginnings and ends, by the first of them.
	parts map[string][]string
}

func newGeneration() *generation {
	return &generation{secrets: map[string]bool{}, parts: map[string][]string{}}
}

func newSet(capacity, generations int) *set {
	s := &set{capacity: capacity}
	for range generations {
		s.generations = append(s.generations, newGeneration())
	}
	return s
}

func (s *set) add(secret string, shortest int, partsToo bool) {
	secret = secret[:min(len(secret), longest)]
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.generations[len(s.generations)-1]
	if had, known := g.secrets[secret]; len(secret) < shortest || known && (had || !partsToo) {
		return
	}
	if g.size+len(secret) > s.capacity {
		g = newGeneration()
		s.generations = append(s.generations[1:], g)
	}
	g.secrets[secret], g.replacer = partsToo, nil
	g.size += len(secret)
	if partsToo {
		g.addParts(secret)
	}
}

func (g *generation) addParts(secret string) {
	for _, end := range ends(secret) {
		for _, form := range forms(end) {
			letters := lettersOf(form)
			if len(letters) < part {
				continue
			}
			start := letters[:part]
			if !slices.Contains(g.parts[start], letters) {
				g.parts[start] = append(g.parts[start], letters)
			}
		}
	}
}

func (s *set) text(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.generations {
		text = g.replace(text)
	}
	letters := lettersOf(text)
	for _, g := range s.generations {
		if g.hasPart(letters) {
			return Withheld
		}
	}
	return text
}

func (g *generation) replace(text string) string {
	if g.replacer == nil {
		var all, pairs []string
		for secret := range g.secrets {
			all = append(all, forms(secret)...)
		}
		slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may be the beginning of another
		for _, form := range all {
			pairs = append(pairs, form, Mark)
		}
		g.replacer = strings.NewReplacer(pairs...)
	}
	return g.replacer.Replace(text)
}

// hasPart reports whether the letters of a text have a beginning or an end.
func (g *generation) hasPart(letters string) bool {
	if len(g.parts) == 0 {
		return false
	}
	for i := 0; i+part <= len(letters); i++ {
		for _, p := range g.parts[letters[i:i+part]] {
			if strings.HasPrefix(letters[i:], p) {
				return true
			}
		}
	}
	return false
}

// forms returns the spellings of a secret that Text replaces.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret)
	all := append(inBase64(secret), secret, url.QueryEscape(secret), url.PathEscape(secret), string(quoted[1:len(quoted)-1]))
	all = append(all, html.EscapeString(secret), hex.EncodeToString([]byte(secret)))
	for _, form := range all {
		all = append(all, strings.NewReplacer("+", "-", "/", "_").Replace(form))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// inBase64 encodes a secret behind none, one and two other bytes. It omits the characters that depend
// on the bytes before and after.
func inBase64(secret string) []string {
	var all []string
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), secret...))
		all = append(all, text[(8*shift+5)/6:8*(shift+len(secret))/6])
	}
	return all
}

// escapes has what stands before each byte in hex, and escaped white space.
var escapes = strings.NewReplacer("0x", "", `\x`, "", `\u00`, "", "&#x", "", `\n`, "", `\r`, "", `\t`, "")

// lettersOf returns the letters and digits of a text in lower case.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, escapes.Replace(strings.ToLower(text)))
}

// letter matches what counts in a part, and noWord what ordinary words do not have.
var letter, noWord = regexp.MustCompile(`[0-9A-Za-z]`), regexp.MustCompile(`[0-9]|[a-z][A-Z]`)

// ends returns the shortest beginning and end of a key that are parts and no words, of at most longestPart letters: no
// text has so many of them by chance.
func ends(key string) []string {
	letters := letter.FindAllStringIndex(key, -1)
	n := len(letters)
	if n < part {
		return nil
	}
	most := min(n, longestPart)
	begins, ends := letters[most-1][1], letters[n-most][0]
	if odd := noWord.FindAllStringIndex(key, -1); odd != nil {
		begins = min(begins, max(letters[part-1][1], odd[0][1]))
		ends = max(ends, min(letters[n-part][0], odd[len(odd)-1][0]))
	}
	return []string{key[:begins], key[ends:]}
}
