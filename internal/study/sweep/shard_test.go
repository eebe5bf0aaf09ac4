package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/study/runfile"
)

// wire passes requests to a handler with a delay each way, so that tests run in virtual time.
// While cut, requests fail.
type wire struct {
	to          atomic.Pointer[http.Handler]
	cut         atomic.Bool
	there, back time.Duration
}

func wired(h http.Handler) *wire {
	w := &wire{}
	w.to.Store(&h)
	return w
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.cut.Load() {
		return nil, errors.New("connection refused")
	}
	time.Sleep(w.there)
	answer := httptest.NewRecorder()
	(*w.to.Load()).ServeHTTP(answer, r)
	time.Sleep(w.back)
	return answer.Result(), nil
}

func hello(index, count int) Hello {
	return Hello{Protocol: ProtocolVersion, Index: index, Count: count, Plan: "aa", Seed: 1, Mode: "grid", Process: "p"}
}

// shards are a lead and clients that run until end.
type shards struct {
	lead    *Lead
	clients []*Client
	wires   []*wire
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
}

func begin(t *testing.T, count int) *shards {
	t.Helper()
	s := &shards{lead: NewLead(hello(0, count), "secret")}
	s.lead.open("sweep")
	s.ctx, s.stop = context.WithCancel(t.Context())
	for i := 1; i < count; i++ {
		w := wired(s.lead)
		c := NewClient(hello(i, count), "http://shard-0", "secret", w)
		s.wires, s.clients = append(s.wires, w), append(s.clients, c)
		s.running.Go(func() { c.run(s.ctx, func() string { return "it ended" }) })
	}
	return s
}

func (s *shards) end() {
	s.stop()
	s.running.Wait()
}

// follow makes a client finish every step at once.
func (s *shards) follow(c *Client) {
	at := step{}
	for {
		next, err := c.nextStep(s.ctx, at.Number, time.Minute)
		if err != nil {
			return
		}
		at = next
		c.tell(at.Number, true, nil)
	}
}

// TestFarewellToNobody: a shard that leaves after shard 0 has ended does not log a retry.
func TestFarewellToNobody(t *testing.T) {
	client := NewClient(hello(1, 4), "http://shard-0", "", wired(http.NotFoundHandler()))
	var said strings.Builder
	client.Logger = slog.New(slog.NewTextHandler(&said, nil))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	client.run(ctx, func() string { return "it ended" })
	if said.Len() > 0 {
		t.Errorf("it said %s", &said)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*Hello)
		token  string
		want   string
	}{
		{func(h *Hello) { h.Plan = "bb" }, "secret", "its plan has the sha256 bb…, shard 0's aa…"},
		{func(h *Hello) { h.Workload = "bb" }, "secret", "its workload differs although the plan is the same"},
		{func(h *Hello) { h.Seed = 2 }, "secret", "its seed is 2, shard 0's 1"},
		{func(h *Hello) { h.Count = 5 }, "secret", "it is one of --shards=5, shard 0 of --shards=4"},
		{func(h *Hello) { h.Index = 0 }, "secret", "--shard=0: want 1 to 3"},
		{func(h *Hello) { h.Index = -7 }, "secret", "--shard=-7: want 1 to 3"},
		{func(h *Hello) { h.Mode = "search" }, "secret", "it runs a search, shard 0 a grid"},
		{func(h *Hello) { h.Protocol = 9 }, "secret", "run the same synthetic everywhere"},
		{func(*Hello) {}, "guess", "wrong token"},
		{func(*Hello) {}, "", "wrong token"},
	} {
		h := hello(1, 4)
		c.change(&h)
		synctest.Test(t, func(t *testing.T) {
			lead := NewLead(hello(0, 4), "secret")
			lead.open("sweep")
			client := NewClient(h, "http://shard-0", c.token, wired(lead))
			var said strings.Builder
			client.Logger = slog.New(slog.NewTextHandler(&said, nil))
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				client.run(t.Context(), func() string { return "" })
			}()
			_, err := client.nextStep(t.Context(), 0, time.Hour)
			var refused refusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v", c.want, err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the token is in %v", err)
			}
			if <-ended; said.Len() > 0 {
				t.Errorf("a refusal is no silence: %s", &said)
			}
		})
	}
}

// TestNotAStatus sends invalid statuses.
func TestNotAStatus(t *testing.T) {
	lead := NewLead(hello(0, 4), "")
	lead.open("sweep")
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", pathStatus, "", 400}, {"POST", pathStatus, "[]", 400}, {"POST", pathStatus, `{"index":"x"}`, 400},
		{"POST", pathStatus, "{}", 409}, {"GET", pathStatus, "", 404}, {"POST", pathClock, "", 404}, {"GET", "/", "", 404},
		{"POST", pathStatus, `{"plan_sha256":"` + strings.Repeat("x", maxBody) + `"}`, 400},
	} {
		answer := httptest.NewRecorder()
		lead.ServeHTTP(answer, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		if text := answer.Body.String(); answer.Code != c.want || strings.Contains(text, " Go ") {
			t.Errorf("%s %s %.20s: %d %s, want %d and no type of Go", c.method, c.path, c.body, answer.Code, text, c.want)
		}
	}
}

// TestInStep: no shard proceeds before all are ready, whichever is slow.
func TestInStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 4)
		for _, c := range s.clients[1:] {
			s.running.Go(func() { s.follow(c) })
		}
		slow := s.clients[0]
		s.running.Go(func() {
			first, _ := slow.nextStep(t.Context(), 0, time.Minute)
			slow.tell(first.Number, true, nil)
			second, _ := slow.nextStep(t.Context(), first.Number, time.Minute)
			slow.tell(second.Number, true, nil)
			third, _ := slow.nextStep(t.Context(), second.Number, time.Minute)
			slow.tell(third.Number, false, nil)
			time.Sleep(40 * time.Second)
			slow.tell(third.Number, true, &levelReport{Counts: Counts{Turns: 7}})
			s.follow(slow)
		})
		if err := s.lead.gather(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		s.lead.announce(step{Kind: stepPrepare})
		s.lead.await(t.Context(), time.Hour)
		s.lead.announce(step{Kind: stepLoad})
		began := time.Now()
		s.lead.await(t.Context(), time.Hour)
		if took := time.Since(began); took < 40*time.Second || took > 41*time.Second {
			t.Errorf("all were done after %s, and one took 40 s", took)
		}
		if lost := s.lead.lost(); lost != nil {
			t.Errorf("lost: %v", lost)
		}
		if r := s.lead.reports(); r[0] != nil || r[1] == nil || r[1].Turns != 7 || r[2] != nil {
			t.Errorf("reports %v", r)
		}
		s.end()
	})
}

// TestLost: a shard that is silent, leaves or is late is named, and the others continue. It may
// return at the next level.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 5)
		for _, c := range s.clients[1:] {
			s.running.Go(func() { s.follow(c) })
		}
		behind := s.clients[0]
		first, _ := behind.nextStep(t.Context(), 0, time.Minute)
		behind.tell(first.Number, true, nil)
		if err := s.lead.gather(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		s.wires[1].cut.Store(true)
		s.clients[2].leave("it was stopped")
		time.Sleep(time.Second)
		s.lead.announce(step{Kind: stepPrepare})
		began := time.Now()
		s.lead.await(t.Context(), 30*time.Second)
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("waited %s for who is behind, want 30 s", took)
		}
		want := "shard 1 (it was not done 30s after shard 0), shard 2 (no sign of life for 10s), shard 3 (it was stopped)"
		if got := runfile.LostShards(s.lead.lost()); got != want {
			t.Errorf("lost: %s", got)
		}
		if err := s.lead.gather(t.Context(), 5*time.Second); err == nil || !strings.Contains(err.Error(), "shard 2 (last seen") || strings.Contains(err.Error(), "shard 4") {
			t.Errorf("gathered without shards 1 and 2: %v", err)
		}
		s.wires[1].cut.Store(false)
		s.running.Go(func() { s.follow(behind) })
		if err := s.lead.gather(t.Context(), time.Minute); err != nil || s.lead.lost() != nil {
			t.Errorf("all are back: %v, lost %v", err, s.lead.lost())
		}
		s.end()
	})
}

// TestStartedAgain: a second process with the same index replaces the first one and is lost for
// the level; the first one is refused.
func TestStartedAgain(t *testing.T) {
	lead := NewLead(hello(0, 2), "")
	lead.open("sweep")
	say := func(process string) string {
		h := hello(1, 2)
		h.Process = process
		_, refusal := lead.record(status{Hello: h, Done: true})
		return refusal
	}
	if why := say("a") + say("a") + say("b"); why != "" {
		t.Fatal(why)
	}
	if got := runfile.LostShards(lead.lost()); got != "shard 1 (it was started again)" {
		t.Errorf("lost: %s", got)
	}
	if why := say("a"); !strings.Contains(why, "start each index once") {
		t.Errorf("the first process is told %q", why)
	}
	if why := say("b"); why != "" {
		t.Error(why)
	}
}

// TestLeadAway: a shard waits for shard 0 up to its patience, and continues with a new one,
// whose steps have higher numbers.
func TestLeadAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 2)
		c, w := s.clients[0], s.wires[0]
		first, err := c.nextStep(t.Context(), 0, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		w.cut.Store(true)
		began := time.Now()
		if _, err = c.nextStep(t.Context(), first.Number, time.Minute); !errors.Is(err, ErrLeadUnreachable) || time.Since(began) > time.Minute+time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if _, err = c.currentStep(); !errors.Is(err, ErrLeadUnreachable) {
			t.Errorf("shard 0 is away: %v", err)
		}
		var again http.Handler = NewLead(hello(0, 2), "secret")
		w.to.Store(&again)
		w.cut.Store(false)
		s.running.Go(func() {
			time.Sleep(5 * time.Second) // no sweep yet
			again.(*Lead).open("other")
		})
		if second, err := c.nextStep(t.Context(), first.Number, 2*time.Minute); err != nil || second.Sweep != "other" {
			t.Errorf("the new shard 0: %+v, %v", second, err)
		}
		s.end()
	})
}

// TestClock: the true offset lies within the bound for all delays.
func TestClock(t *testing.T) {
	for _, c := range []struct{ ahead, there, back time.Duration }{
		{0, 0, 0}, {5 * time.Second, time.Millisecond, time.Millisecond},
		{-3 * time.Hour, 40 * time.Millisecond, 0}, {time.Minute, 0, 40 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := wired(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(rw).Encode(time.Now().Add(c.ahead))
			}))
			w.there, w.back = c.there, c.back
			client := NewClient(hello(1, 2), "http://shard-0", "", w)
			client.recall(c.ahead, 0) // from an earlier process, maybe on another machine
			if _, err := client.here(time.Now().Add(c.ahead)); err == nil {
				t.Error("a load begins by a clock that this process never read")
			}
			if err := client.measure(t.Context()); err != nil {
				t.Fatal(err)
			}
			offset, within := client.clockOffset()
			if off := (offset - c.ahead).Abs(); off > within || within > (c.there+c.back)/2 {
				t.Errorf("%+v: offset %s within %s", c, offset, within)
			}
			if here, err := client.here(time.Now().Add(c.ahead + time.Second)); err != nil || (time.Until(here)-time.Second).Abs() > within {
				t.Errorf("%+v: a second later is in %s here, %v", c, time.Until(here), err)
			}
			for _, set := range []time.Duration{-time.Hour, time.Hour} { // either clock is ahead
				if _, err := client.here(time.Now().Add(c.ahead + set)); err == nil {
					t.Errorf("%+v: a load that begins in %s is waited for", c, set)
				}
			}
			// A drift of the clock stays within the combined bound.
			c.ahead += 100 * time.Millisecond
			if err := client.measure(t.Context()); err != nil {
				t.Fatal(err)
			}
			offset, within = client.clockOffset()
			for _, truth := range []time.Duration{c.ahead, c.ahead - 100*time.Millisecond} {
				if (offset - truth).Abs() > within {
					t.Errorf("%+v: offset %s within %s, and it was %s", c, offset, within, truth)
				}
			}
		})
	}
}

// TestOverTCP: token, refusal and steps over a real server.
func TestOverTCP(t *testing.T) {
	lead := NewLead(hello(0, 2), "secret")
	lead.open("sweep")
	server := httptest.NewServer(lead)
	defer server.Close()
	resp, err := http.Get(server.URL + pathClock)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", resp.Status)
	}
	c := NewClient(hello(1, 2), server.URL+"/", "secret", &http.Transport{})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.run(ctx, func() string { return "it ended" }) })
	step, err := c.nextStep(ctx, 0, time.Minute)
	if err != nil || step.Sweep != "sweep" || step.Kind != stepWait {
		t.Fatalf("%+v, %v", step, err)
	}
	if err := c.measure(ctx); err != nil {
		t.Fatal(err)
	}
	if offset, within := c.clockOffset(); offset.Abs() > within { // both sides have the same clock
		t.Errorf("offset %s within %s of the same clock", offset, within)
	}
	c.tell(step.Number, true, nil)
	if err := lead.gather(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	stop()
	running.Wait()
	if got := runfile.LostShards(lead.lost()); got != "shard 1 (it ended)" {
		t.Errorf("lost: %s", got)
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestWaitsAreTold: the reason of a wait is logged at once or after a few seconds, and then
// once a minute.
func TestWaitsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 2)
		var lead, client bytes.Buffer
		s.lead.Logger = slog.New(slog.NewTextHandler(&lead, nil))
		s.wires[0].cut.Store(true)
		if err := s.lead.gather(t.Context(), 150*time.Second); err == nil {
			t.Error("a shard that never came is there")
		}
		if n := strings.Count(lead.String(), "shard 1 ("); n != 3 {
			t.Errorf("shard 0 told of its wait %d times in 150 s:\n%s", n, lead.String())
		}
		w := wired(s.lead)
		w.cut.Store(true)
		lost := NewClient(hello(1, 2), "http://shard-0", "secret", w)
		lost.Logger = slog.New(slog.NewTextHandler(&client, nil))
		s.running.Go(func() { lost.run(s.ctx, func() string { return "" }) })
		if _, err := lost.nextStep(s.ctx, 0, 90*time.Second); !errors.Is(err, ErrLeadUnreachable) {
			t.Error(err)
		}
		s.end()
		if n := strings.Count(client.String(), "connection refused"); n != 2 {
			t.Errorf("the other told of its wait %d times in 90 s:\n%s", n, client.String())
		}
	})
}

// TestLeadOfAnEarlierTime: shards follow a shard 0 that returns on a machine whose clock is
// behind, and it ignores earlier counts.
func TestLeadOfAnEarlierTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 2)
		defer s.end()
		s.lead.announce(step{Kind: stepPrepare})
		c := s.clients[0]
		at, err := c.nextStep(s.ctx, 0, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		again := NewLead(hello(0, 2), "secret")
		again.step = step{Number: at.Number - 1000, Kind: stepWait, Sweep: "sweep"}
		again.announce(step{Kind: stepPrepare})
		c.tell(at.Number, false, &levelReport{Counts: Counts{Turns: 7}})
		var to http.Handler = again
		s.wires[0].to.Store(&to)
		next, err := c.nextStep(s.ctx, at.Number, time.Minute)
		if err != nil || next.Number >= at.Number || next.Kind != stepPrepare {
			t.Errorf("at %+v, %v", next, err)
		}
		if r := again.reports()[1]; r != nil {
			t.Errorf("the new shard 0 counts %+v", r)
		}
	})
}
