package metrics

import (
	"math"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
)

const millisecond = time.Millisecond

// first and follow return the names of series of the job a/chat.
func first(name string, more ...string) string { return seriesOfTurn(name, "first", more) }

func seriesOfTurn(name, kind string, more []string) string {
	return name + "{" + strings.Join(append(more, "target=a", "turn="+kind, "workload=chat"), ",") + "}"
}

func ofJob(name string) string { return name + "{target=a,workload=chat}" }

// TestWhatEntersWhere ends a turn in each way and checks the sample counts.
func TestWhatEntersWhere(t *testing.T) {
	full := func(change func(*probe.Result)) probe.Result {
		r := turn("a", probe.First, start, 300*millisecond, 20*millisecond, 5)
		change(&r)
		return r
	}
	ended := first(Turns)
	tests := []struct {
		name   string
		result probe.Result
		want   map[string]float64
	}{
		{"success", full(func(*probe.Result) {}), map[string]float64{
			ended: 1, first(ttft): 1, first(tpot): 1,
			first(ttftWindow): 1, first(tpotWindow): 1, first(turnDurationWindow): 1,
			first(TurnsCanceled): 0, first("synthetic_token_events_total"): 6, first("synthetic_coalesced_events_total"): 0,
			first(PromptTokens): 4000, first(CachedPromptTokens): 3000, first(CacheKnownPrompt): 4000,
			first(OutputTokens): 6, first(UsageMissing, "reason=absent"): 0, first(UsageMissing, "reason=impossible"): 0,
			ofJob(ScheduleLag): 1,
			ofJob(LastTurn):    float64(start.UnixMicro()+200+400_000) / 1e6,
		}},
		{"truncated after tokens", full(func(r *probe.Result) { r.Outcome = probe.Truncated }), map[string]float64{
			ended: 1, first(ttft): 1, first(tpot): 1,
			first(turnDurationWindow):               0,
			first(TurnFailures, "reason=truncated"): 1, first(TurnFailures, "reason=stall"): 0,
		}},
		{"canceled", full(func(r *probe.Result) { r.Outcome = probe.Canceled }), map[string]float64{
			ended: 1, first(TurnsCanceled): 1, first(ttft): 0, first(tpot): 0,
			first(turnDurationWindow): 0, first(PromptTokens): 4000, ofJob(LastTurn): 0,
			first(SLOTurns, "slo=up"): 0,
		}},
		{"no connection", probe.Result{
			Target: "a", Workload: "chat", Kind: probe.First, Outcome: probe.ConnectError,
			Asked: probe.Asked{Scheduled: start}, Sent: start, End: start.Add(time.Second),
		}, map[string]float64{
			ended: 1, first(TurnFailures, "reason=connect_error"): 1, first(ttft): 0,
			first(UsageMissing, "reason=absent"): 0, ofJob(ScheduleLag): 1,
			first(SLOTurns, "slo=ttft"): 1, first(SLOViolations, "slo=ttft"): 1,
			first(SLOTurns, "slo=up"): 1, first(SLOViolations, "slo=up"): 1,
		}},
		{"no usage", full(func(r *probe.Result) {
			r.UsageMissing = true
			r.PromptTokens, r.CachedTokens = probe.Opt[int]{}, probe.Opt[int]{}
		}), map[string]float64{
			first(UsageMissing, "reason=absent"): 1, first(OutputTokens): 6, first(PromptTokens): 0, first(CacheKnownPrompt): 0,
		}},
		{"an impossible usage", full(func(r *probe.Result) { r.UsageMissing, r.UsageImpossible = true, "too many" }), map[string]float64{
			first(UsageMissing, "reason=absent"): 0, first(UsageMissing, "reason=impossible"): 1,
		}},
		{"usage without cached tokens", full(func(r *probe.Result) { r.CachedTokens = probe.Opt[int]{} }), map[string]float64{
			first(PromptTokens): 4000, first(CachedPromptTokens): 0, first(CacheKnownPrompt): 0,
		}},
		{"one token, timestamps of reads, two events in one read", full(func(r *probe.Result) {
			r.TPOT, r.Gaps, r.Kernel, r.Coalesced = probe.Opt[time.Duration]{}, nil, false, 2
		}), map[string]float64{
			first(tpot): 0, first("synthetic_coalesced_events_total"): 2,
		}},
		{"tokens of unknown number", full(func(r *probe.Result) {
			r.TPOT, r.TPOTUnknown = probe.Opt[time.Duration]{}, probe.HiddenReasoning
		}), map[string]float64{
			first(tpot): 0, first(tpotUnknown, "reason=hidden_reasoning"): 1, first(tpotUnknown, "reason=no_usage"): 0,
		}},
		{"slow but good", full(func(r *probe.Result) { r.TTFT = probe.Some(2 * time.Second) }), map[string]float64{
			first(SLOTurns, "slo=ttft"): 1, first(SLOViolations, "slo=ttft"): 1,
			first(SLOTurns, "slo=up"): 1, first(SLOViolations, "slo=up"): 0,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestRecorder(&clock{start}, "a")
			run(r, tt.result)
			g := gather(t, r)
			for series, want := range tt.want {
				if got := g.value(t, series); got != want {
					t.Errorf("%s = %v, want %v", series, got, want)
				}
			}
		})
	}
}

// TestEveryOutcomeIsCounted checks that turns are the sum of successes, failures, own faults
// and canceled turns.
func TestEveryOutcomeIsCounted(t *testing.T) {
	for _, o := range probe.Outcomes() {
		r := newTestRecorder(&clock{start}, "a")
		res := turn("a", probe.Followup, start, millisecond, millisecond, 1)
		res.Outcome = o
		run(r, res)
		g := gather(t, r)
		var failed float64
		for _, reason := range probe.Failures() {
			failed += g.value(t, seriesOfTurn(TurnFailures, "followup", []string{"reason=" + string(reason)}))
		}
		var own float64
		for _, reason := range probe.OwnFaults() {
			own += g.value(t, seriesOfTurn(TurnOwnFaults, "followup", []string{"reason=" + string(reason)}))
		}
		canceled := g.value(t, seriesOfTurn(TurnsCanceled, "followup", nil))
		if (failed == 1) != o.Failed() || (own == 1) != o.OwnFault() || (canceled == 1) != o.Canceled() {
			t.Errorf("%s: %v failures, %v own faults, %v canceled", o, failed, own, canceled)
		}
	}
}

func TestConversations(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	for _, o := range []probe.Outcome{probe.Success, probe.Stall, probe.Canceled, ""} {
		r.Observe(probe.ConversationStart{Target: "a", Workload: "chat"})
		if o != "" {
			r.Observe(probe.Conversation{Target: "a", Workload: "chat", Outcome: o, Scheduled: start, End: start.Add(20 * time.Second)})
		}
	}
	for _, reason := range append(probe.SkipReasons(), "unheard of") {
		r.Observe(probe.Skip{Target: "a", Workload: "chat", Reason: reason})
	}
	g := gather(t, r)
	for series, want := range map[string]float64{
		ofJob(ConversationsStarted): 4, ofJob("synthetic_conversations_total"): 3, ofJob("synthetic_conversations_in_flight"): 1,
		ofJob("synthetic_conversation_failures_total"): 1, ofJob("synthetic_conversations_canceled_total"): 1,
	} {
		if got := g.value(t, series); got != want {
			t.Errorf("%s = %v, want %v", series, got, want)
		}
	}
	for _, reason := range probe.SkipReasons() {
		if got := g.value(t, ConversationsSkipped+"{reason="+reason+",target=a,workload=chat}"); got != 1 {
			t.Errorf("skipped for %s: %v, want 1", reason, got)
		}
	}
}

func TestWindowQuantiles(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	for i := range 100 {
		run(r, turn("a", probe.First, start, time.Duration(i+1)*10*millisecond, millisecond, 1))
	}
	s := gather(t, r)[first(ttftWindow)].Summary
	for i, want := range []float64{0.5, 0.95, 0.99} {
		if q := s.Quantile[i]; q.GetQuantile() != want || math.Abs(q.GetValue()-want) > sketch.Error*want {
			t.Errorf("quantile %v = %v, want %v within %g %%", q.GetQuantile(), q.GetValue(), want, 100*sketch.Error)
		}
	}
	c.now = start.Add(time.Minute)
	s = gather(t, r)[first(ttftWindow)].Summary
	for _, q := range s.Quantile {
		if !math.IsNaN(q.GetValue()) {
			t.Errorf("quantile %v of an empty window = %v, want NaN", q.GetQuantile(), q.GetValue())
		}
	}
	if s.GetSampleCount() != 100 || math.Abs(s.GetSampleSum()-50.5) > 1e-9 {
		t.Errorf("count %d, sum %v; they must not fall: want 100 and 50.5", s.GetSampleCount(), s.GetSampleSum())
	}
}

// TestBursts checks the rate during and after a burst, also over a reload. Objectives do not
// judge turns of a burst; everything else counts them.
func TestBursts(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "a")
	key := probe.Key{Target: "a", Workload: "chat"}
	rate := func(want, started float64) {
		t.Helper()
		g := gather(t, r)
		if got := g.value(t, probeRate+"{target=a,workload=chat}"); got != want {
			t.Errorf("rate %v, want %v", got, want)
		}
		if got := g.value(t, bursts+"{reason=failed,target=a,workload=chat}"); got != started {
			t.Errorf("%v bursts, want %v", got, started)
		}
	}
	rate(0.25, 0)
	r.Observe(probe.Paced{Target: "a", Workload: "chat", Rate: 2, Why: "failed"})
	apply(r, jobs("a"))
	rate(2, 1)
	for _, extra := range []bool{false, true} {
		r.Observe(probe.Start{Target: "a", Workload: "chat", Kind: probe.First})
		r.Observe(probe.Result{
			Target: "a", Workload: "chat", Kind: probe.First, Outcome: probe.HTTP5xx, End: c.now,
			Asked: probe.Asked{Burst: extra},
		})
	}
	if got := r.baselines.Sign(key); got.Failed != 2 {
		t.Errorf("the sign is %+v, want two failures", got)
	}
	g := gather(t, r)
	if all, judged := g.value(t, first(Turns)), g.value(t, first(SLOTurns, "slo=up")); all != 2 || judged != 1 {
		t.Errorf("%v turns, %v of them judged; want 2 and 1", all, judged)
	}
	r.Observe(probe.Paced{Target: "a", Workload: "chat", Rate: 0.25})
	rate(0.25, 1)
	for _, next := range []struct {
		outcome probe.Outcome
		want    int
	}{{probe.Canceled, 2}, {probe.HTTP429, 0}, {probe.Canceled, 0}, {probe.HTTP5xx, 3}, {probe.Success, 0}} {
		r.Observe(probe.Start{Target: "a", Workload: "chat", Kind: probe.First})
		r.Observe(probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: next.outcome, End: c.now})
		if got := r.baselines.Sign(key).Failed; got != next.want {
			t.Errorf("after %s the sign is %d failures, want %d", next.outcome, got, next.want)
		}
	}
}

// TestITLObjective checks that each gap is judged.
func TestITLObjective(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	s := jobs("a")
	s[0].Objectives = []slo.Objective{{Name: "itl", SLI: slo.ITL, Threshold: 50 * millisecond, Objective: 0.9, Window: time.Hour}}
	apply(r, s)
	res := turn("a", probe.First, start, millisecond, 20*millisecond, 5)
	res.Gaps[3] = 51 * millisecond
	run(r, res)
	if got := gather(t, r).value(t, first(SLOViolations, "slo=itl")); got != 1 {
		t.Errorf("%v violations, want 1", got)
	}
}
