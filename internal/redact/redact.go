// Package redact removes the secrets of this process from texts. A server may repeat a key that it
// was sent, so every text from outside passes Text before the process shows or stores it.
//
// The code that reads a secret passes it to Key, Value or Session. Text replaces it in its plain, URL-, JSON-
// and base64-escaped form.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
)

const (
	// Mark replaces a secret.
	Mark = "<redacted>"
	// shortestKey is the length of the shortest key. Users write shorter texts, such as "none" and
	// "EMPTY", for servers that need no key.
	shortestKey = 6
	// shortestValue is the length of the shortest header value that counts as a secret.
	shortestValue = 8
	// longest bounds a secret. Servers accept headers of 8 KiB.
	longest = 8 << 10
)

// secrets holds the secrets of this process: up to 3,000 keys of 164 bytes. There is one set, because a secret of
// one target may appear in a text about another one. Sessions have their own, where they cannot displace the keys.
var secrets, sessions = set{capacity: 512 << 10}, set{capacity: longest}

// Key adds a key, a password or a token.
func Key(secret string) { secrets.add(secret, shortestKey) }

// Value adds the value of a header, which may be a secret.
func Value(secret string) { secrets.add(secret, shortestValue) }

// Session adds a token or a cookie of a conversation. Only the last ones are known, so add it again before each
// text that may have it.
func Session(secret string) { sessions.add(secret, shortestValue) }

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

// set holds secrets. Tokens are replaced every hour, so that old ones must be forgotten: if recent is
// full, it becomes older. A secret in use is added again at each use.
type set struct {
	capacity int // bytes of recent
	mu       sync.Mutex
	size     int
	// recent and older hold the forms of each secret.
	recent, older map[string][]string
	replacer      *strings.Replacer // nil after a change
}

func (s *set) add(secret string, shortest int) {
	secret = secret[:min(len(secret), longest)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(secret) < shortest || s.recent[secret] != nil {
		return
	}
	if s.recent == nil || s.size+len(secret) > s.capacity {
		s.recent, s.older, s.size = map[string][]string{}, s.recent, 0
	}
	s.recent[secret], s.replacer = forms(secret), nil
	s.size += len(secret)
}

func (s *set) text(text string) string {
	s.mu.Lock()
	if s.replacer == nil {
		s.replacer = newReplacer(s.recent, s.older)
	}
	r := s.replacer
	s.mu.Unlock()
	return r.Replace(text)
}

func newReplacer(generations ...map[string][]string) *strings.Replacer {
	var all []string
	for _, g := range generations {
		for _, forms := range g {
			all = append(all, forms...)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may be the beginning of another
	var pairs []string
	for _, form := range all {
		pairs = append(pairs, form, Mark)
	}
	return strings.NewReplacer(pairs...)
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
