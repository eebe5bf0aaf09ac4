package main

import (
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"synthetic/internal/simulate"
)

// sessionRouter sends requests with a session to the worker that the session decides, and others round robin.
type sessionRouter struct {
	workers []http.Handler
	session func(http.Header) string
	named   bool // answers name the worker
	// fails is the number of the first prompt that is answered with status 500; 0 means none.
	fails int

	mu      sync.Mutex
	prompts int
	next    int
}

func (s *sessionRouter) choose(r *http.Request) (worker int, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts++
	if s.prompts == s.fails {
		return 0, true
	}
	if session := s.session(r.Header); session != "" {
		h := fnv.New32a()
		_, _ = h.Write([]byte(session))
		return int(h.Sum32() % uint32(len(s.workers))), false
	}
	s.next++
	return s.next % len(s.workers), false
}

func (s *sessionRouter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.workers[0].ServeHTTP(w, r)
		return
	}
	worker, failed := s.choose(r)
	if failed {
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	}
	if name := string(rune('a' + worker)); s.named {
		w.Header().Set("X-Inference-Pod", name)
		w.Header().Set("X-Session-Token", name)
	}
	s.workers[worker].ServeHTTP(w, r)
}

// TestInitTriesSessions runs init against routers that use different session ids.
func TestInitTriesSessions(t *testing.T) {
	header := func(name string) func(http.Header) string { return func(h http.Header) string { return h.Get(name) } }
	roundRobin := func(http.Header) string { return "" }
	const works, commented = ": routing by session works.\n", "\n    # session: {header: vllm-router} # the default\n"
	const unknown = "# Sessions: no session header was recognised: "
	for name, tt := range map[string]struct {
		workers int
		session func(http.Header) string
		named   bool
		fails   int
		want    []string // nil: the file says nothing about sessions
		prompts int      // 1 for the turn that init takes anyway
	}{
		"default":              {workers: 2, session: header("X-Session-Id"), named: true, want: []string{"# Sessions: the follow-ups of 2 conversations without a session id went to another worker; with X-Session-ID they stayed" + works, commented}, prompts: 1 + 10},
		"default, no name":     {workers: 2, session: header("X-Session-Id"), want: []string{"# Sessions: the follow-ups of 2 conversations without a session id were not in the cache; with X-Session-ID they were" + works, commented}, prompts: 1 + 10},
		"llm-d":                {workers: 2, session: header("X-Session-Token"), named: true, want: []string{"stayed with the preset llm-d.\n    session: {header: llm-d}\n"}, prompts: 1 + 4 + 2 + 3 + 6},
		"dynamo":               {workers: 2, session: header("X-Dynamo-Session-Id"), named: true, want: []string{"stayed with the preset dynamo.\n    session: {header: dynamo}\n"}, prompts: 1 + 4 + 2 + 3 + 2 + 6},
		"fireworks":            {workers: 2, session: header("X-Session-Affinity"), named: true, want: []string{"\n    session: {header: fireworks}\n"}, prompts: 1 + 21},
		"round robin":          {workers: 2, session: roundRobin, named: true, want: []string{unknown, "docs/how-to/sessions.md", "\n    # session: {header: dynamo} # or another preset"}, prompts: 1 + 8},
		"round robin, no name": {workers: 2, session: roundRobin, prompts: 1 + 6},
		"one worker":           {workers: 1, session: roundRobin, named: true, prompts: 1 + 4},
		"a failure":            {workers: 2, session: roundRobin, named: true, fails: 6, prompts: 6},
	} {
		t.Run(name, func(t *testing.T) {
			router := &sessionRouter{session: tt.session, named: tt.named, fails: tt.fails}
			for range tt.workers {
				// A reasoning model uses all its tokens before it answers.
				d, _ := fastDeployment(t, func(o *simulate.Options) { o.Reasoning = .9; o.Answer.Median = 60 })
				router.workers = append(router.workers, d)
			}
			server := httptest.NewServer(router)
			t.Cleanup(server.Close)
			text := initialised(t, "--base-url="+server.URL, "--api=chat")
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if tt.want == nil && (strings.Contains(text, "# Sessions:") || strings.Contains(text, "session:")) {
				t.Errorf("the file mentions sessions:\n%s", text)
			}
			router.mu.Lock()
			defer router.mu.Unlock()
			if router.prompts != tt.prompts {
				t.Errorf("%d prompts, want %d", router.prompts, tt.prompts)
			}
		})
	}
}
