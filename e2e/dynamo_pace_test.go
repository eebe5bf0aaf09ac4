//go:build e2e

package e2e

import "testing"

// TestDynamoPace compares the client's measurements with the configured speed of the
// workers and with the frontend's own histograms of the same turns.
func TestDynamoPace(t *testing.T) {
	for _, router := range []string{"round-robin", "kv"} {
		t.Run(router, func(t *testing.T) {
			d := startDynamo(t, router)
			before := scrape(t, d.root+"/metrics")
			reports := probeAll(t, 6, d.api(), 4, "--prompt-tokens=400", "--max-output-tokens=24")
			after := scrape(t, d.root+"/metrics")

			checkReuse(t, reports)
			checkConfiguredPace(t, turns(reports))
			checkReportedPace(t, turns(reports), before, after)
			checkTokens(t, turns(reports), before, after)
			if router == "kv" {
				checkStickyCache(t, reports)
			} else {
				checkAlternatingCache(t, reports)
			}
		})
	}
}

// checkConfiguredPace permits the delays of a busy machine with two cores. Nothing may be
// earlier than configured, except for the precision of the simulation's timer.
func checkConfiguredPace(t *testing.T, all []turn) {
	t.Helper()
	p, d := prefill.Seconds(), decode.Seconds()
	within(t, "median TTFT against the configured prefill", median(each(all, ttft)), p-0.002, p+0.100)
	within(t, "median of the median ITL against the configured decode step", median(each(all, itl)), d-0.002, d+0.010)
	within(t, "median TPOT against the configured decode step", median(each(all, tpot)), d-0.002, d+0.020)
}

// checkReportedPace compares means over the same turns, on which the machine has the same
// effect: the client's TTFT also contains the way to the frontend and back; its gaps
// contain nothing more.
func checkReportedPace(t *testing.T, all []turn, before, after families) {
	t.Helper()
	server := meanBetween(before, after, "dynamo_frontend_time_to_first_token_seconds")
	within(t, "mean TTFT beyond the frontend's", mean(each(all, ttft))-server, -0.0005, 0.030)
	server = meanBetween(before, after, "dynamo_frontend_inter_token_latency_seconds")
	within(t, "mean gap beyond the frontend's", meanGap(all)-server, -0.0015, 0.0015)
}

// checkTokens compares the sums of tokens, which must be equal.
func checkTokens(t *testing.T, all []turn, before, after families) {
	t.Helper()
	var prompt, cached, output float64
	for _, turn := range all {
		if turn.PromptTokens == nil || turn.CachedTokens == nil || turn.OutputTokens == nil {
			t.Fatalf("a turn lacks tokens that the server reports: %+v", turn)
		}
		prompt += float64(*turn.PromptTokens)
		cached += float64(*turn.CachedTokens)
		output += float64(*turn.OutputTokens)
	}
	for _, c := range []struct {
		family string
		client float64
	}{
		{"dynamo_frontend_input_sequence_tokens", prompt},
		{"dynamo_frontend_cached_tokens", cached},
		{"dynamo_frontend_output_sequence_tokens", output},
	} {
		if server := after.sum(c.family, nil) - before.sum(c.family, nil); server != c.client {
			t.Errorf("%s grew by %v, the client counted %v", c.family, server, c.client)
		}
	}
}

// checkStickyCache: the KV router sends a conversation to the worker with its history, so
// every turn finds at least the whole prompt of the previous turn.
func checkStickyCache(t *testing.T, reports []answer) {
	t.Helper()
	for i, r := range reports {
		for j := 1; j < len(r.Turns); j++ {
			previous, got := *r.Turns[j-1].PromptTokens, *r.Turns[j].CachedTokens
			if want := previous/block*block - block; got < want {
				t.Errorf("conversation %d, turn %d: %d cached tokens after a prompt of %d, want at least %d", i, j+1, got, previous, want)
			}
		}
	}
	logCache(t, reports)
}

// checkAlternatingCache: round robin over two workers sends the second turn to a worker
// without the history and the third turn to that of the first.
func checkAlternatingCache(t *testing.T, reports []answer) {
	t.Helper()
	for i, r := range reports {
		first := *r.Turns[0].PromptTokens
		if second := *r.Turns[1].CachedTokens; second > first/2 {
			t.Errorf("conversation %d: turn 2 found %d of %d tokens on the other worker", i, second, first)
		}
		if third := *r.Turns[2].CachedTokens; third < first/block*block-block {
			t.Errorf("conversation %d: turn 3 found %d cached tokens, want about the %d of turn 1", i, third, first)
		}
	}
	logCache(t, reports)
}

func logCache(t *testing.T, reports []answer) {
	t.Helper()
	for _, turn := range reports[0].Turns {
		t.Logf("first conversation: prompt of %d tokens, %d cached", *turn.PromptTokens, *turn.CachedTokens)
	}
}
