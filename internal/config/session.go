package config

import (
	"net/textproto"

	"golang.org/x/net/http/httpguts"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
)

// session resolves how a target learns which requests belong to one conversation. headers are those
// that the target configures.
func (b *builder) session(path string, f fileSession, headers map[string]string) target.Session {
	var s target.Session
	if f.Header != "none" {
		s.Header = textproto.CanonicalMIMEHeaderKey(f.Header)
		b.sessionHeader(path+".header", f.Header, "none, or ")
	}
	const isFixed = "names a header that headers sets for all requests"
	fixed := map[string]bool{}
	for name := range headers {
		fixed[textproto.CanonicalMIMEHeaderKey(name)] = true
	}
	for i, name := range f.Echo {
		at := yamlform.Index(path+".echo", i)
		s.Echo = append(s.Echo, textproto.CanonicalMIMEHeaderKey(name))
		b.sessionHeader(at, name, "")
		if fixed[s.Echo[i]] {
			b.Mistake(at, name, isFixed, "remove it from headers or from echo")
		}
	}
	if at := path + ".header"; b.Has(at) && fixed[s.Header] {
		b.Mistake(at, "", isFixed, "remove it from headers, or write header: none")
	}
	return s
}

// sessionHeader checks a header that carries a session. The remedy of a mistake lists more choices first.
func (b *builder) sessionHeader(at, name, choices string) {
	if name == "" { // an endpoint that has no such key
		return
	}
	carriesKey, own := headerKind(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		b.Mistake(at, name, "is not a header name", "write "+choices+"a header name of letters, digits and -")
	case carriesKey || own:
		b.Mistake(at, name, "is a header for something else", "write "+choices+"a header that only names sessions")
	}
}
