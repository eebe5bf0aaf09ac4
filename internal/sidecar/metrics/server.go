package metrics

// ServerReading is what one reading of a target's own metrics said.
type ServerReading struct {
	// Complete says that every page was read.
	Complete bool
	// Drafted and Accepted are tokens since the reading before; Counted says
	// that the server counts them.
	Drafted, Accepted float64
	Counted           bool
	// Acceptance is the share of accepted tokens, 0 … 1, that a server shows
	// which does not count; Gauged says that it does so now.
	Acceptance float64
	Gauged     bool
}

// server is what is known of a target from its own metrics. The counters are
// ours: they grow by what readings add and never fall, whatever the server
// does.
type server struct {
	complete, drafted, accepted, acceptance float64
	// read says that it was, at least once; counted that it ever counted.
	read, counted, gauged bool
}

// ServerRead takes a reading of a target's own metrics. A target whose metrics
// the snapshot does not read is left alone.
func (r *Recorder) ServerRead(target string, s ServerReading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.servers[target]
	if known == nil {
		return
	}
	known.read, known.complete = true, 0
	if s.Complete {
		known.complete = 1
	}
	if s.Counted {
		known.counted = true
		known.drafted += max(0, s.Drafted)
		known.accepted += max(0, s.Accepted)
	}
	known.gauged, known.acceptance = s.Gauged, s.Acceptance
}

// keepServers follows a snapshot; the recorder's lock must be held.
func (r *Recorder) keepServers(targets []Target) {
	kept := map[string]*server{}
	for _, t := range targets {
		switch known := r.servers[t.Name]; {
		case !t.ServerMetrics:
		case known != nil:
			kept[t.Name] = known
		default:
			kept[t.Name] = &server{}
		}
	}
	r.servers = kept
}
