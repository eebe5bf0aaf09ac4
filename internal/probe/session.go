package probe

import (
	"cmp"
	"net/http"

	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

const (
	// maxSessionValue bounds an echoed header, with its name, in bytes.
	maxSessionValue = 4 << 10
	// maxSessionBytes bounds all of them together: many servers accept headers of 8 KiB.
	maxSessionBytes = 6 << 10
)

// session is what the requests of one conversation tell a router, so that it can send them to one
// worker. A conversation uses it in one goroutine.
type session struct {
	target *target.Target
	id     string
	// echoed has the latest value of each header of Echo.
	echoed map[string]string
	// previous is the name of the worker that answered the latest turn with a name.
	previous string
}

// apply adds the session to a request. A header that the target configures has priority, then an echoed
// one.
func (s *session) apply(req *http.Request) {
	set := func(name, value string) {
		if name != "" && req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
	for name, value := range s.echoed {
		set(name, value)
	}
	set(s.target.Session.Header, s.id)
}

// learn reads the headers of the answer to a request. Before, it hides the values that the request had, which the
// answer may replace. It ignores values beyond the limits.
func (s *session) learn(h http.Header) {
	s.hide("")
	for _, name := range s.target.Session.Echo {
		value := h.Get(name)
		if value == "" || !s.hasRoom(name, value, s.echoed[name]) {
			continue
		}
		if s.echoed == nil {
			s.echoed = map[string]string{}
		}
		s.echoed[name] = value
	}
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
	return size <= maxSessionBytes
}

// hide tells package redact the tokens of the session. The names of the worker that
// answered are no secrets, although some routers use one as a token.
func (s *session) hide(worker string) {
	for _, v := range s.echoed {
		if v != worker && v != s.previous && !s.target.IsPublic(v) {
			redact.Session(v)
		}
	}
}

// SessionKept and SessionLost say whether the session of a conversation led a turn to the same worker
// as the previous one.
const SessionKept, SessionLost = "kept", "lost"

// compare compares the worker with that of the previous turn. It returns "" without a name; an answer
// without a name does not count as a turn.
func (s *session) compare(worker string) string {
	previous := s.previous
	s.previous = cmp.Or(worker, previous)
	switch {
	case worker == "" || previous == "":
		return ""
	case worker != previous:
		return SessionLost
	}
	return SessionKept
}
