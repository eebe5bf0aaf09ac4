package target

// Session says how a router learns which requests belong to one conversation. The zero value
// tells it nothing.
type Session struct {
	// Header is the request header with the id of the conversation; "" means none.
	Header string
	// Echo are response headers whose latest value each later request of the conversation repeats.
	Echo []string
}

// DefaultSession is the session of a target that configures none. Most routers hash this header.
func DefaultSession() Session { return Session{Header: "X-Session-Id"} }
