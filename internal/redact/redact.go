// Package redact removes the secrets of this process from texts. A server may repeat a key that it
// was sent, so every text from outside passes Text before the process shows or stores it.
//
// The code that reads a secret passes it to Key or Value. Text replaces it in its plain, URL-, JSON-
// and base64-escaped form. A text that then still has a part of a key, in these or other spellings, is
// not shown at all.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
)

const (
	// Mark replaces a secret.
	Mark = "<redacted>"
	// Withheld replaces a text that has a part of a key.
	Withheld = "the server's answer holds a part of the key"
	// part is how many consecutive bytes of a key are not shown.
	part = 12
	// leastPart is the number of letters and digits below which a part of a key is not distinctive.
	leastPart = 8
	// shortestKey is the length of the shortest key. Users write shorter texts, such as "none" and
	// "EMPTY", for servers that need no key.
	shortestKey = 6
	// shortestValue is the length of the shortest header value that counts as a secret.
	shortestValue = 8
	// maxBytes is the total length of the keys of one generation: 3,000 keys of 164 bytes.
	maxBytes = 512 << 10
	// maxSessionBytes is the same for the tokens and cookies of conversations.
	maxSessionBytes = 64 << 10
	// longest bounds a secret. Servers accept headers of 8 KiB.
	longest = 8 << 10
)

// secrets holds the secrets of this process. There is one set, because a secret of one target may
// appear in a text about another one. Sessions have their own, where they cannot displace the keys.
var secrets, sessions = newSet(maxBytes), newSet(maxSessionBytes)

// Key adds a key, a password or a token. If it has at least 12 bytes, Text also finds parts of it.
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

// set holds secrets. Tokens are replaced every hour, so that old ones must be forgotten: if recent is
// full, it becomes older. A secret in use is added again at each use.
type set struct {
	capacity      int
	mu            sync.RWMutex
	recent, older *generation
}

type generation struct {
	secrets map[string]bool // true if its parts are secret, too
	size    int             // bytes of the secrets
	forms   []string        // what is replaced
	// begins has the first bytes of forms, parts the parts of keys.
	begins, parts hashes
}

func newGeneration() *generation {
	return &generation{secrets: map[string]bool{}, begins: hashes{shortestKey, map[uint64]bool{}}, parts: hashes{leastPart, map[uint64]bool{}}}
}

func newSet(capacity int) *set {
	return &set{capacity: capacity, recent: newGeneration(), older: newGeneration()}
}

func (s *set) add(secret string, shortest int, partsToo bool) {
	secret = secret[:min(len(secret), longest)]
	if len(secret) < shortest {
		return
	}
	s.mu.RLock()
	had, known := s.recent.secrets[secret]
	s.mu.RUnlock()
	if known && (had || !partsToo) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recent.size+len(secret) > s.capacity {
		s.recent, s.older = newGeneration(), s.recent
	}
	s.recent.add(secret, partsToo)
}

func (g *generation) add(secret string, partsToo bool) {
	g.secrets[secret] = partsToo
	g.size += len(secret)
	for _, form := range forms(secret) {
		g.forms = append(g.forms, form)
		g.begins.add(form)
	}
	for i := 0; partsToo && i+part <= len(secret); i++ {
		for _, spelled := range spellings(secret[i : i+part]) {
			g.parts.add(words(spelled))
		}
	}
}

// forms returns the spellings of a secret that Text replaces.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret)
	all := append(inBase64(secret), secret, url.QueryEscape(secret), url.PathEscape(secret), string(quoted[1:len(quoted)-1]))
	for _, form := range all {
		all = append(all, strings.NewReplacer("+", "-", "/", "_").Replace(form))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spellings returns a part of a key as a server may write it.
func spellings(p string) []string {
	all := append(inBase64(p), p)
	for _, table := range numbers {
		var b strings.Builder
		for i := range len(p) {
			b.WriteString(table[p[i]])
		}
		all = append(all, b.String())
	}
	return all
}

// numbers has each byte in hex: alone (as in URLs), and as an escape of Go and HTML, of Go's %#v, and of JSON.
var numbers = func() (tables [4][256]string) {
	for i, format := range []string{"%02x", "x%02x", "0x%02x", "u%04x"} {
		for c := range 256 {
			tables[i][c] = fmt.Sprintf(format, c)
		}
	}
	return tables
}()

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

// words returns the letters and digits of a text in lower case.
func words(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case 'A' <= c && c <= 'Z':
			out = append(out, c|0x20)
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z':
			out = append(out, c)
		case c == '\\' && i+1 < len(text) && strings.IndexByte("nrt", text[i+1]) >= 0:
			i++
		}
	}
	return string(out)
}

// hashes finds texts of least to 12 bytes in longer ones.
type hashes struct {
	least int
	known map[uint64]bool // by hash: true for a text, false for its first least bytes only
}

var seed = maphash.MakeSeed()

func (h hashes) add(text string) {
	if len(text) < h.least {
		return
	}
	begin := maphash.String(seed, text[:h.least])
	if _, ok := h.known[begin]; !ok {
		h.known[begin] = false
	}
	h.known[maphash.String(seed, text[:min(len(text), part)])] = true
}

func (h hashes) in(text string) bool {
	for i := 0; len(h.known) > 0 && i+h.least <= len(text); i++ {
		found, ok := h.known[maphash.String(seed, text[i:i+h.least])]
		for n := h.least + 1; ok && !found && n <= part && i+n <= len(text); n++ {
			found = h.known[maphash.String(seed, text[i:i+n])]
		}
		if found {
			return true
		}
	}
	return false
}

func (s *set) text(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, g := range []*generation{s.recent, s.older} {
		if g.begins.in(text) {
			text = g.replace(text)
		}
	}
	letters := words(text)
	for _, g := range []*generation{s.recent, s.older} {
		if g.parts.in(letters) {
			return Withheld
		}
	}
	return text
}

func (g *generation) replace(text string) string {
	var found []string
	for _, form := range g.forms {
		if strings.Contains(text, form) {
			found = append(found, form)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) }) // one may be the beginning of another
	for _, form := range found {
		text = strings.ReplaceAll(text, form, Mark)
	}
	return text
}
