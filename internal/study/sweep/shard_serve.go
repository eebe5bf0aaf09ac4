package sweep

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"synthetic/internal/atomicfile"
)

// ServeHTTP answers the status of a shard with the current step, and requests for the time.
func (l *Lead) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !l.authorized(r.Header.Get("Authorization")):
		http.Error(w, "wrong token: give all shards the same one (--barrier.token-file)", http.StatusUnauthorized)
	case r.URL.Path == pathClock && r.Method == http.MethodGet:
		writeJSONAnswer(w, time.Now())
	case r.URL.Path == pathStatus && r.Method == http.MethodPost:
		l.status(w, r)
	default:
		http.Error(w, "this is the barrier of a sweep's shards", http.StatusNotFound)
	}
}

// authorized compares digests, which have equal lengths for all tokens.
func (l *Lead) authorized(authorization string) bool {
	sent, want := sha256.Sum256([]byte(authorization)), sha256.Sum256([]byte("Bearer "+l.token))
	return l.token == "" || subtle.ConstantTimeCompare(sent[:], want[:]) == 1
}

func (l *Lead) status(w http.ResponseWriter, r *http.Request) {
	var s status
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&s); err != nil {
		http.Error(w, fmt.Sprintf("reading the status of a shard: %v", atomicfile.InJSONTerms("it", err)), http.StatusBadRequest)
		return
	}
	step, refusal := l.record(s)
	switch {
	case refusal != "":
		http.Error(w, refusal, http.StatusConflict)
	case step.Number == 0:
		http.Error(w, "the sweep has not begun", http.StatusServiceUnavailable)
	default:
		writeJSONAnswer(w, step)
	}
}

func writeJSONAnswer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // fails only if the shard is gone
}

// record stores the status of a shard. It returns the current step, or why the shard is
// refused.
func (l *Lead) record(s status) (step step, refusal string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if refusal = s.differs(l.hello); refusal != "" || l.step.Number == 0 {
		return l.step, refusal
	}
	o := l.peers[s.Index-1]
	switch {
	case o.former[s.Process]:
		return l.step, fmt.Sprintf("another process has taken the place of shard %d: start each index once", s.Index)
	case o.process != "" && o.process != s.Process:
		o.former[o.process] = true
		if o.lost == "" {
			o.lost = "it was started again"
		}
	}
	o.process, o.seen, o.leaving, o.step, o.done = s.Process, time.Now(), s.Leaving, s.Step, s.Done
	if o.lost == "" {
		o.lost = s.Leaving
	}
	if s.Report != nil && s.Step > l.level && s.Step <= l.step.Number { // skips reports of another level
		o.report = s.Report
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return l.step, ""
}
