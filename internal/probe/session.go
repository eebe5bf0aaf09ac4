package probe

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

const (
	// maxSessionValue bounds an echoed header or a cookie, with its name, in bytes. Browsers have
	// the same limit for a cookie.
	maxSessionValue = 4 << 10
	// maxSessionBytes bounds all of them together: many servers accept headers of 8 KiB.
	maxSessionBytes = 6 << 10
	// maxCookies bounds the cookies of a conversation.
	maxCookies = 20
)

// session is what the requests of one conversation tell a router, so that it can send them to one
// worker. A conversation uses it in one goroutine.
type session struct {
	target.Session
	id string
	// echoed has the latest value of each header of Echo, cookies the cookies by name.
	echoed  map[string]string
	cookies map[string]*http.Cookie
	// previous are the names of the worker that answered the latest turn with a name, by source.
	previous []string
}

// apply adds the session to a request. A header that the target configures has priority, then an echoed
// one.
func (s *session) apply(req *http.Request, now time.Time) {
	set := func(name, value string) {
		if name != "" && req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
	for name, value := range s.echoed {
		set(name, value)
	}
	set(s.Header, s.id)
	for _, name := range slices.Sorted(maps.Keys(s.cookies)) {
		if c := s.cookies[name]; c.Expires.IsZero() || now.Before(c.Expires) {
			req.AddCookie(c)
		}
	}
}

// fits reports whether a cookie belongs to requests to an address of the host that set it.
func fits(c *http.Cookie, to *url.URL) bool {
	rest, inside := strings.CutPrefix(cmp.Or(to.Path, "/"), c.Path)
	return (!c.Secure || to.Scheme == "https") &&
		(!strings.HasPrefix(c.Path, "/") || inside && (rest == "" || rest[0] == '/' || strings.HasSuffix(c.Path, "/")))
}

// learn reads the headers of a response from an address, to which all requests of the conversation go.
// It ignores values beyond the limits, and cookies for other addresses.
func (s *session) learn(h http.Header, from *url.URL, now time.Time) {
	for _, name := range s.Echo {
		value := h.Get(name)
		if value == "" || !s.hasRoom(name, value, s.echoed[name]) {
			continue
		}
		if s.echoed == nil {
			s.echoed = map[string]string{}
		}
		s.echoed[name] = value
	}
	if !s.Cookies {
		return
	}
	for _, line := range h["Set-Cookie"] {
		if len(line) > maxSessionValue {
			continue
		}
		if c, err := http.ParseSetCookie(line); err == nil && fits(c, from) {
			s.keep(c, now)
		}
	}
}

// keep stores, replaces or deletes a cookie. Its Expires becomes the time by the prober's clock.
func (s *session) keep(c *http.Cookie, now time.Time) {
	if c.MaxAge > 0 {
		c.Expires = now.Add(time.Duration(min(c.MaxAge, 1<<30)) * time.Second)
	}
	known := s.cookies[c.Name]
	switch {
	case c.MaxAge < 0 || !c.Expires.IsZero() && !now.Before(c.Expires):
		delete(s.cookies, c.Name)
		return
	case known == nil && len(s.cookies) == maxCookies:
		return
	case known == nil:
		known = &http.Cookie{}
	}
	if !s.hasRoom(c.Name, c.Value, known.Value) {
		return
	}
	if s.cookies == nil {
		s.cookies = map[string]*http.Cookie{}
	}
	s.cookies[c.Name] = &http.Cookie{Name: c.Name, Value: c.Value, Quoted: c.Quoted, Expires: c.Expires}
}

// hasRoom reports whether a value may replace an older one of the same name.
func (s *session) hasRoom(name, value, older string) bool {
	size := len(name) + len(value)
	if size > maxSessionValue {
		return false
	}
	if older != "" {
		size -= len(name) + len(older)
	}
	for name, value := range s.echoed {
		size += len(name) + len(value)
	}
	for name, c := range s.cookies {
		size += len(name) + len(c.Value)
	}
	return size <= maxSessionBytes
}

// hide tells package redact the tokens and cookies of the session. The names of the worker that
// answered are no secrets, although some routers use one as a token.
func (s *session) hide(t *target.Target, names []string) {
	values := slices.Collect(maps.Values(s.echoed))
	for _, c := range s.cookies {
		values = append(values, c.Value)
	}
	for _, v := range values {
		if !slices.Contains(names, v) && !slices.Contains(s.previous, v) && !t.IsPublic(v) {
			redact.Session(v)
		}
	}
}

// SessionKept and SessionLost say whether the session of a conversation led a turn to the same worker
// as the previous one.
const SessionKept, SessionLost = "kept", "lost"

// SessionLabel returns SessionKept or SessionLost, or "" if the worker is unknown.
func SessionLabel(moved Opt[bool]) string {
	switch {
	case !moved.OK:
		return ""
	case moved.V:
		return SessionLost
	}
	return SessionKept
}

// moved reports whether another worker answered than in the previous turn, by the first source that
// named both; unknown if no source did. An answer without any name does not count as a turn.
func (s *session) moved(names []string) (moved Opt[bool]) {
	if cmp.Or(names...) == "" {
		return moved
	}
	for i, previous := range s.previous {
		if previous != "" && names[i] != "" {
			moved = Some(names[i] != previous)
			break
		}
	}
	s.previous = names
	return moved
}
