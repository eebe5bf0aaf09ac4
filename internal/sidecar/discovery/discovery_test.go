package discovery

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"go.uber.org/goleak"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/target"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plainAddress accepts addresses with a scheme.
type plainAddress struct{}

func (plainAddress) Base(text string) (string, error) {
	if !strings.HasPrefix(text, "http://") {
		return "", errors.New("its address has no scheme")
	}
	return strings.TrimRight(text, "/"), nil
}

func group(name string, sources ...prom.Config) fleet.Group {
	return fleet.Group{Template: target.Target{Name: name}, Sources: sources, Most: 50, Address: plainAddress{}}
}

func TestResolve(t *testing.T) {
	rename := []*relabel.Config{{
		SourceLabels: model.LabelNames{"__meta_app"}, TargetLabel: "name", Regex: relabel.MustNewRegexp("(.+)"),
		Replacement: "$1", Action: relabel.Replace, NameValidationScheme: model.LegacyValidation,
	}, {
		SourceLabels: model.LabelNames{"__meta_skip"}, Regex: relabel.MustNewRegexp("yes"), Action: relabel.Drop, NameValidationScheme: model.LegacyValidation,
	}}
	set := func(pairs ...string) labels.Labels { return labels.FromStrings(pairs...) }
	tests := map[string]struct {
		change func(*fleet.Group)
		found  []labels.Labels
		want   []fleet.Discovered
		left   []string // reasons
	}{
		"host and port":           {nil, []labels.Labels{set("__address__", "a:1")}, []fleet.Discovered{{Name: "a-1", BaseURL: "http://a:1"}}, nil},
		"a whole address":         {nil, []labels.Labels{set("__address__", "http://a:1/llm/v1")}, []fleet.Discovered{{Name: "a-1-llm", BaseURL: "http://a:1/llm/v1"}}, nil},
		"discovered labels":       {nil, []labels.Labels{set("__address__", "a:1", "model", "m", "service", "s", "role", "decode")}, []fleet.Discovered{{Name: "a-1", BaseURL: "http://a:1", Model: "m", Service: "s", Labels: map[string]string{"role": "decode"}}}, nil},
		"labels of the group":     {func(g *fleet.Group) { g.Template.Labels = map[string]string{"team": "x", "role": "any"} }, []labels.Labels{set("__address__", "a:1", "role", "decode")}, []fleet.Discovered{{Name: "a-1", BaseURL: "http://a:1", Labels: map[string]string{"team": "x", "role": "decode"}}}, nil},
		"base_url":                {nil, []labels.Labels{set("base_url", "http://b/v1", "__address__", "a:1")}, []fleet.Discovered{{Name: "b", BaseURL: "http://b/v1"}}, nil},
		"no address":              {nil, []labels.Labels{set("name", "a")}, nil, []string{BadAddress}},
		"another scheme":          {nil, []labels.Labels{set("__address__", "a:1", "__scheme__", "https")}, nil, []string{BadAddress}},
		"relabelled":              {nil, []labels.Labels{set("__address__", "a:1", "__meta_app", "qwen 3"), set("__address__", "b:1", "__meta_skip", "yes")}, []fleet.Discovered{{Name: "qwen-3", BaseURL: "http://a:1"}}, nil},
		"a reserved label":        {nil, []labels.Labels{set("__address__", "a:1", "turn", "x")}, nil, []string{BadLabels}},
		"a label of UTF-8":        {nil, []labels.Labels{set("__address__", "a:1", "app.kubernetes.io/name", "x")}, nil, []string{BadLabels}},
		"two lines":               {nil, []labels.Labels{set("__address__", "a:1", "team", "x\ny")}, nil, []string{BadLabels}},
		"a long model":            {nil, []labels.Labels{set("__address__", "a:1", "model", strings.Repeat("m", 129))}, nil, []string{BadLabels}},
		"a long name":             {nil, []labels.Labels{set("__address__", "a:1", "name", strings.Repeat("m", 129))}, nil, []string{BadLabels}},
		"five labels":             {nil, []labels.Labels{set("__address__", "a:1", "l1", "x", "l2", "x", "l3", "x", "l4", "x", "l5", "x")}, nil, []string{BadLabels}},
		"one name for two":        {nil, []labels.Labels{set("__address__", "b:1", "name", "x"), set("__address__", "a:1", "name", "x")}, []fleet.Discovered{{Name: "x", BaseURL: "http://a:1"}}, []string{SameName}},
		"one target, twice":       {nil, []labels.Labels{set("__address__", "a:1"), set("__address__", "a:1")}, []fleet.Discovered{{Name: "a-1", BaseURL: "http://a:1"}}, nil},
		"too many":                {func(g *fleet.Group) { g.Most = 1 }, []labels.Labels{set("__address__", "b:1"), set("__address__", "a:1")}, []fleet.Discovered{{Name: "a-1", BaseURL: "http://a:1"}}, []string{TooMany}},
		"a host not allowed":      {func(g *fleet.Group) { g.AllowedHosts = []string{"b"} }, []labels.Labels{set("__address__", "a:1")}, nil, []string{BadHost}},
		"a module allows none":    {func(g *fleet.Group) { g.Lease = time.Minute }, []labels.Labels{set("__address__", "a:1")}, nil, []string{BadHost}},
		"one is bad, one is good": {nil, []labels.Labels{set("name", "a"), set("__address__", "b:1")}, []fleet.Discovered{{Name: "b-1", BaseURL: "http://b:1"}}, []string{BadAddress}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := group("g")
			g.Relabel = rename
			if tc.change != nil {
				tc.change(&g)
			}
			got, left := resolve(g, tc.found)
			var reasons []string
			for _, l := range left {
				reasons = append(reasons, l.Reason)
			}
			if diff := gocmp.Diff(tc.want, got) + gocmp.Diff(tc.left, reasons); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// scene runs a follower in virtual time.
type scene struct {
	*Follower
	t       *testing.T
	log     *strings.Builder
	mu      sync.Mutex
	changes int
	refuse  error           // the error that changed returns
	failing map[string]bool // leased targets, or their addresses, whose turns have all failed
}

func play(t *testing.T, f func(*scene)) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, log: &strings.Builder{}, failing: map[string]bool{}}
		s.Follower = New(slog.New(slog.NewTextHandler(s.log, nil)), func(target, base string) bool { return s.failing[target] || s.failing[base] })
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = s.Run(ctx, s.changed) })
		f(s)
		cancel()
		running.Wait()
	})
}

func (s *scene) changed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	return s.refuse
}

// after waits, and compares the number of targets and of changes with the wanted ones.
func (s *scene) after(d time.Duration, what string, groups []fleet.Group, found, changes int) Standing {
	s.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	name := groups[0].Name()
	if got := len(s.Found(groups)[name]); got != found || s.changes != changes {
		s.t.Errorf("%s: %d targets after %d changes, want %d after %d", what, got, s.changes, found, changes)
	}
	return s.Standings()[0]
}

// TestLease leases two targets, renews one lease and lets the other end.
func TestLease(t *testing.T) {
	play(t, func(s *scene) {
		m := group("m")
		m.Lease, m.Most, m.AllowedHosts = 10*time.Minute, 2, []string{"*.ok"}
		lease := func(module, address string) (string, error) {
			return s.Lease(LeaseRequest{Module: module, Address: address, Authenticated: true})
		}
		groups := []fleet.Group{m}
		s.Follow(groups)
		s.after(time.Minute, "no requests yet", groups, 0, 0)
		for _, bad := range []struct {
			module, address string
			status          int
			want            string
		}{
			{"x", "http://a.ok", 400, "one of [m]"}, {"m", "a.ok", 400, "no scheme"}, {"m", "http://a.evil", 403, "allowed_hosts of its group"},
		} {
			_, err := lease(bad.module, bad.address)
			if r, ok := errors.AsType[RefusedError](err); !ok || r.Status != bad.status || !strings.Contains(r.Reason, bad.want) {
				t.Errorf("%s at %s: %v", bad.module, bad.address, err)
			}
		}
		ask := func(host, want string) {
			t.Helper()
			if name, err := lease("m", "http://"+host+"/v1"); err != nil || name != want {
				t.Errorf("%q, %v", name, err)
			}
		}
		ask("a.ok", "m/a.ok")
		ask("b.ok", "m/b.ok")
		s.after(2*time.Second, "two leases", groups, 2, 1)
		if leased := s.Leased(); !leased("m/a.ok") || leased("a.ok") {
			t.Error("what is leased is told here, and nothing else")
		}
		if _, err := lease("m", "http://c.ok/v1"); err == nil || err.(RefusedError).Status != 503 {
			t.Errorf("a third one: %v", err)
		}
		for range 30 {
			time.Sleep(time.Minute)
			ask("a.ok", "m/a.ok")
		}
		s.after(time.Second, "one lease was renewed", groups, 1, 2)
		s.Follow(groups)
		s.after(time.Second, "a reload keeps leases", groups, 1, 2)
		if st := s.Standings()[0]; time.Since(st.At) > time.Minute || !st.Leased {
			t.Errorf("the state of leases is always current: %+v", st)
		}
		groups[0].AllowedHosts = []string{"b.ok"}
		s.Follow(groups)
		if _, err := lease("m", "http://a.ok/v1"); err == nil || err.(RefusedError).Status != 403 {
			t.Errorf("a host that is no longer allowed: %v", err)
		}
		s.after(11*time.Minute, "no lease is left", groups, 0, 2)
		if leased := s.Leased(); !leased("m/a.ok") {
			t.Error("the series of an ending target are shown to requests without a lease")
		}
	})
}

// leasing is a module whose requests a test sends.
type leasing struct {
	*scene
	groups []fleet.Group
}

func newLeasing(s *scene, most int, hosts ...string) leasing {
	m := group("m")
	m.Lease, m.Most, m.AllowedHosts = 10*time.Minute, most, hosts
	l := leasing{s, []fleet.Group{m}}
	s.Follow(l.groups)
	return l
}

// ask requests http://HOST/PATH and compares the status, 200 for a lease.
func (l leasing) ask(caller, target string, want int) {
	l.t.Helper()
	got := 200
	_, err := l.Lease(LeaseRequest{Module: "m", Address: "http://" + target, Caller: caller, Authenticated: caller == "admin"})
	if refused, ok := errors.AsType[RefusedError](err); ok {
		got = refused.Status
	}
	if got != want {
		l.t.Errorf("%s asks for %s: %d %v, want %d", caller, target, got, err, want)
	}
}

// TestLeaseWithoutPassword: without a password or a certificate, only hosts that are named exactly are
// leased, and one address gets half of the leases.
func TestLeaseWithoutPassword(t *testing.T) {
	play(t, func(s *scene) {
		l := newLeasing(s, 4, "a.ok:8000", "10.0.0.0/8", "*.any")
		for target, want := range map[string]int{"a.ok:8000": 200, "a.ok:8001": 403, "10.0.0.1": 403, "x.any": 403} {
			l.ask("1.1.1.1", target, want)
		}
		l.ask("1.1.1.1", "a.ok:8000/x", 200)
		l.ask("1.1.1.1", "a.ok:8000/y", 503)
		l.ask("1.1.1.1", "a.ok:8000/x", 200) // a renewal
		l.ask("admin", "x.any", 200)
		l.ask("2.2.2.2", "a.ok:8000/x", 200) // now counts for this address
		l.ask("1.1.1.1", "a.ok:8000/y", 200)
		l.ask("3.3.3.3", "a.ok:8000/z", 503)
	})
}

// TestFailingTargetsGiveWay: targets that never answered keep no lease from another one, and a renewal
// does not extend theirs.
func TestFailingTargetsGiveWay(t *testing.T) {
	play(t, func(s *scene) {
		l := newLeasing(s, 2, "*.ok")
		l.ask("admin", "a.ok", 200)
		s.failing["m/a.ok"] = true
		time.Sleep(time.Minute)
		l.ask("admin", "b.ok", 200)
		s.failing["m/b.ok"] = true
		l.ask("admin", "c.ok", 200) // in place of a.ok
		l.ask("admin", "d.ok", 200) // in place of b.ok
		l.ask("admin", "e.ok", 503)
		s.failing["m/c.ok"] = true
		for minute := range 12 {
			time.Sleep(time.Minute)
			l.ask("admin", "d.ok", 200)
			if minute < 9 {
				l.ask("admin", "c.ok", 200)
			}
		}
		synctest.Wait()
		if found := s.Found(l.groups)["m"]; len(found) != 1 || found[0].Name != "d.ok" {
			t.Errorf("after the first lease of c.ok, %v are leased", found)
		}
	})
}

// TestNobodyTakesTheNameOfATarget: an address that has never answered keeps no name from another one, and an
// address that a server may take for another one, but has its name, gets no lease.
func TestNobodyTakesTheNameOfATarget(t *testing.T) {
	play(t, func(s *scene) {
		l := newLeasing(s, 6, "a.ok:8000")
		lease := func(address string) int {
			_, err := l.Lease(LeaseRequest{Module: "m", Address: address, Caller: "1.1.1.1"})
			refused, _ := errors.AsType[RefusedError](err)
			return refused.Status
		}
		for _, alias := range []string{"/.", "/-", "/./v1", "//v1", "/;/v1", "/..", "/%2e/v1", "/v1/%2e%2e/v1"} {
			if got := lease("http://a.ok:8000" + alias); got != 400 {
				t.Errorf("%s: %d", alias, got)
			}
		}
		if got := lease("http://a.ok:8000/a-b"); got != 0 {
			t.Errorf("the first: %d", got)
		}
		if got := lease("http://a.ok:8000/a/b"); got != 409 {
			t.Errorf("another one of its name: %d", got)
		}
		s.failing["http://a.ok:8000/a-b"] = true
		if got := lease("http://a.ok:8000/a/b"); got != 0 {
			t.Errorf("after its turns have failed: %d", got)
		}
		if got := lease("http://a.ok:8000/a-b"); got != 409 {
			t.Errorf("it came back: %d", got)
		}
		synctest.Wait()
		s.after(time.Minute, "one lease", l.groups, 1, 1)
		if found := s.Found(l.groups)["m"]; found[0].BaseURL != "http://a.ok:8000/a/b" {
			t.Errorf("%v", found)
		}
	})
}
