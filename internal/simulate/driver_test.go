package simulate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate/cluster"
)

// preset returns the cluster of a measured deployment, with changes.
func preset(t *testing.T, name string, change ...func(*cluster.Config)) *cluster.Config {
	t.Helper()
	c, err := cluster.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(&c)
	}
	return &c
}

// bench runs a test against a deployment in virtual time.
func bench(t *testing.T, o Options, test func(t *testing.T, d *Deployment, c client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d, c, stop := serveInMemory(o)
		defer stop()
		test(t, d, c)
	})
}

// long returns a message of a number of tokens, after a name.
func long(name string, tokens int) message {
	return user(name + strings.Repeat("word", tokens))
}

func TestClusterAnswersATurn(t *testing.T) {
	bench(t, Options{Cluster: preset(t, "phase0"), Answer: Length{Median: 50}}, func(t *testing.T, d *Deployment, c client) {
		history := []message{long("a", 2000)}
		first := c.say(t, history, "")
		if first.err != nil || first.finish != "stop" || first.usage.Completion != 50 || len(first.content) != 200 {
			t.Fatalf("got %+v", first)
		}
		if first.usage.Details.Cached != 0 {
			t.Errorf("%d tokens of the first request cached", first.usage.Details.Cached)
		}
		again := c.say(t, append(history, assistant(first.content), user("and then?")), "")
		// The first turn is cached, prompt and answer, in full blocks, except for its last token,
		// which was never computed as an input.
		if want := (first.usage.Total - 1) / 16 * 16; again.usage.Details.Cached != want {
			t.Errorf("%d tokens cached, want %d", again.usage.Details.Cached, want)
		}
		// The times of a reply start with its headers, which come with the first token. The request
		// runs alone, so each later token takes one step.
		if tpot := again.at[len(again.at)-1] / 49; tpot < 20*time.Millisecond || tpot > 25*time.Millisecond {
			t.Errorf("%v per token of a request that runs alone", tpot)
		}
		s := d.Stats()
		if s.Requests != 2 || s.Running != 0 || s.OutputTokens != 100 || s.CachedTokens != again.usage.Details.Cached {
			t.Errorf("stats %+v", s)
		}
	})
}

// sendAtOnce sends n requests at once and returns the duration of each.
func sendAtOnce(t *testing.T, c client, n int) []time.Duration {
	var wg sync.WaitGroup
	durations := make([]time.Duration, n)
	for i := range n {
		wg.Go(func() {
			began := time.Now()
			if got := c.say(t, []message{long(fmt.Sprintf("%04d", i), 200)}, ""); got.err != nil || got.finish != "stop" {
				t.Errorf("request %d: %+v", i, got)
			}
			durations[i] = time.Since(began)
		})
	}
	wg.Wait()
	return durations
}

func TestRequestsShareTheCluster(t *testing.T) {
	small := preset(t, "phase0", func(c *cluster.Config) { c.Engine.MaxSeqs = 8 })
	bench(t, Options{Cluster: small, Answer: Length{Median: 20}}, func(t *testing.T, _ *Deployment, c client) {
		alone := sendAtOnce(t, c, 1)[0]
		durations := sendAtOnce(t, c, 16)
		slices.Sort(durations)
		if durations[0] <= alone {
			t.Errorf("the first of 16 requests took %v, a request that runs alone %v", durations[0], alone)
		}
		if durations[15] < durations[0]*3/2 {
			t.Errorf("16 requests for 8 places: the last took %v, the first %v", durations[15], durations[0])
		}
	})
}

func TestSameSeedSameBytesAndTimes(t *testing.T) {
	play := func() (out []reply) {
		o := Options{
			Seed: 3, Cluster: preset(t, "eagle3", func(c *cluster.Config) { c.Engine.Speculation.Acceptance = .6 }),
			Load: Load{Concurrency: 20}, Answer: Length{Median: 60, Sigma: .3},
		}
		bench(t, o, func(t *testing.T, _ *Deployment, c client) {
			for i := range 4 {
				out = append(out, c.say(t, []message{long(fmt.Sprint(i), 100*i)}, ""))
			}
		})
		return out
	}
	a, b := play(), play()
	for i := range a {
		if !slices.Equal(a[i].raw, b[i].raw) || !slices.Equal(a[i].at, b[i].at) {
			t.Errorf("turn %d differs:\n%v\n%v", i, a[i], b[i])
		}
	}
}

// TestSimultaneousRequestsHaveAnOrder sends requests at the same time from goroutines that run in any
// order. Only a few are served at once, and each must take the same time in every run.
func TestSimultaneousRequestsHaveAnOrder(t *testing.T) {
	play := func() (durations []time.Duration) {
		few := preset(t, "trtllm-kv", func(c *cluster.Config) { c.Engine.MaxSeqs = 4 })
		bench(t, Options{Cluster: few, Answer: Length{Median: 20, Sigma: .5}}, func(t *testing.T, _ *Deployment, c client) {
			durations = append(sendAtOnce(t, c, 40), sendAtOnce(t, c, 40)...)
		})
		return durations
	}
	first := play()
	for range 3 {
		if again := play(); !slices.Equal(first, again) {
			t.Fatalf("the requests took\n%v, and in another run\n%v", first, again)
		}
	}
}

func TestSpeculationPutsSeveralTokensIntoAnEvent(t *testing.T) {
	o := Options{Cluster: preset(t, "eagle3", func(c *cluster.Config) { c.Engine.Speculation.Acceptance = 1 }), Answer: Length{Median: 81}}
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		got := c.say(t, []message{user("hi")}, "")
		// Prefill gives 1 token, each step 1 + 3. Role, finish, usage and [DONE] are events without tokens.
		if events := len(got.raw) - 4; events != 21 || got.usage.Completion != 81 {
			t.Errorf("%d events for %d tokens, want 21 for 81", events, got.usage.Completion)
		}
	})
}

func TestClientLeaves(t *testing.T) {
	bench(t, Options{Cluster: preset(t, "phase0"), Answer: Length{Median: 500}}, func(t *testing.T, d *Deployment, c client) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var other reply
		var wg sync.WaitGroup
		wg.Go(func() { other = c.say(t, []message{user("stay")}, "") })
		if err := c.drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request ended with %v", err)
		}
		wg.Wait() // the request that left may have been the leader
		if other.finish != "stop" || other.usage.Completion != 500 {
			t.Errorf("the other request got %+v", other)
		}
		driver := d.driver
		if n := driver.cluster.InFlight(); n != 0 || len(driver.calls) != 0 {
			t.Errorf("%d requests in flight, %d calls left", n, len(driver.calls))
		}
		if s := d.Stats(); s.Finished["abort"] != 1 || s.Finished["stop"] != 1 {
			t.Errorf("stats %+v", s)
		}
	})
}

// status sends a question and returns the status and the answer.
func (c client) status(t *testing.T) (int, reply) {
	t.Helper()
	resp := c.post(t, t.Context(), question+`}`)
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode, reply{}
	}
	return resp.StatusCode, parse(t, resp.Body)
}

func TestDeadline(t *testing.T) {
	hung := []Incident{{Kind: cluster.Hang}}
	o := Options{Cluster: preset(t, "phase0"), Answer: Length{Median: 6000}, Incidents: hung}
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		began := time.Now()
		if got, _ := c.status(t); got != http.StatusGatewayTimeout || time.Since(began) != 120*time.Second+instant {
			t.Errorf("status %d after %v, want 504 after the deadline of 120s", got, time.Since(began))
		}
	})
	o.Incidents = nil
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		if _, got := c.status(t); got.failure == "" || got.finish != "" || got.content == "" {
			t.Errorf("deadline in mid-stream: finish %q, error %q, %d characters", got.finish, got.failure, len(got.content))
		}
	})
}

func TestLostWorker(t *testing.T) {
	o := Options{Cluster: preset(t, "phase0"), Answer: Length{Median: 500}}
	o.Incidents = []Incident{{Kind: cluster.WorkerLoss, At: 5 * time.Second, For: 10 * time.Second}}
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		if _, got := c.status(t); got.err == nil || got.content == "" || got.finish != "" {
			t.Errorf("the answer of a lost worker ended with %v, finish %q", got.err, got.finish)
		}
		if got, _ := c.status(t); got != http.StatusServiceUnavailable {
			t.Errorf("status %d without a worker, want 503", got)
		}
		time.Sleep(10 * time.Second)
		if got, answer := c.status(t); got != 200 || answer.finish != "stop" {
			t.Errorf("status %d, finish %q after the end of the loss", got, answer.finish)
		}
	})
}

func TestSpeed(t *testing.T) {
	o := Options{Cluster: preset(t, "phase0"), Answer: Length{Median: 100}}
	duration := func(speed float64) (d time.Duration) {
		o.Speed = speed
		bench(t, o, func(t *testing.T, _ *Deployment, c client) { d = sendAtOnce(t, c, 1)[0] })
		return d
	}
	if normal, fast := duration(1), duration(10); (normal - 10*fast).Abs() > time.Microsecond {
		t.Errorf("an answer took %v, and %v at ten times the speed", normal, fast)
	}
}

func TestOverlongPromptIsRefused(t *testing.T) {
	tiny := preset(t, "phase0", func(c *cluster.Config) { c.Engine.KVTokens = 1600 })
	bench(t, Options{Cluster: tiny}, func(t *testing.T, _ *Deployment, c client) {
		if _, page := c.get(t, "/v1/models"); !strings.Contains(page, `"max_model_len":1600`) {
			t.Errorf("max_model_len is not the size of the KV memory: %s", page)
		}
		b := strings.Repeat("word", 1700)
		resp := c.post(t, t.Context(), `{"model":"simulated-chat","stream":true,"messages":[{"role":"user","content":"`+b+`"}]}`)
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("status %s, want 400", resp.Status)
		}
	})
}

// TestManyClientsLeave lets some clients over TCP leave early and checks that no request of theirs
// is left. It also serves the race detector.
func TestManyClientsLeave(t *testing.T) {
	d, c := serve(t, Options{
		Cluster: preset(t, "trtllm-kv"), Speed: 20, Load: Load{Concurrency: 10}, Answer: Length{Median: 20, Sigma: .5},
	})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 10 {
				ctx, cancel := context.WithCancel(t.Context())
				if (i+n)%3 == 0 {
					cancel = stopAfter(cancel, time.Duration(n)*2*time.Millisecond)
				}
				_ = c.drain(ctx) // some were cancelled
				cancel()
			}
		})
	}
	for range 20 {
		c.scrape(t)
	}
	wg.Wait()
	c.CloseIdleConnections()
	for deadline := time.Now().Add(10 * time.Second); d.Stats().Running > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	s := d.Stats()
	ended := 0
	for _, n := range s.Finished {
		ended += n
	}
	// A request may be cancelled before it reaches the server.
	if s.Running != 0 || ended != s.Requests || ended > 160 || s.Finished["stop"] < 80 {
		t.Errorf("%d requests: %+v", s.Requests, s)
	}
	driver := d.driver
	driver.mu.Lock()
	defer driver.mu.Unlock()
	driver.catchUp()
	if n := len(driver.calls); n != 10 {
		t.Errorf("%d calls in addition to a load of 10", n-10)
	}
}

// stopAfter calls stop after a time. The function that it returns calls stop at once.
func stopAfter(stop func(), after time.Duration) func() {
	timer := time.AfterFunc(after, stop)
	return func() {
		timer.Stop()
		stop()
	}
}
