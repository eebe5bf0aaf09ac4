package probe_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/dialect"
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
	for _, api := range dialect.Names() {
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

// TestRecallFindsAnswersOfOthers: answers of other conversations are foreign.
func TestRecallFindsAnswersOfOthers(t *testing.T) {
	_, o := simulated(t, "chat", simulate.Options{Incidents: []simulate.Incident{{Kind: simulate.Foreign, Share: 0.3}}})
	if n := count(recalling(t, o, 24, 4)); n[recall.Foreign] < 5 || n[recall.Right] <= 20 {
		t.Errorf("with answers of others: %v", n)
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
			pl := plan(2)
			pl.Conversation.Opening[0].Content = recall.Statement(1, own)
			pl.Conversation.Followups = []string{recall.Request(1)}
			pl.Conversation.References, pl.Conversation.Asked = []recall.Code{own}, []int{1}
			results, _ := follow(t.Context(), t, options(s.addr), pl)
			if len(results) != 2 || results[1].Outcome != probe.Success || results[0].Recall.Result != "" {
				t.Fatalf("%+v", results)
			}
			if got := results[1].Recall; got.Result != tt.want {
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
	pl := plan(5)
	pl.Conversation.Opening[0].Content = recall.Statement(1, own)
	pl.Conversation.Followups = slices.Repeat([]string{recall.Request(1)}, 4)
	pl.Conversation.References, pl.Conversation.Asked = []recall.Code{own}, []int{1, 1, 1, 1}
	results, _ := follow(t.Context(), t, options(s.addr), pl)
	var got []recall.Result
	for _, r := range results {
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
	_, o := simulated(t, "chat", simulate.Options{})
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
