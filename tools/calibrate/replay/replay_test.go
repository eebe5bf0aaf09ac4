package replay

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

// planned returns the closed loop of a plan.
func planned(t testing.TB, seed uint64) chat {
	t.Helper()
	plan, err := config.LoadPlan("../../../plans/004-kv-vs-rr.yml", cluster.Presets())
	if err != nil {
		t.Fatal(err)
	}
	o, err := simulate.Preset("phase0")
	if err != nil {
		t.Fatal(err)
	}
	return newChat(plan, o, seed)
}

// newCluster returns the cluster of a preset.
func newCluster(t testing.TB, preset string, faults ...cluster.Fault) *cluster.Cluster {
	t.Helper()
	config, err := cluster.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	config.Seed, config.Faults = 1, faults
	c := cluster.New(config)
	return c
}

func TestChatKeepsItsConcurrency(t *testing.T) {
	turns, err := planned(t, 1).run(newCluster(t, "phase0"), 20, 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Duration]int{time.Second: 10, time.Minute: 20, 110 * time.Second: 20} {
		n := 0
		for i := range turns {
			if u := &turns[i]; u.Sent <= at && u.End > at {
				n++
			}
		}
		// A moment passes between the end of a conversation and the next start.
		if n > want+1 || n < want-2 {
			t.Errorf("%d turns in flight at %v, want about %d", n, at, want)
		}
	}
	for _, u := range turns {
		if u.Outcome != cluster.Done || u.Sent > 2*time.Minute {
			t.Errorf("turn %+v: every turn has to start within the level, and to end", u)
		}
	}
}

func TestConversationsGrow(t *testing.T) {
	turns, err := planned(t, 1).run(newCluster(t, "phase0"), 40, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	sum, n := map[int]float64{}, map[int]float64{}
	last := map[int]turn{}
	for _, u := range turns {
		sum[u.Index] += float64(u.Prompt)
		n[u.Index]++
		if before, ok := last[u.Conversation]; ok && u.Index > 0 {
			if u.Prompt != before.Prompt+before.Output+68 || u.Sent != before.End {
				t.Errorf("turn %+v does not follow %+v", u, before)
			}
		}
		last[u.Conversation] = u
	}
	for i, want := range []float64{3750, 4380, 5380, 6380, 7380} {
		if got := sum[i] / n[i]; math.Abs(got/want-1) > .02 {
			t.Errorf("turn %d: prompts of %.0f tokens, want about %.0f", i+1, got, want)
		}
	}
	if n[5] != 0 || n[2] < 1.5*n[4] {
		t.Errorf("turns by index: %v, want 3 to 5 per conversation", n)
	}
}

func TestFailedTurnEndsItsConversation(t *testing.T) {
	c := newCluster(t, "phase0", cluster.Fault{Kind: cluster.WorkerLoss, At: 5 * time.Second, For: time.Second})
	turns, err := planned(t, 1).run(c, 20, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	failed := map[int]bool{}
	for _, u := range turns {
		if failed[u.Conversation] {
			t.Errorf("turn %+v after a failed one", u)
		}
		failed[u.Conversation] = u.Outcome == cluster.Failed || u.Outcome == cluster.Unavailable
	}
	if f := window(turns, 0, time.Minute); !(f.Errors > .2) {
		t.Errorf("%v of the turns failed", f.Errors)
	}
}

func TestBench(t *testing.T) {
	o := bench{
		arrival: workload.Arrival{Process: workload.Poisson}, requests: 60, prime: 2,
		warmUp:  fleet.WarmUp{Conversations: 3, Rate: 1},
		prompts: []trace.Turn{{Prompt: 1000, Blocks: []uint64{1, 2}, BlockTokens: 512, Output: 1}, {Prompt: 1100, Blocks: []uint64{1, 3, 4}, BlockTokens: 512}},
		answer:  length{simulate.Length{Median: 100, Sigma: .1}, 200}, seed: 1,
	}
	f, err := o.run(newCluster(t, "bench-phase0"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if f.Errors != 0 || f.MaxConcurrent < 2 || f.MaxConcurrent > 40 || f.Hits < .9 {
		t.Errorf("%+v: after priming, nearly every prompt is cached", f)
	}
	if f.Gap.P50 <= 0 || f.Gap.P50 > f.TPOT.P50*1.01 {
		t.Errorf("median gap %v, median time per token %v: steps with prefill have to be longer", f.Gap.P50, f.TPOT.P50)
	}
}

func TestRecordedPromptsShareBlocks(t *testing.T) {
	a := recorded(trace.Turn{Prompt: 1000, Blocks: []uint64{1, 2}, BlockTokens: 512}, 1)
	b := recorded(trace.Turn{Prompt: 1100, Blocks: []uint64{1, 3, 4}, BlockTokens: 512}, 1)
	same := 0
	for same < len(a.Chain) && a.Chain[same] == b.Chain[same] {
		same++
	}
	if same != 512/blockTokens || a.Tokens != 1000 || b.Tokens != 1100 {
		t.Errorf("%d blocks shared, want %d; %d and %d tokens", same, 512/blockTokens, a.Tokens, b.Tokens)
	}
	if other := recorded(trace.Turn{Prompt: 1000, Blocks: []uint64{1, 2}, BlockTokens: 512}, 2); other.Chain[0] == a.Chain[0] {
		t.Error("two levels share their texts")
	}
}

func TestReplayRefuses(t *testing.T) {
	still, mute, empty := planned(t, 1), planned(t, 1), planned(t, 1)
	still.rate, mute.maxTurns, empty.starters = 0, 2, nil
	for want, o := range map[string]chat{"chat: rate is 0": still, "chat: 3 to 2 turns": mute, "chat: no starters": empty} {
		if _, err := o.run(newCluster(t, "phase0"), 1, time.Minute); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	if _, err := (bench{}).run(newCluster(t, "bench-phase0"), 1); err == nil || !strings.Contains(err.Error(), "0 prompts at rate 1") {
		t.Errorf("error %v of a benchmark without prompts", err)
	}
}

func TestReplayIsRepeatable(t *testing.T) {
	run := func(seed uint64) []turn {
		turns, err := planned(t, seed).run(newCluster(t, "trtllm-kv"), 60, 2*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return turns
	}
	if !reflect.DeepEqual(run(1), run(1)) {
		t.Error("two runs of one seed differ")
	}
	if reflect.DeepEqual(run(1), run(2)) {
		t.Error("two seeds give the same run")
	}
}
