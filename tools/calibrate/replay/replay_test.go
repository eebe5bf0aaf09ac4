package replay

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"synthetic/internal/simulate/cluster"
)

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
	turns, err := MultiTurn(1).Run(newCluster(t, "phase0"), []Level{{20, 2 * time.Minute}, {30, 2 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Duration]int{time.Second: 10, time.Minute: 20, 3 * time.Minute: 30} {
		n := 0
		for i := range turns {
			if u := &turns[i]; u.Sent <= at && (u.Outcome == cluster.Tokens || u.End > at) {
				n++
			}
		}
		// A moment passes between the end of a conversation and the next start.
		if n > want+1 || n < want-2 {
			t.Errorf("%d turns in flight at %v, want about %d", n, at, want)
		}
	}
}

func TestConversationsGrow(t *testing.T) {
	turns, err := MultiTurn(1).Run(newCluster(t, "phase0"), []Level{{40, 10 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	sum, n := map[int]float64{}, map[int]float64{}
	last := map[int]Turn{}
	for _, u := range turns {
		sum[u.Index] += float64(u.Prompt)
		n[u.Index]++
		if before, ok := last[u.Conversation]; ok && u.Index > 0 {
			if u.Prompt <= before.Prompt+before.Output || u.Sent != before.End {
				t.Errorf("turn %+v does not follow %+v", u, before)
			}
		}
		last[u.Conversation] = u
	}
	for i, want := range []float64{3590, 4210, 5200, 6190, 7180} {
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
	turns, err := MultiTurn(1).Run(c, []Level{{20, time.Minute}})
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
	if f := Window(turns, 0, time.Minute); !(f.Errors > .2) {
		t.Errorf("%v of the turns failed", f.Errors)
	}
}

func TestBench(t *testing.T) {
	o := FixedPrompts(Length{Mean: 100, Spread: 10, Max: 200}, 1)
	o.Prompts = 60
	got, err := o.Run(newCluster(t, "bench-phase0"), []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range got {
		if f.Errors != 0 || f.MaxConcurrent < 3 || f.MaxConcurrent > 40 {
			t.Errorf("rate %d: %+v", i+1, f)
		}
		// 100 tokens per request, including the end of the last answer.
		if want := 100 * float64(i+1); f.Tokens > 1.02*want || f.Tokens < .85*want {
			t.Errorf("rate %d: %.0f tokens/s, want a little less than %.0f", i+1, f.Tokens, want)
		}
		if f.Gap.P50 <= 0 || f.Gap.P50 > f.TPOT.P50*1.01 {
			t.Errorf("rate %d: median gap %v, median time per token %v: steps with prefill have to be longer", i+1, f.Gap.P50, f.TPOT.P50)
		}
	}
}

func TestReplayRefuses(t *testing.T) {
	chat, bench := MultiTurn(1), FixedPrompts(Length{Mean: 1, Max: 1}, 1)
	still, mute, blank := chat, chat, bench
	still.Rate, mute.MaxTurns, blank.Starters = 0, 2, nil
	for want, run := range map[string]func(*cluster.Cluster) error{
		"chat: rate is 0":                      func(c *cluster.Cluster) error { _, err := still.Run(c, nil); return err },
		"chat: 3 to 2 turns":                   func(c *cluster.Cluster) error { _, err := mute.Run(c, nil); return err },
		"bench: 120 conversations from 0 star": func(c *cluster.Cluster) error { _, err := blank.Run(c, nil); return err },
		"bench: rate is -1":                    func(c *cluster.Cluster) error { _, err := bench.Run(c, []float64{-1}); return err },
	} {
		if err := run(newCluster(t, "phase0")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func TestReplayIsRepeatable(t *testing.T) {
	run := func(seed uint64) []Turn {
		turns, err := MultiTurn(seed).Run(newCluster(t, "trtllm-kv"), []Level{{60, 2 * time.Minute}})
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

// BenchmarkRealTime measures how much faster than real time one core simulates three
// workers at concurrency 160.
func BenchmarkRealTime(b *testing.B) {
	for _, preset := range []string{"trtllm-rr", "trtllm-kv"} {
		b.Run(preset, func(b *testing.B) {
			const simulated = 5 * time.Minute
			b.ReportAllocs()
			for b.Loop() {
				if _, err := MultiTurn(1).Run(newCluster(b, preset), []Level{{160, simulated}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(simulated.Seconds()*float64(b.N)/b.Elapsed().Seconds(), "×real-time")
		})
	}
}
