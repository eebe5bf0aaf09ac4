package probe_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
)

// recalling runs conversations that ask for references in each follow-up, several at a time, and returns
// their turns.
func recalling(t *testing.T, o probe.Options, conversations, concurrency int) []probe.Result {
	t.Helper()
	o.Workload.TurnsMin, o.Workload.TurnsMax, o.Workload.Recall = 4, 4, 1
	o.Workload.PromptTokens, o.Workload.FollowupTokens, o.Workload.Starters = 500, 60, 3
	source, err := workload.NewSource(o.Workload, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sink := &recorder{}
	var running sync.WaitGroup
	for range concurrency {
		running.Go(func() {
			for range conversations / concurrency {
				plan := probe.Plan{Conversation: source.Next(), Scheduled: time.Now(), Model: "m"}
				if sum := p.Converse(t.Context(), plan, sink); sum.Outcome != probe.Success {
					t.Errorf("a conversation ended with %s", sum.Outcome)
				}
			}
		})
	}
	running.Wait()
	return sink.results
}

func count(results []probe.Result) map[recall.Result]int {
	n := map[recall.Result]int{}
	for _, r := range results {
		n[r.Recall.Result]++
	}
	return n
}

// TestRecallInEveryAPI: a deployment that repeats the references is right in all APIs, also behind
// reasoning.
func TestRecallInEveryAPI(t *testing.T) {
	for _, api := range target.APIs() {
		if single(api) {
			continue
		}
		_, o := simulated(t, api, simulate.Options{})
		results := recalling(t, o, 3, 1)
		if n := count(results); n[recall.Right] != 9 || n[""] != 3 {
			t.Errorf("%s: %v, want 9 right turns and 3 that were not asked", api, n)
		}
		for _, r := range results {
			asked := r.Kind == probe.Followup
			if r.Recall.Depth.OK != asked || r.Recall.Cached.OK != (asked && r.CachedTokens.OK) {
				t.Errorf("%s, turn %d: %+v", api, r.Turn, r.Recall)
			}
			if asked && r.CachedTokens.OK && r.Recall.CachedState() != "yes" && r.Recall.Depth.V < 400 {
				t.Errorf("%s, turn %d: %d of the tokens are cached, but not the code behind %d", api, r.Turn, r.CachedTokens.V, r.Recall.Depth.V)
			}
		}
	}
}

// TestRecallFindsFaults: a lost context is wrong, and never foreign. Answers of other conversations are
// foreign.
func TestRecallFindsFaults(t *testing.T) {
	for _, tt := range []struct {
		incident simulate.Incident
		check    func(n map[recall.Result]int) bool
	}{
		{simulate.Incident{Kind: simulate.ContextCut, Share: 1, Factor: 40}, func(n map[recall.Result]int) bool { return n[recall.Wrong] > 20 && n[recall.Foreign] == 0 }},
		{simulate.Incident{Kind: simulate.Foreign, Share: 0.3}, func(n map[recall.Result]int) bool { return n[recall.Foreign] >= 5 && n[recall.Right] > 20 }},
	} {
		_, o := simulated(t, target.Chat, simulate.Options{Incidents: []simulate.Incident{tt.incident}})
		if n := count(recalling(t, o, 24, 4)); !tt.check(n) {
			t.Errorf("%s: %v", tt.incident.Kind, n)
		}
	}
}

// swapper is a proxy that holds requests back in pairs and exchanges their bodies, for one pair in every.
type swapper struct {
	every int

	mu      sync.Mutex
	pairs   int
	swapped int
	waiting chan []byte // takes the body of the second request of a pair; nil without a first
	first   []byte
}

func newSwapper(t *testing.T, backend string, every int) (*swapper, string) {
	s := &swapper{every: every}
	return s, rewriting(t, backend, s.exchange)
}

// rewriting starts a proxy that sends what rewrite makes of each body, and returns its address.
func rewriting(t *testing.T, backend string, rewrite func(body []byte) []byte) string {
	u, err := url.Parse(backend)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = rewrite(body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// forgetter drops the middle third of each message of a request whose prefix it has seen twice, for one such
// request in every.
type forgetter struct {
	every int

	mu                  sync.Mutex
	seen                map[string]int
	repeated, forgotten int
}

func (f *forgetter) forget(body []byte) []byte {
	var request map[string]any
	if json.Unmarshal(body, &request) != nil {
		return body
	}
	messages := request["messages"].([]any)
	opening := messages[0].(map[string]any)["content"].(string)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[opening]++; f.seen[opening] <= 2 {
		return body
	}
	if f.repeated++; f.repeated%f.every != 0 {
		return body
	}
	f.forgotten++
	for _, m := range messages[:len(messages)-1] {
		text := m.(map[string]any)["content"].(string)
		m.(map[string]any)["content"] = text[:len(text)/3] + text[2*len(text)/3:]
	}
	body, _ = json.Marshal(request)
	return body
}

// TestRecallFindsLostPrefixes: over TCP, a proxy that loses the middle of prefixes that it has seen before raises the
// alarm. The same traffic without the loss does not.
func TestRecallFindsLostPrefixes(t *testing.T) {
	for _, every := range []int{3, 1 << 30} {
		_, o := simulated(t, target.Chat, simulate.Options{})
		f := &forgetter{every: every, seen: map[string]int{}}
		o.Target.BaseURL = rewriting(t, strings.TrimSuffix(o.Target.BaseURL, "/v1"), f.forget) + "/v1"
		results := recalling(t, o, 60, 4)
		var w recall.Watch
		at := time.Unix(1_700_000_000, 0)
		for i := range 3000 { // what it learned before
			w.Add(at, "m", "", recall.Class{Cached: "yes", Turn: 2 + i%3}, false)
		}
		for _, r := range results {
			at = at.Add(10 * time.Second)
			if r.Recall.IsOwn() {
				w.Add(at, r.Model, r.TraceID, recall.Class{Cached: r.Recall.CachedState(), Turn: r.Turn}, r.Recall.Result == recall.Wrong)
			}
		}
		n, lost := count(results), every == 3
		f.mu.Lock()
		if got := w.Reading(); (got.Score == 1) != lost || n[recall.Foreign] > 0 || (n[recall.Wrong] > 0) != lost || (f.forgotten > 0) != lost {
			t.Errorf("%d of %d histories lost their middle: %v, %+v", f.forgotten, f.repeated, n, got)
		}
		f.mu.Unlock()
	}
}

// exchange returns the body that is sent instead of one. A request without a partner goes on after a
// while.
func (s *swapper) exchange(body []byte) []byte {
	s.mu.Lock()
	if partner := s.waiting; partner != nil {
		defer s.mu.Unlock()
		s.waiting = nil
		if s.pairs++; s.pairs%s.every != 0 {
			partner <- s.first
			return body
		}
		s.swapped++
		partner <- body
		return s.first
	}
	mine := make(chan []byte, 1)
	s.waiting, s.first = mine, body
	s.mu.Unlock()
	select {
	case other := <-mine:
		return other
	case <-time.After(time.Second):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == mine {
		s.waiting = nil
		return body
	}
	return <-mine
}

// TestRecallFindsSwappedRequests: over TCP, a proxy that swaps the bodies of two requests is found by
// foreign answers. One that swaps none is not. Conversations of four turns run side by side, so one pair in ten could
// often be first turns, which ask for no reference.
func TestRecallFindsSwappedRequests(t *testing.T) {
	for _, tt := range []struct{ every, least int }{{3, 1}, {1 << 30, 0}} {
		_, o := simulated(t, target.Chat, simulate.Options{})
		proxy, address := newSwapper(t, strings.TrimSuffix(o.Target.BaseURL, "/v1"), tt.every)
		o.Target.BaseURL = address + "/v1"
		n := count(recalling(t, o, 40, 4))
		if n[recall.Foreign] < tt.least || n[recall.Foreign] > 2*proxy.swapped || n[recall.Wrong] > 2*proxy.swapped {
			t.Errorf("%d pairs were swapped: %v", proxy.swapped, n)
		}
		if proxy.swapped == 0 && (n[recall.Right] != 120 || tt.least > 0) {
			t.Errorf("no pair was swapped: %v", n)
		}
	}
}

// TestRecallJudgement: which answers to a question for a reference are judged, and how.
func TestRecallJudgement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	own, foreign := recall.New(rng), recall.New(rng)
	rain := strings.Repeat("It rains. ", 10)
	for name, tt := range map[string]struct {
		answer []string
		want   recall.Result
	}{
		"right":                     {[]string{text("**" + strings.ToLower(string(own)) + "** It rains."), ended("stop")}, recall.Right},
		"wrong":                     {[]string{text("It rains."), ended("stop")}, recall.Wrong},
		"foreign":                   {[]string{text(string(foreign)), ended("stop")}, recall.Foreign},
		"only in the reasoning":     {[]string{reasoned(string(own)), text("It rains."), ended("stop")}, recall.Wrong},
		"cut in the reasoning":      {[]string{reasoned(string(own)), ended("length")}, ""},
		"cut before the code":       {[]string{reasoned("hm"), text("The"), ended("length")}, ""},
		"cut after a longer answer": {[]string{text(rain), ended("length")}, recall.Wrong},
		"cut after the code":        {[]string{text(string(own)), ended("length")}, recall.Right},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(n int, _ request) []string {
				if n == 1 {
					return []string{text("Yes."), ended("stop")}
				}
				return tt.answer
			})
			p, err := probe.New(options(s.addr))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			pl := plan(2)
			pl.Conversation.Opening[0].Content = recall.Statement(1, own)
			pl.Conversation.Followups = []string{recall.Request(1)}
			pl.Conversation.References, pl.Conversation.Asked = []recall.Code{own}, []int{1}
			sink := &recorder{}
			p.Converse(t.Context(), pl, sink)
			if len(sink.results) != 2 || sink.results[1].Outcome != probe.Success || sink.results[0].Recall.Result != "" {
				t.Fatalf("%+v", sink.results)
			}
			if got := sink.results[1].Recall; got.Result != tt.want {
				t.Errorf("%+v, want %q", got, tt.want)
			}
		})
	}
}

// TestRecallCountsAForeignCodeOnce: the answer with a foreign code is then part of the conversation, so a
// model that repeats the code does not mix up conversations again. Usage of a foreign answer is not trusted.
func TestRecallCountsAForeignCodeOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	own, foreign, another := recall.New(rng), recall.New(rng), recall.New(rng)
	s := serve(t, func(n int, _ request) []string {
		says := []recall.Code{own, foreign, foreign, own + " " + foreign, another}[n-1]
		return []string{text(string(says)), ended("stop")}
	})
	p, err := probe.New(options(s.addr))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	pl := plan(5)
	pl.Conversation.Opening[0].Content = recall.Statement(1, own)
	pl.Conversation.Followups = slices.Repeat([]string{recall.Request(1)}, 4)
	pl.Conversation.References, pl.Conversation.Asked = []recall.Code{own}, []int{1, 1, 1, 1}
	sink := &recorder{}
	p.Converse(t.Context(), pl, sink)
	var got []recall.Result
	for _, r := range sink.results {
		got = append(got, r.Recall.Result)
		if r.Recall.Result == recall.Foreign && (r.Recall != probe.Recall{Result: recall.Foreign}) {
			t.Errorf("a foreign turn has a place of its code: %+v", r.Recall)
		}
	}
	if want := []recall.Result{"", recall.Foreign, recall.Wrong, recall.Right, recall.Foreign}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRecallAfterForcedToolCalls: with tool_choice required, the text after the results of the tools is judged.
func TestRecallAfterForcedToolCalls(t *testing.T) {
	_, o := simulated(t, target.Chat, simulate.Options{})
	o.Workload.Tools = []workload.Tool{{Name: "get_time", Parameters: map[string]any{"type": "object", "properties": map[string]any{}}, Result: "12:00"}}
	o.Workload.ToolChoice = workload.ChoiceRequired
	results := recalling(t, o, 3, 1)
	calls := 0
	for _, r := range results {
		calls += len(r.ToolCalls)
	}
	if n := count(results); n[recall.Right] != 9 || calls < 9 {
		t.Errorf("%v with %d calls, want 9 right turns", n, calls)
	}
}

func reasoned(s string) string { return delta(`"reasoning":` + quoted(s)) }

// twinsOf runs a conversation with references, a share of whose turns gets a twin, and returns the events.
func twinsOf(t *testing.T, o probe.Options, share float64) ([]probe.Result, []probe.Twin, probe.Conversation) {
	t.Helper()
	sink := &recorder{}
	sum := converseWithTwins(t, o, probe.Plan{TwinShare: func() float64 { return share }}, sink)
	return sink.results, sink.twins, sum
}

func converseWithTwins(t *testing.T, o probe.Options, plan probe.Plan, sink probe.Sink) probe.Conversation {
	t.Helper()
	o.Workload.TurnsMin, o.Workload.TurnsMax, o.Workload.Recall, o.Workload.PromptTokens, o.Workload.FollowupTokens = 4, 4, 1, 500, 60
	source, err := workload.NewSource(o.Workload, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	plan.Conversation, plan.Scheduled, plan.Model = source.Next(), time.Now(), "m"
	return p.Converse(t.Context(), plan, sink)
}

// TestTwinsFollowTheLastTurn: so no turn of the conversation finds a cache that a twin has changed. No span of a twin is
// exported, and its header says so.
func TestTwinsFollowTheLastTurn(t *testing.T) {
	d, o := simulated(t, target.Chat, simulate.Options{})
	var mu sync.Mutex
	var order []string
	o.Traced = func() bool { return true }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		kind := "turn "
		if bytes.Contains(body, []byte(`"Log `)) {
			kind = "twin "
		}
		mu.Lock()
		order = append(order, kind+r.Header.Get("Traceparent")[53:])
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		d.ServeHTTP(w, r)
	}))
	o.Target.BaseURL = server.URL + target.Chat.DefaultPath()
	twinsOf(t, o, 1)
	server.Close() // waits for its handlers
	if want := []string{"turn 01", "turn 01", "turn 01", "turn 01", "twin 00", "twin 00", "twin 00"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// TestTwinsWithoutUsage: their prompts are estimated, also that of a twin which a stop cuts.
func TestTwinsWithoutUsage(t *testing.T) {
	_, o := simulated(t, target.Chat, simulate.Options{})
	backend := strings.TrimSuffix(o.Target.BaseURL, target.Chat.DefaultPath())
	o.Target.BaseURL = rewriting(t, backend, func(body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(`"include_usage":true`), []byte(`"include_usage":false`))
	}) + target.Chat.DefaultPath()
	_, twins, _ := twinsOf(t, o, 1)
	if len(twins) != 3 || twins[0].PromptTokens < 200 || twins[0].PromptTokens > 2000 || twins[2].PromptTokens <= twins[0].PromptTokens {
		t.Errorf("estimates without usage: %+v", twins)
	}
	stop, sink := make(chan struct{}), &recorder{}
	var once sync.Once
	o.Target.BaseURL = rewriting(t, backend, func(body []byte) []byte {
		if bytes.Contains(body, []byte(`"Log `)) {
			once.Do(func() { close(stop) })
			<-t.Context().Done()
		}
		return body
	}) + target.Chat.DefaultPath()
	converseWithTwins(t, o, probe.Plan{Stop: stop, TwinShare: func() float64 { return 1 }}, sink)
	if len(sink.twins) != 1 || sink.twins[0].PromptTokens < 200 || sink.twins[0].Cold != "" {
		t.Errorf("a cut twin: %+v", sink.twins)
	}
}

// TestTwinsInEveryAPI: a judged turn is followed by its twin, whose prompt no prefix cache serves. The twin is no turn,
// and the next turns have the history without it.
func TestTwinsInEveryAPI(t *testing.T) {
	for _, api := range target.APIs() {
		if single(api) {
			continue
		}
		d, o := simulated(t, api, simulate.Options{})
		sent := 0
		o.Sent = func(p probe.Purpose) {
			if p == probe.ForTwin {
				sent++
			}
		}
		results, twins, sum := twinsOf(t, o, 1)
		if len(results) != 4 || len(twins) != 3 || sent != 3 || sum.Turns != 4 || sum.Outcome != probe.Success {
			t.Errorf("%s: %d turns, %d twins, %d requests: %+v", api, len(results), len(twins), sent, sum)
			continue
		}
		prompts := 0
		for i, twin := range twins {
			turn := results[i+1]
			if twin.Cached != recall.Right || twin.Cold != recall.Right || twin.Turn != turn.Turn || twin.TraceID != turn.TraceID || twin.SpanID == turn.SpanID || !twin.Sent.Equal(turn.Sent) {
				t.Errorf("%s: %+v is the twin of %+v", api, twin, turn)
			}
			if turn.CachedTokens.OK && turn.Recall.CachedState() != "yes" {
				t.Errorf("%s: turn %d is not cached", api, turn.Turn)
			}
			prompts += twin.PromptTokens
		}
		for _, r := range results {
			prompts += r.PromptTokens.V
		}
		if s := d.Stats(); api != target.Triton && prompts != s.PromptTokens {
			t.Errorf("%s: turns and twins have %d prompt tokens, the server counted %d", api, prompts, s.PromptTokens)
		}
	}
}

// TestTwinsAreRare: the share decides.
func TestTwinsAreRare(t *testing.T) {
	_, o := simulated(t, target.Chat, simulate.Options{})
	if _, twins, _ := twinsOf(t, o, 0); len(twins) > 0 {
		t.Errorf("%d twins with a share of 0", len(twins))
	}
}

// TestFailedTwins: a twin that fails has no result, and neither fails a turn nor ends the conversation.
func TestFailedTwins(t *testing.T) {
	_, o := simulated(t, target.Chat, simulate.Options{})
	o.Target.BaseURL = rewriting(t, strings.TrimSuffix(o.Target.BaseURL, target.Chat.DefaultPath()), func(body []byte) []byte {
		if bytes.Contains(body, []byte(`"Log `)) {
			return []byte("{")
		}
		return body
	}) + target.Chat.DefaultPath()
	results, twins, sum := twinsOf(t, o, 1)
	if len(results) != 4 || sum.Outcome != probe.Success || len(twins) != 3 || twins[0].Cold != "" {
		t.Errorf("%d turns, %s, twins %+v", len(results), sum.Outcome, twins)
	}
}
