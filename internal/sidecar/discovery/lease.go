package discovery

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// lease keeps a target that somebody asks for.
type lease struct {
	name string // of the target, with that of its module before it
	end  time.Time
}

// RefusedError says why no target is leased, and what HTTP calls that.
type RefusedError struct {
	Status int
	Reason string
}

func (e RefusedError) Error() string { return e.Reason }

func refused(status int, format string, args ...any) error {
	return RefusedError{status, fmt.Sprintf(format, args...)}
}

// Lease keeps the target at address, as the module has them, for the module's lease
// from now on, and returns its name. An error is a RefusedError.
func (f *Follower) Lease(module, address string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.groups[module]
	if one == nil || one.group.Lease == 0 {
		return "", refused(http.StatusBadRequest, "there is no module %.100q: write modules of the configuration, of which there are %v", module, f.modules())
	}
	base, err := one.group.Address.Base(address)
	if err != nil {
		return "", refused(http.StatusBadRequest, "target: %v", err)
	}
	end := time.Now().Add(one.group.Lease)
	if known := one.leases[base]; known != nil {
		known.end = end
		return known.name, nil
	}
	name, err := one.admit(base)
	if err != nil {
		return "", err
	}
	one.leases[base] = &lease{module + "/" + name, end}
	poke(f.dirty)
	return module + "/" + name, nil
}

// admit says what a target that is not leased yet is called, or why it may not be.
func (one *followed) admit(base string) (string, error) {
	t, kept, out := one.group.target(leasedLabels(base))
	switch {
	case out != nil && out.Reason == BadHost:
		return "", refused(http.StatusForbidden, "the module may not ask this host: add it to modules[].allowed_hosts of the configuration")
	case out != nil:
		return "", refused(http.StatusBadRequest, "%s", out.Detail)
	case !kept:
		return "", refused(http.StatusForbidden, "relabel_configs of the module drop this target")
	case len(one.leases) >= one.group.Most:
		return "", refused(http.StatusServiceUnavailable, "the module has max_targets, %d, under lease: raise it, or wait until leases end", one.group.Most)
	}
	for other, l := range one.leases {
		if l.name == one.group.Name()+"/"+t.Name {
			return "", refused(http.StatusConflict, "the target would have the name %q, as %s has: relabel one of them", t.Name, other)
		}
	}
	return t.Name, nil
}

// Leased reports whether a target is of a module: its series are told to who leases it.
func (f *Follower) Leased() func(target string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := map[string]bool{}
	for _, one := range f.groups {
		if one.group.Lease == 0 {
			continue
		}
		for _, t := range one.found {
			names[one.group.Name()+"/"+t.Name] = true
		}
	}
	return func(target string) bool { return names[target] }
}

// modules lists the names of those that there are.
func (f *Follower) modules() []string {
	names := slices.Sorted(maps.Keys(f.groups))
	return slices.DeleteFunc(names, func(n string) bool { return f.groups[n].group.Lease == 0 })
}

func leasedLabels(base string) labels.Labels { return labels.FromStrings(model.AddressLabel, base) }

// leased are the labels of the targets under lease.
func (one *followed) leased() []labels.Labels {
	var out []labels.Labels
	for _, base := range slices.Sorted(maps.Keys(one.leases)) {
		out = append(out, leasedLabels(base))
	}
	return out
}

// nextExpiry is told when the next lease ends; stop frees its timer.
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

// expire ends the leases that are over.
func (f *Follower) expire(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, one := range f.groups {
		for base, l := range one.leases {
			if !l.end.After(now) {
				delete(one.leases, base)
				f.options.Logger.Info("A lease ended: nobody asked for the target", "module", name, "target", l.name)
				poke(f.dirty)
			}
		}
	}
}
