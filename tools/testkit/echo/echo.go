// Package echo spells a key in the ways in which a server may repeat it, and searches texts for it.
package echo

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"strings"
)

// Form is one way to spell a key.
type Form struct {
	Name  string
	Spell func(key string) string
}

// Forms returns all ways.
func Forms() []Form {
	behind := func(before string, encode func([]byte) string) func(string) string {
		return func(k string) string { return encode([]byte(before + k)) }
	}
	std, forURLs := base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	return []Form{
		{"as it is", func(k string) string { return k }},
		{"query", url.QueryEscape},
		{"JSON", func(k string) string { out, _ := json.Marshal(k); return string(out) }},
		{"base64", behind("", std)},
		{"base64 for URLs", behind("", forURLs)},
		{"base64 behind a byte", behind("u", forURLs)},
		{"base64 behind two bytes", behind("u:", std)},
		{"base64 as percent", func(k string) string { return url.QueryEscape(std([]byte(k))) }},
	}
}

// Keys returns keys of 20, 60 and 164 bytes.
func Keys() []string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	rng := rand.New(rand.NewPCG(1, 2))
	var keys []string
	for _, n := range []int{20, 60, 164} {
		key := []byte("sk-")
		for len(key) < n {
			key = append(key, alphabet[rng.IntN(len(alphabet))])
		}
		keys = append(keys, string(key))
	}
	return keys
}

// Searcher finds a key in texts.
type Searcher struct{ patterns map[string]string } // the form by its text

// NewSearcher returns a Searcher for a key.
func NewSearcher(key string) Searcher {
	s := Searcher{map[string]string{key: "as it is", url.QueryEscape(key): "query"}}
	for shift := range 3 { // the part of the base64 that does not depend on the text around it
		text := append(make([]byte, shift), key...)
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			s.patterns[e.EncodeToString(text)[(8*shift+5)/6:8*len(text)/6]] = "base64"
		}
	}
	return s
}

// Find returns the form in which a text contains the key, and that spelling; "" for none.
func (s Searcher) Find(text string) (form, run string) {
	for run, form := range s.patterns {
		if strings.Contains(text, run) {
			return form, run
		}
	}
	return "", ""
}
