package discovery

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// lease keeps a target while its series are requested.
type lease struct {
	base string // the address
	end  time.Time
}

// RefusedError is the reason for a refused lease, with its HTTP status.
type RefusedError struct {
	Status int
	Reason string
}

func (e RefusedError) Error() string { return e.Reason }

func refused(status int, format string, args ...any) error {
	return RefusedError{status, fmt.Sprintf(format, args...)}
}

// Lease renews the lease of the target at address, with the settings of the module, and returns
// its name. Errors are RefusedErrors.
func (f *Follower) Lease(module, address string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.groups[module]
	if g == nil || g.Lease == 0 {
		return "", refused(http.StatusBadRequest, "there is no module %.100q: write a group of discovery that has a lease, one of %v", module, f.modules())
	}
	base, err := g.Address.Base(address)
	if err != nil {
		return "", refused(http.StatusBadRequest, "target: %v", err)
	}
	name, err := g.admit(base)
	if err != nil {
		return "", err
	}
	if g.leases[name] == nil {
		g.leases[name] = &lease{base: base}
		poke(f.dirty)
	}
	g.leases[name].end = time.Now().Add(g.Lease)
	return module + "/" + name, nil
}

// admit returns the name of the target, or an error if it may not be leased. A reload may have
// changed the settings since the lease began.
func (g *groupState) admit(base string) (string, error) {
	t, kept, out := g.target(leasedLabels(base))
	switch known := g.leases[t.Name]; {
	case out != nil && out.Reason == BadHost:
		return "", refused(http.StatusForbidden, "the module may not probe this host: add it to allowed_hosts of its group in discovery")
	case out != nil:
		return "", refused(http.StatusBadRequest, "%s", out.Detail)
	case !kept:
		return "", refused(http.StatusForbidden, "relabel_configs of the module drop this target")
	case known != nil && known.base != base:
		return "", refused(http.StatusConflict, "the target would have the name %q, which %s already has: relabel one of them", t.Name, known.base)
	case known == nil && len(g.leases) >= g.Most:
		return "", refused(http.StatusServiceUnavailable, "the module already leases %d targets, its max_targets: raise it, or wait until leases end", g.Most)
	}
	return t.Name, nil
}

// Leased returns a function that reports whether a target belongs to a group with leases. Its
// series are then shown to the requests that lease it only, also while its last turns end.
func (f *Follower) Leased() func(target string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	modules := f.modules()
	return func(target string) bool {
		name, _, derived := strings.Cut(target, "/")
		return derived && slices.Contains(modules, name)
	}
}

func (f *Follower) modules() []string {
	names := slices.Sorted(maps.Keys(f.groups))
	return slices.DeleteFunc(names, func(n string) bool { return f.groups[n].Lease == 0 })
}

func leasedLabels(base string) labels.Labels { return labels.FromStrings(model.AddressLabel, base) }

func (g *groupState) leased() []labels.Labels {
	var out []labels.Labels
	for _, l := range g.leases {
		out = append(out, leasedLabels(l.base))
	}
	return out
}

// expire removes the targets whose lease was not renewed in time by a request of /probe.
func (f *Follower) expire(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, g := range f.groups {
		for target, l := range g.leases {
			if !l.end.After(now) {
				delete(g.leases, target)
				f.logger.Info("A lease ended: the series of the target were not requested any more", "module", name, "target", target)
				poke(f.dirty)
			}
		}
	}
}
