package config

import (
	"net/textproto"

	"golang.org/x/net/http/httpguts"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
)

// readSession resolves how a target learns which requests belong to one conversation. headers are those
// that the target configures.
func readSession(r *reader, path string, f fileSession, headers map[string]string) target.Session {
	var s target.Session
	if f.Header != "none" {
		s.Header = textproto.CanonicalMIMEHeaderKey(f.Header)
		checkSessionHeader(r, path+".header", f.Header, "none, or ")
	}
	const isFixed = "names a header that headers sets for all requests"
	fixed := map[string]bool{}
	for name := range headers {
		fixed[textproto.CanonicalMIMEHeaderKey(name)] = true
	}
	for i, name := range f.Echo {
		at := yamlform.Index(path+".echo", i)
		s.Echo = append(s.Echo, textproto.CanonicalMIMEHeaderKey(name))
		checkSessionHeader(r, at, name, "")
		if fixed[s.Echo[i]] {
			r.Mistake(at, name, isFixed, "remove it from headers or from echo")
		}
	}
	if at := path + ".header"; r.Has(at) && fixed[s.Header] {
		r.Mistake(at, "", isFixed, "remove it from headers, or write header: none")
	}
	return s
}

// checkSessionHeader checks a header that carries a session. The remedy of a mistake lists more choices first.
func checkSessionHeader(r *reader, at, name, choices string) {
	if name == "" { // an endpoint that has no such key
		return
	}
	carriesKey, own := headerKind(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		r.Mistake(at, name, "is not a header name", "write "+choices+"a header name of letters, digits and -")
	case carriesKey || own:
		r.Mistake(at, name, "is a header for something else", "write "+choices+"a header that only names sessions")
	}
}
