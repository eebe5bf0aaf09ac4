package target

// Session says how a router learns which requests belong to one conversation. The zero value
// tells it nothing.
type Session struct {
	// Header is the request header with the id of the conversation; "" means none.
	Header string
	// Echo are response headers whose latest value each later request of the conversation repeats.
	Echo []string
	// Cookies is true if a conversation keeps the cookies that its answers set.
	Cookies bool
}

// DefaultSession is the session of a target that configures none. Most routers hash this header.
func DefaultSession() Session { return Session{Header: "X-Session-Id"} }

// NoSession is the preset that sends no id.
const NoSession = "none"

// presets are the sessions of routers, by name.
var presets = []struct {
	name string
	Session
}{
	{"vllm-router", Session{Header: "X-Session-Id"}},
	{"llm-d", Session{Header: "X-Session-Id", Echo: []string{"X-Session-Token"}}},
	{"dynamo", Session{Header: "X-Dynamo-Session-Id"}},
	{"litellm", Session{Header: "X-Litellm-Session-Id"}},
	{"fireworks", Session{Header: "X-Session-Affinity"}},
	{NoSession, Session{}},
}

// SessionPreset returns the session that a router expects, and false for an unknown name.
func SessionPreset(name string) (Session, bool) {
	for _, p := range presets {
		if p.name == name {
			return p.Session, true
		}
	}
	return Session{}, false
}

// SessionPresets returns the names of all presets.
func SessionPresets() (names []string) {
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}
