package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/promtest"
	"synthetic/tools/testkit/stage"
)

const leasedConfig = `
discovery: [{name: chat, allowed_hosts: [a, b, c, d, e, f], lease: 10m, target: {model: m, service: chat}}]
slos: [{name: availability, sli: availability, objective: 99%}]
`

// leasedSite is a sidecar whose leased targets refuse connections while down is set.
type leasedSite struct {
	t     *testing.T
	s     *sidecar.Sidecar
	down  *atomic.Bool
	rules *promtest.Server
	paged []string // all pages so far
}

// playLeased runs a sidecar in virtual time.
func playLeased(t *testing.T, state string, down *atomic.Bool, play func(*leasedSite)) {
	t.Helper()
	cfg, file := stage.Rules(t, leasedConfig)
	synctest.Test(t, func(t *testing.T) {
		wire := simulate.NewPipes()
		defer simulate.Serve(wire, simulate.New(simulate.Options{Seed: 1, Model: "m"}))()
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			if down.Load() {
				return nil, errors.New("connection refused")
			}
			return wire.Dial(ctx, network, addr)
		}
		s, err := sidecar.New(sidecar.Options{Logger: slog.New(slog.DiscardHandler), DrainTimeout: time.Second, Dial: dial, StateFile: state})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(cfg); err != nil {
			t.Fatal(err)
		}
		stop := stage.Run(t, s)
		play(&leasedSite{t: t, s: s, down: down, rules: promtest.New(t, file, time.Minute)})
		stop()
	})
}

// scrape scrapes the targets and evaluates the rules, for some time.
func (l *leasedSite) scrape(length time.Duration, hosts ...string) {
	l.t.Helper()
	for range length / stage.ScrapeEvery {
		for _, h := range hosts {
			get(l.s, "/probe?module=chat&target=http://"+h)
		}
		time.Sleep(stage.ScrapeEvery)
		synctest.Wait()
		l.rules.Scrape(time.Now(), "prober", stage.Samples(l.t, l.s))
		l.rules.Evaluate(time.Now())
		l.paged = append(l.paged, l.rules.Firing("target")...)
	}
	slices.Sort(l.paged)
	l.paged = slices.Compact(l.paged)
}

// TestNobodyIsPagedForWhatNeverWorked: targets that were never up raise no alert, alone or together, and
// have no series. A target that has answered once does when it fails, also after a restart.
func TestNobodyIsPagedForWhatNeverWorked(t *testing.T) {
	down, state := &atomic.Bool{}, filepath.Join(t.TempDir(), "state")
	down.Store(true)
	playLeased(t, state, down, func(l *leasedSite) {
		l.scrape(20*time.Minute, "a", "b", "c", "d", "e", "f")
		if len(l.paged) > 0 {
			t.Errorf("targets that never answered raise %v", l.paged)
		}
		status, body := get(l.s, "/probe?module=chat&target=http://a")
		if _, page := get(l.s, "/"); status != http.StatusServiceUnavailable || !strings.Contains(body, "no turn of chat/a has succeeded") || !strings.Contains(page, "chat/a") {
			t.Errorf("a scrape of a target that never answered: %d %s", status, body)
		}
		if samples := stage.SamplesOf(t, l.s, func(name string) bool { return name == "synthetic_turns_total" }); len(samples) > 0 {
			t.Errorf("it has series: %v", samples)
		}
		down.Store(false)
		l.scrape(10*time.Minute, "a", "b")
		if status, page := get(l.s, "/probe?module=chat&target=http://a"); status != http.StatusOK || !slices.Equal(targetsOf(page), []string{"chat/a"}) {
			t.Errorf("after its first success, a scrape gives %d and series of %v", status, targetsOf(page))
		}
		down.Store(true)
		l.scrape(10*time.Minute, "a", "b")
		if !strings.Contains(fmt.Sprint(l.paged), "SyntheticTargetDown") {
			t.Errorf("targets that answered and then failed raise only %v", l.paged)
		}
	})
	playLeased(t, state, down, func(l *leasedSite) {
		l.scrape(10*time.Minute, "a", "b")
		if len(l.paged) == 0 {
			t.Error("after a restart in the middle of the outage, nobody is paged")
		}
	})
}

// TestAnAddressThatFailsKeepsNoName: a client that asks again and again for an address that fails, and has
// the name of another one, does not keep Prometheus from leasing that.
func TestAnAddressThatFailsKeepsNoName(t *testing.T) {
	playLeased(t, "", &atomic.Bool{}, func(l *leasedSite) {
		status, body := 0, ""
		for second := range 300 {
			get(l.s, "/probe?module=chat&target=https://a") // the server has no TLS
			if second%30 == 29 {
				status, body = get(l.s, "/probe?module=chat&target=http://a")
			}
			time.Sleep(time.Second)
		}
		if status != http.StatusOK || !slices.Equal(targetsOf(body), []string{"chat/a"}) {
			t.Errorf("the address that works gets %d: %.200s", status, body)
		}
	})
}
