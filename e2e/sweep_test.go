//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runs"
)

// TestSweep compares each level of a sweep of two deployments with the counts of their
// frontends over the same windows.
func TestSweep(t *testing.T) {
	t.Parallel()
	deployments := map[string]*dynamo{
		"round_robin": startDynamo(t, "round-robin"),
		"kv_aware":    startDynamo(t, "kv"),
	}
	recorders := map[string]*recorder{}
	for name, d := range deployments {
		recorders[name] = record(t, d.root+"/metrics")
	}
	run := runSweep(t, "sweep-dynamo.yml", map[string]string{
		"ROUND_ROBIN": deployments["round_robin"].api(), "KV_AWARE": deployments["kv_aware"].api(),
	})
	for _, r := range recorders {
		r.finish(t)
	}
	if len(run.Results) != 8 {
		t.Fatalf("%d levels were measured, want 4 of each variant", len(run.Results))
	}
	clients, servers := map[string]side{}, map[string]side{}
	for i, r := range run.Results {
		before, after := windowOf(t, recorders[r.Variant], run.Results[i:])
		client, server := clientSide(t, r), serverSide(before, after)
		logLevel(t, r, client, server)
		checkCounts(t, r, client, server)
		checkMeans(t, r, client, server)
		checkRunsOwn(t, r, client)
		clients[r.Variant], servers[r.Variant] = clients[r.Variant].plus(client), servers[r.Variant].plus(server)
	}
	client := clients["kv_aware"].plus(clients["round_robin"])
	server := servers["kv_aware"].plus(servers["round_robin"])
	agree(t, "mean TTFT of all levels", client.meanTTFT(), server.meanTTFT())
	t.Logf("mean TTFT of all levels: %.1f ms, the frontends' %.1f ms", client.meanTTFT()*1e3, server.meanTTFT()*1e3)
	kv, robin := clients["kv_aware"].cachedShare(), clients["round_robin"].cachedShare()
	t.Logf("cached share of prompt tokens: %.3f round-robin, %.3f KV-aware", robin, kv)
	if kv < robin {
		t.Errorf("KV-aware routing found %.3f of the prompts cached, less than round-robin's %.3f", kv, robin)
	}
}

// runSweep runs the binary with a plan of testdata whose ${NAME}s are replaced by values.
func runSweep(t *testing.T, plan string, values map[string]string) *runs.Run {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", plan))
	if err != nil {
		t.Fatal(err)
	}
	path, dir := filepath.Join(t.TempDir(), plan), filepath.Join(t.TempDir(), "out")
	filled := os.Expand(string(text), func(name string) string { return values[name] })
	if err := os.WriteFile(path, []byte(filled), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, binary(t), "sweep", "--plan.file="+path, "--output.dir="+dir)
	if err != nil {
		t.Fatalf("synthetic sweep: %v\n%s", err, out)
	}
	study, err := report.Read(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := study.Run
	return run
}

// windowOf returns the server's counters before and after the measurement of the first
// result. The variant receives nothing else between the end of the warm-up and its next
// level.
func windowOf(t *testing.T, r *recorder, results []runs.Result) (before, after families) {
	t.Helper()
	level, next := results[0], time.Now()
	for _, later := range results[1:] {
		if later.Variant == level.Variant {
			next = later.Started
			break
		}
	}
	return r.around(t, level.Snapshots[0].Started, level.Ended, next)
}

// clientSide adds up the measurements of the sweep. Every turn has to succeed.
func clientSide(t *testing.T, r runs.Result) side {
	t.Helper()
	if len(r.Snapshots) != 1 || len(r.Snapshots[0].Server) != 1 {
		t.Fatalf("%s %g: %d snapshots, want one, with one server's metrics", r.Variant, r.Level, len(r.Snapshots))
	}
	var s side
	var ttft, itl runs.Distribution
	if r.State != runs.Complete || r.Tail != nil {
		t.Fatalf("%s %g ended as %s (%s) with the tail %v, want complete and without one", r.Variant, r.Level, r.State, r.Why, r.Tail)
	}
	for _, b := range r.Snapshots[0].Blocks {
		for outcome, n := range b.Outcomes {
			if outcome != probe.Success {
				t.Fatalf("%s %g: %d turns ended as %s", r.Variant, r.Level, n, outcome)
			}
		}
		for _, d := range []runs.Distributions{b.First, b.Followup} {
			ttft.Merge(d.TTFT)
			itl.Merge(d.ITL)
		}
		s.prompt += float64(b.Tokens.Prompt)
		s.output += float64(b.Tokens.Output)
		if b.Tokens.Cached != nil {
			s.cached += float64(*b.Tokens.Cached)
		}
	}
	s.turns, s.gaps = float64(ttft.Values.Count()), float64(itl.Values.Count())
	s.ttft, s.itl = ttft.Values.Sum(), itl.Values.Sum()
	return s
}

// serverSide returns what the frontend counted between two scrapes.
func serverSide(before, after families) side {
	grown := func(name string) float64 {
		return after.sum("dynamo_frontend_"+name, nil) - before.sum("dynamo_frontend_"+name, nil)
	}
	observed := func(name string) float64 {
		return after.count("dynamo_frontend_"+name, nil) - before.count("dynamo_frontend_"+name, nil)
	}
	return side{
		turns: observed("time_to_first_token_seconds"), gaps: observed("inter_token_latency_seconds"),
		ttft: grown("time_to_first_token_seconds"), itl: grown("inter_token_latency_seconds"),
		prompt: grown("input_sequence_tokens"), cached: grown("cached_tokens"), output: grown("output_sequence_tokens"),
	}
}

// logLevel logs a row of the table in docs/background/e2e.md. Times are in milliseconds.
func logLevel(t *testing.T, r runs.Result, client, server side) {
	t.Helper()
	snapshot := r.Snapshots[0]
	t.Logf("| %s | %g | %.1f | %.1f | %+.1f | %.2f | %.2f | %+.2f %% | %.1f | %.1f | %.3f |", r.Variant, r.Level,
		client.meanTTFT()*1e3, server.meanTTFT()*1e3, (client.meanTTFT()-server.meanTTFT())*1e3,
		client.meanITL()*1e3, server.meanITL()*1e3, 100*(client.meanITL()/server.meanITL()-1),
		client.output/snapshot.Seconds, snapshot.Server[0].Figures[serverside.OutputPerSecond], client.cachedShare())
}

// checkCounts compares counts that must be equal. They would differ for different windows.
func checkCounts(t *testing.T, r runs.Result, client, server side) {
	t.Helper()
	for _, c := range []struct {
		what           string
		client, server float64
	}{
		{"turns", client.turns, server.turns},
		{"gaps between tokens", client.gaps, server.gaps},
		{"prompt tokens", client.prompt, server.prompt},
		{"cached tokens", client.cached, server.cached},
		{"output tokens", client.output, server.output},
	} {
		if c.client != c.server {
			t.Errorf("%s %g: the client counted %v %s, the frontend %v", r.Variant, r.Level, c.client, c.what, c.server)
		}
	}
}

// checkMeans: the client's gaps equal those of the frontend. A TTFT also contains the
// connection (of first turns) and the way there and back: a few milliseconds that depend on
// the machine and not on the level, and are never negative. In a level of 24 turns on a
// busy machine they can exceed 5 % of such a short TTFT; TestSweep checks the 5 % over all
// levels.
func checkMeans(t *testing.T, r runs.Result, client, server side) {
	t.Helper()
	where := fmt.Sprintf("%s %g: ", r.Variant, r.Level)
	agree(t, where+"mean ITL", client.meanITL(), server.meanITL())
	within(t, where+"mean TTFT beyond the frontend's", client.meanTTFT()-server.meanTTFT(), -0.0005, 0.030)
}

// checkRunsOwn compares the server metrics that the sweep scraped at the ends of the
// snapshot with the figures of its turns.
func checkRunsOwn(t *testing.T, r runs.Result, client side) {
	t.Helper()
	snapshot := r.Snapshots[0]
	for figure, value := range map[string]float64{
		serverside.OutputPerSecond: client.output / snapshot.Seconds,
		serverside.PromptPerSecond: client.prompt / snapshot.Seconds,
		serverside.KVHitRatio:      client.cachedShare(),
	} {
		agree(t, fmt.Sprintf("%s %g: %s", r.Variant, r.Level, figure), value, snapshot.Server[0].Figures[figure])
	}
}

// agree fails the test unless both values differ by at most 5 % of the server's.
func agree(t *testing.T, figure string, client, server float64) {
	t.Helper()
	if off := client/server - 1; !(off >= -0.05 && off <= 0.05) {
		t.Errorf("%s: the client's %g is %+.1f %% off the server's %g, want 5 %% at most", figure, client, 100*off, server)
	}
}
