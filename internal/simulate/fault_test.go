package simulate

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

func TestRefusedRequests(t *testing.T) {
	d, c := serve(t, quick)
	for status, kind := range map[int]IncidentKind{500: ErrorStatus, 429: BusyStatus} {
		d.Update(func(o *Options) { o.Incidents = []Incident{{Kind: kind, Share: 1}} })
		resp := c.post(t, t.Context(), question+`}`)
		if resp.StatusCode != status {
			t.Errorf("status %s, want %d", resp.Status, status)
		}
		if retry := resp.Header.Get("Retry-After"); (retry != "") != (status == 429) {
			t.Errorf("%d has Retry-After %q", status, retry)
		}
	}
	d.Update(func(o *Options) { o.Incidents = nil })
	if got := c.say(t, []message{user("hi")}, ""); got.finish != "stop" {
		t.Errorf("unhealthy after the faults: %+v", got)
	}
}

func TestCut(t *testing.T) {
	o := quick
	o.Incidents = []Incident{{Kind: CutStream, Share: 1}}
	d, c := serve(t, o)
	got := c.say(t, []message{user("hi")}, "")
	if !errors.Is(got.err, io.ErrUnexpectedEOF) {
		t.Errorf("the body ended with %v, want an unexpected end", got.err)
	}
	if got.finish != "" || got.content == "" {
		t.Errorf("content %q, finish %q; want a part of the answer and no finish reason", got.content, got.finish)
	}
	if s := d.Stats(); s.Finished["error"] != 1 || s.Running != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestErrorEvent(t *testing.T) {
	o := quick
	o.Incidents = []Incident{{Kind: ErrorEvent, Share: 1}}
	_, c := serve(t, o)
	got := c.say(t, []message{user("hi")}, "")
	if got.err != nil || got.failure == "" || got.finish != "" || got.content == "" {
		t.Errorf("got %+v; want an error event after some content", got)
	}
	if last := got.raw[len(got.raw)-1]; last != "[DONE]" {
		t.Errorf("the last event is %q, want [DONE]", last)
	}
}

func TestHangAndStallEndWhenTheClientLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		kind     IncidentKind
		headers  bool
		finished string
	}{
		"hang":  {NoAnswer, false, ""},
		"stall": {StallStream, true, "abort"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := quick
				o.Incidents = []Incident{{Kind: test.kind, Share: 1}}
				d, c, stop := serveInMemory(o)
				ctx, cancel := context.WithCancel(t.Context())
				answered := make(chan error, 1)
				go func() {
					answered <- c.drain(ctx)
				}()
				time.Sleep(time.Hour)
				synctest.Wait()
				if s := d.Stats(); s.Running+s.Waiting != 1 || (s.OutputTokens > 0) != test.headers {
					t.Errorf("after an hour: %+v", s)
				}
				cancel()
				if err := <-answered; !errors.Is(err, context.Canceled) {
					t.Errorf("the request ended with %v, want the cancellation", err)
				}
				synctest.Wait()
				s := d.Stats()
				if s.Running+s.Waiting != 0 || s.Finished[test.finished] != len(s.Finished) {
					t.Errorf("after the client left: %+v", s)
				}
				stop()
			})
		})
	}
}

func TestFaultRates(t *testing.T) {
	kinds := []IncidentKind{ErrorStatus, BusyStatus, NoAnswer, CutStream, StallStream, ErrorEvent}
	var o Options
	for _, kind := range kinds {
		o.Incidents = append(o.Incidents, Incident{Kind: kind, Share: .1})
	}
	counts := map[IncidentKind]int{}
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		counts[o.drawFault(0, r)]++
	}
	for _, kind := range kinds {
		if n := counts[kind]; n < 850 || n > 1150 {
			t.Errorf("%d of 10000 requests had the fault %s, want about 1000", n, kind)
		}
	}
	if n := counts[""]; n < 3700 || n > 4300 {
		t.Errorf("%d of 10000 are healthy, want about 4000", n)
	}
}
