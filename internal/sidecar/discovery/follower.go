// Package discovery follows targets that come and go. They are found in files, over HTTP, in DNS
// and in Kubernetes with Prometheus' service discovery, or leased by requests for their series.
// fleet.Fleet.WithDiscovered makes targets of them.
package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

const (
	// quiet is how long changes are collected before they take effect.
	quiet = time.Second
	// again is the time until a rejected change is tried again.
	again = 30 * time.Second
	// silence is how long a source may take for its first answer. An empty result counts after it.
	silence = time.Minute
	// recovered is how long a discovery that has failed must not fail again, at least. It is longer
	// than the default refresh interval of every discovery.
	recovered = 6 * time.Minute
)

// Follower follows groups of targets with Prometheus' discovery manager. A source that fails changes
// nothing: its targets stay until it answers again. Use New.
type Follower struct {
	logger        *slog.Logger
	registry      *prometheus.Registry // the discoverers count their failures in it
	groupsChanged chan struct{}        // the set of groups has changed
	dirty         chan struct{}        // the targets of a group may have changed
	// onlyFailed reports whether turns of a leased target at an address have failed and none has succeeded.
	onlyFailed func(target, base string) bool

	mu       sync.Mutex
	groups   map[string]*groupState
	recalled map[string][]fleet.Discovered // saved targets of groups that are not followed yet
	synced   map[string][]*targetgroup.Group
	syncedAt time.Time
	counted  map[string]float64 // failures by set, and by counter without a set
	sets     int                // how often the sets of a group were named
}

// ownSource is a source with the name of its set. It keeps the manager from using one discoverer for
// equal sources, whose failures would count for one group only.
type ownSource struct {
	prom.Config
	set string
}

type groupState struct {
	fleet.Group
	leases map[string]*lease
	// accepted are the discovered labels in force. found are the targets made of them, leftOut
	// the objects that are no targets.
	accepted []labels.Labels
	recalled []fleet.Discovered // stay beside those of accepted until every source has answered
	found    []fleet.Discovered
	leftOut  []LeftOut
	sets     []string        // of the sources, in the manager
	heard    map[string]bool // the sets that have answered
	answered bool
	created  time.Time // when the group got its sources
	at       time.Time // of the last answer without a failure
	failed   time.Time // when the failures of its sources last grew
	problem  string    // "" while the group is as it should be
	since    time.Time // when the problem began
	logged   map[LeftOut]bool
}

// New returns a Follower without groups. onlyFailed reports whether turns of a leased target at
// an address have failed and none has succeeded; nil if nothing is leased.
func New(logger *slog.Logger, onlyFailed func(target, base string) bool) *Follower {
	return &Follower{
		logger: logger, registry: prometheus.NewRegistry(), onlyFailed: onlyFailed,
		groupsChanged: make(chan struct{}, 1), dirty: make(chan struct{}, 1), groups: map[string]*groupState{},
	}
}

// Follow replaces the set of groups. A group keeps its targets until its new sources have
// answered.
func (f *Follower) Follow(groups []fleet.Group) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := map[string]*groupState{}
	for _, g := range groups {
		for _, s := range g.Sources {
			if c, ok := fleet.HTTPClient(s); ok {
				target.RememberSecrets(c)
			}
		}
		state := f.state(g)
		state.Group = g
		state.found, state.leftOut = targets(g, state.accepted, state.recalled)
		next[g.Name()] = state
	}
	f.groups, f.recalled = next, nil
	poke(f.groupsChanged)
	poke(f.dirty)
}

// state returns the state of a group, or the initial one of a group that is new or has new sources.
func (f *Follower) state(g fleet.Group) *groupState {
	old := f.groups[g.Name()]
	if old != nil && old.Lease > 0 == (g.Lease > 0) && reflect.DeepEqual(old.Sources, g.Sources) {
		return old
	}
	state := &groupState{leases: map[string]*lease{}, heard: map[string]bool{}, created: time.Now(), answered: g.Lease > 0}
	// The names of the sets are new: an answer of the earlier sources may still come.
	f.sets++
	for i := range g.Sources {
		state.sets = append(state.sets, fmt.Sprintf("%s/%d/%d", g.Name(), f.sets, i))
	}
	switch {
	case g.Lease > 0:
	case old != nil && old.Lease == 0:
		state.recalled, state.at, state.logged = old.found, old.at, old.logged
	default:
		state.recalled = f.recalled[g.Name()]
	}
	return state
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // Run has not yet handled the last one
	}
}

// Found returns the targets of each group, made with the given settings.
func (f *Follower) Found(groups []fleet.Group) map[string][]fleet.Discovered {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]fleet.Discovered{}
	for _, g := range groups {
		state := f.state(g)
		out[g.Name()], _ = targets(g, state.accepted, state.recalled)
	}
	return out
}

// targets makes targets of discovered labels. Recalled targets with other names remain if the group
// still allows them.
func targets(g fleet.Group, all []labels.Labels, recalled []fleet.Discovered) ([]fleet.Discovered, []LeftOut) {
	out, leftOut := resolve(g, all)
	names := map[string]bool{}
	for _, t := range out {
		names[t.Name] = true
	}
	for _, t := range recalled {
		base, err := g.Address.Base(t.BaseURL)
		if err == nil && base == t.BaseURL && g.Allows(base) && len(out) < g.Most && !names[t.Name] {
			out = append(out, t)
		}
	}
	return out, leftOut
}

// Recall sets the targets that an earlier process had found, by group. They are used until the
// sources of a group have answered. Call it before the first Follow.
func (f *Follower) Recall(found map[string][]fleet.Discovered) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recalled = found
}

// Remember returns what Recall takes in a later process: names, addresses and labels, and no
// keys.
func (f *Follower) Remember() map[string][]fleet.Discovered {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string][]fleet.Discovered{}
	for name, g := range f.groups {
		if g.Lease == 0 && len(g.found) > 0 {
			out[name] = g.found
		}
	}
	return out
}

// Awaits reports whether the target GROUP/NAME may come with the first answer of GROUP.
func (f *Follower) Awaits(target string) bool {
	name, _, _ := strings.Cut(target, "/")
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.groups[name]
	return g != nil && (!g.answered || time.Since(g.created) < g.Lease)
}

// Run follows the groups until ctx is done, and waits for the manager. It calls changed when
// Found has changed, and again later if changed fails.
func (f *Follower) Run(ctx context.Context, changed func() error) error {
	metrics, err := prom.CreateAndRegisterSDMetrics(f.registry)
	if err != nil {
		return err
	}
	// The manager ends after this loop: ApplyConfig must not meet one that has ended.
	managed, end := context.WithCancel(context.WithoutCancel(ctx))
	m := prom.NewManager(target.RememberingSent(managed), f.logger, f.registry, metrics, prom.Updatert(quiet),
		prom.HTTPClientOptions(promconfig.WithSecretManager(target.SecretFiles{})))
	if m == nil {
		end()
		return fmt.Errorf("the discovery manager cannot register its metrics") // it has logged why
	}
	var running sync.WaitGroup
	running.Go(func() { _ = m.Run() }) // it returns the error of its context
	defer func() { end(); running.Wait() }()
	minute := time.NewTicker(silence)
	defer minute.Stop()
	var update, retry <-chan time.Time
	for {
		callChanged := false
		select {
		case <-ctx.Done():
			return nil
		case <-f.groupsChanged:
			if err := m.ApplyConfig(f.sources()); err != nil {
				f.logger.Error("A discovery cannot start", "err", err)
			}
		case synced := <-m.SyncCh():
			f.mu.Lock()
			f.synced, f.syncedAt = synced, time.Now()
			f.mu.Unlock()
			poke(f.dirty)
		case <-minute.C: // leases may have ended, and an empty answer counts after a while
			f.expire(time.Now())
			poke(f.dirty)
		case <-f.dirty:
			if update == nil {
				update = time.After(quiet)
			}
		case <-update:
			update = nil
			callChanged = f.update(time.Now())
		case <-retry:
			callChanged = true
		}
		if callChanged && ctx.Err() == nil {
			retry = nil
			if changed() != nil {
				retry = time.After(again)
			}
		}
	}
}

func (f *Follower) sources() map[string]prom.Configs {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]prom.Configs{}
	for _, g := range f.groups {
		for i, set := range g.sets {
			out[set] = prom.Configs{ownSource{g.Sources[i], set}}
		}
	}
	return out
}

// update takes over the answers of the sources, and reports whether targets have changed.
func (f *Follower) update(now time.Time) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.countFailures(now)
	for name, g := range f.groups {
		before := g.found
		g.update(now, f.synced, f.syncedAt)
		g.logLeftOut(f.logger)
		if !reflect.DeepEqual(before, g.found) {
			changed = true
			f.logger.Info("The targets of a group have changed", "group", name, "found", len(g.found), "before", len(before), "left_out", len(g.leftOut))
		}
	}
	return changed
}

// update takes over the answers of the group's sources. The manager does not tell an empty answer
// from none.
func (g *groupState) update(now time.Time, synced map[string][]*targetgroup.Group, syncedAt time.Time) {
	all, recalled, answered := g.leased(), []fleet.Discovered(nil), true
	early := now.Sub(g.created) < silence || g.isFailing(now)
	for _, set := range g.sets {
		all = append(all, labelsOf(synced[set])...)
		g.heard[set] = g.heard[set] || len(synced[set]) > 0 || !early
		answered = answered && g.heard[set]
	}
	if g.Lease == 0 && len(all) == 0 && early {
		return
	}
	if !answered {
		recalled = g.recalled
	}
	g.answered = g.answered || answered
	found, leftOut := targets(g.Group, all, recalled)
	if len(found) < g.Least {
		g.note(now, fmt.Sprintf("found %d targets, fewer than min_targets, %d", len(found), g.Least))
		if len(found) < len(g.found) {
			return
		}
	} else if !g.isFailing(now) {
		g.note(now, "")
		if answered {
			g.at = syncedAt
		}
	}
	g.accepted, g.recalled, g.found, g.leftOut = all, recalled, found, leftOut
}

// labelsOf returns the labels of each object, without secrets that a server repeats.
func labelsOf(groups []*targetgroup.Group) (all []labels.Labels) {
	for _, g := range groups {
		for _, t := range g.Targets {
			b := labels.NewBuilder(labels.EmptyLabels())
			for _, set := range []model.LabelSet{g.Labels, t} {
				for name, value := range set {
					b.Set(redact.Text(string(name)), redact.Text(string(value)))
				}
			}
			all = append(all, b.Labels())
		}
	}
	return all
}

func (g *groupState) isFailing(now time.Time) bool {
	wait := recovered
	for _, s := range g.Sources {
		interval, _ := fleet.Field[model.Duration](s, "RefreshInterval")
		wait = max(wait, time.Duration(interval)*3/2)
	}
	return !g.failed.IsZero() && now.Sub(g.failed) < wait
}

// note records the present problem of a group, "" for none.
func (g *groupState) note(now time.Time, problem string) {
	if problem == "" || g.problem == "" {
		g.since = now
	}
	g.problem = problem
}

// failureCounters returns the counters of failures, by discovery, that have no label of the set.
func failureCounters() map[string]string {
	return map[string]string{
		"dns": "prometheus_sd_dns_lookup_failures_total", "file": "prometheus_sd_file_read_errors_total",
		"kubernetes": "prometheus_sd_kubernetes_failures_total",
	}
}

// countFailures reads the failures of each group's sources from the metrics of the discoverers.
func (f *Follower) countFailures(now time.Time) {
	families, err := f.registry.Gather()
	if err != nil {
		f.logger.Error("The failures of discoveries cannot be counted", "err", err)
	}
	counted := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			counted[family.GetName()] += m.GetCounter().GetValue()
			for _, l := range m.Label {
				if l.GetName() == "config" && family.GetName() == "prometheus_sd_refresh_failures_total" {
					counted[l.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
	}
	for _, g := range f.groups {
		for i, set := range g.sets {
			kind := g.Sources[i].Name()
			counter := failureCounters()[kind]
			switch {
			case counted[set] > f.counted[set]:
				g.failed = now
				g.note(now, "the discovery fails; the log names the reason")
			case counted[counter] > f.counted[counter]:
				g.failed = now
				g.note(now, fmt.Sprintf("a discovery of the kind %s fails, perhaps that of another group; the log names the reason", kind))
			}
		}
	}
	f.counted = counted
}

// maxLogged bounds the objects of a group that the log names.
const maxLogged = 1000

// logLeftOut logs each object that is newly left out, and one line for all objects beyond max_targets.
func (g *groupState) logLeftOut(logger *slog.Logger) {
	logged, beyond := map[LeftOut]bool{}, 0
	for _, l := range g.leftOut[:min(len(g.leftOut), maxLogged)] {
		if l.Reason == TooMany {
			continue
		}
		if !g.logged[l] && !logged[l] {
			logger.Warn("A discovered object is no target", "group", g.Name(), "object", l.Object, "why", l.Detail)
		}
		logged[l] = true
	}
	for _, l := range g.leftOut {
		if l.Reason == TooMany {
			beyond++
		}
	}
	if key := (LeftOut{Reason: TooMany}); beyond > 0 {
		if !g.logged[key] {
			logger.Warn("A group has more targets than max_targets allows: raise it", "group", g.Name(), "max_targets", g.Most, "left_out", beyond)
		}
		logged[key] = true
	}
	g.logged = logged
}

// Standing is the state of a group.
type Standing struct {
	Name string
	// Found is the number of targets, LeftOut the numbers of other objects by reason.
	Found   int
	LeftOut map[string]int
	// At is when the group last answered without a failure; zero for never.
	At time.Time
	// Failing is the current error, "" without one, and Since its beginning.
	Failing string
	Since   time.Time
	// Leased is true for a group with leases.
	Leased bool
}

// Standings returns the state of each group, by name.
func (f *Follower) Standings() []Standing {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.countFailures(now)
	var out []Standing
	for _, name := range slices.Sorted(maps.Keys(f.groups)) {
		g := f.groups[name]
		s := Standing{Name: name, Found: len(g.found), LeftOut: map[string]int{}, At: g.at, Failing: g.problem, Leased: g.Lease > 0}
		if s.Failing != "" {
			s.Since = g.since
		} else if s.Leased {
			s.At = now
		}
		for _, l := range g.leftOut {
			s.LeftOut[l.Reason]++
		}
		out = append(out, s)
	}
	return out
}
