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

// lease keeps a target that somebody requests.
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
	one := f.groups[module]
	if one == nil || one.group.Lease == 0 {
		return "", refused(http.StatusBadRequest, "there is no module %.100q: write a group of discovery that has a lease, one of %v", module, f.modules())
	}
	base, err := one.group.Address.Base(address)
	if err != nil {
		return "", refused(http.StatusBadRequest, "target: %v", err)
	}
	name, err := one.admit(base)
	if err != nil {
		return "", err
	}
	if one.leases[name] == nil {
		one.leases[name] = &lease{base: base}
		poke(f.dirty)
	}
	one.leases[name].end = time.Now().Add(one.group.Lease)
	return module + "/" + name, nil
}

// admit returns the name of the target, or why it may not be leased. It uses the current
// settings, which may differ from those at the last scrape.
func (one *followed) admit(base string) (string, error) {
	t, kept, out := one.group.target(leasedLabels(base))
	switch known := one.leases[t.Name]; {
	case out != nil && out.Reason == BadHost:
		return "", refused(http.StatusForbidden, "the module may not ask this host: add it to allowed_hosts of its group in discovery")
	case out != nil:
		return "", refused(http.StatusBadRequest, "%s", out.Detail)
	case !kept:
		return "", refused(http.StatusForbidden, "relabel_configs of the module drop this target")
	case known != nil && known.base != base:
		return "", refused(http.StatusConflict, "the target would have the name %q, as %s has: relabel one of them", t.Name, known.base)
	case known == nil && len(one.leases) >= one.group.Most:
		return "", refused(http.StatusServiceUnavailable, "the module has max_targets, %d, under lease: raise it, or wait until leases end", one.group.Most)
	}
	return t.Name, nil
}

// Leased returns a function that reports whether a target is leased. Only its lease shows its
// series, also while its last turns end.
func (f *Follower) Leased() func(target string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	modules := f.modules()
	return func(target string) bool {
		name, _, derived := strings.Cut(target, "/")
		return derived && slices.Contains(modules, name)
	}
}

// modules returns the names of the groups with leases.
func (f *Follower) modules() []string {
	names := slices.Sorted(maps.Keys(f.groups))
	return slices.DeleteFunc(names, func(n string) bool { return f.groups[n].group.Lease == 0 })
}

func leasedLabels(base string) labels.Labels { return labels.FromStrings(model.AddressLabel, base) }

// leased returns the labels of the leased targets.
func (one *followed) leased() []labels.Labels {
	var out []labels.Labels
	for _, l := range one.leases {
		out = append(out, leasedLabels(l.base))
	}
	return out
}

// nextExpiry returns a channel that fires when the next lease ends. stop frees its timer.
func (f *Follower) nextExpiry(now time.Time) (expiry <-chan time.Time, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var next time.Time
	for _, one := range f.groups {
		for _, l := range one.leases {
			if next.IsZero() || l.end.Before(next) {
				next = l.end
			}
		}
	}
	if next.IsZero() {
		return nil, func() {}
	}
	timer := time.NewTimer(next.Sub(now))
	return timer.C, func() { timer.Stop() }
}

// expire ends old leases.
func (f *Follower) expire(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, one := range f.groups {
		for target, l := range one.leases {
			if !l.end.After(now) {
				delete(one.leases, target)
				f.options.Logger.Info("A lease ended: nobody asked for the target", "module", name, "target", target)
				poke(f.dirty)
			}
		}
	}
}
