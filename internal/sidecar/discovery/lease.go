package discovery

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
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
	// caller is the address of the client that asked last; "" if it had a password or certificate.
	caller string
}

// LeaseRequest is a request for the series of a target.
type LeaseRequest struct {
	Module, Address string
	// Caller is the address of the client, without its port.
	Caller string
	// Authenticated means that the client has shown a password or a certificate. Others lease only
	// hosts that allowed_hosts names exactly, and one address at most half of max_targets.
	Authenticated bool
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

// Lease grants or renews the lease of a target, and returns the target's name. A target whose turns
// have all failed is not renewed, and gives way to another one: to one of its name at once, to others if
// max_targets are leased. Errors are RefusedErrors.
func (f *Follower) Lease(r LeaseRequest) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.groups[r.Module]
	if g == nil || g.Lease == 0 {
		return "", refused(http.StatusBadRequest, "there is no module %.100q: write a group of discovery that has a lease, one of %v", r.Module, f.modules())
	}
	base, err := g.Address.Base(r.Address)
	if err != nil {
		return "", refused(http.StatusBadRequest, "target: %v", err)
	}
	name, err := f.admit(g, base, r)
	if err != nil {
		return "", err
	}
	full := r.Module + "/" + name
	l := g.leases[name]
	if l != nil && l.base != base { // it has only failed
		delete(g.leases, name)
		l = nil
	}
	if l == nil {
		if err := f.makeRoom(g, r); err != nil {
			return "", err
		}
		l = &lease{base: base, end: time.Now().Add(g.Lease)}
		g.leases[name] = l
		poke(f.dirty)
	}
	if l.caller = r.Caller; r.Authenticated {
		l.caller = ""
	}
	if !f.onlyFailed(full, base) {
		l.end = time.Now().Add(g.Lease)
	}
	return full, nil
}

// admit returns the name of the target, or an error if it may not be leased. A reload may have
// changed the settings since the lease began.
func (f *Follower) admit(g *groupState, base string, r LeaseRequest) (string, error) {
	t, kept, out := targetOf(g.Group, leasedLabels(base))
	switch known := g.leases[t.Name]; {
	case out != nil && out.Reason == BadHost:
		return "", refused(http.StatusForbidden, "the module may not probe this host: add it to allowed_hosts of its group in discovery")
	case out != nil:
		return "", refused(http.StatusBadRequest, "%s", out.Detail)
	case !kept:
		return "", refused(http.StatusForbidden, "relabel_configs of the module drop this target")
	case !r.Authenticated && !g.NamesHost(t.BaseURL):
		return "", refused(http.StatusForbidden, "allowed_hosts of the module matches this host by a pattern, and the request has no password or client certificate: "+
			"name the host exactly in allowed_hosts, or set basic_auth_users or client certificates in --web.config.file and scrape with them")
	case !hasNamedPath(base):
		return "", refused(http.StatusBadRequest, "each part of the path of the target must begin with a letter, a digit or _ and have no semicolon: other spellings of an address would take its name")
	case known != nil && known.base != base && !f.onlyFailed(r.Module+"/"+t.Name, known.base):
		return "", refused(http.StatusConflict, "the target would have the name %q, which %s already has: relabel one of them", t.Name, known.base)
	}
	return t.Name, nil
}

// namedPath matches paths whose parts are all in the name of their target.
var namedPath = regexp.MustCompile(`^(/[a-zA-Z0-9_][^/;]*)*$`)

func hasNamedPath(base string) bool {
	u, err := url.Parse(base)
	return err == nil && namedPath.MatchString(u.Path)
}

// makeRoom returns an error if the module or the caller has too many leases. If the module has, the
// lease that ends first among the targets whose turns have all failed gives way.
func (f *Follower) makeRoom(g *groupState, r LeaseRequest) error {
	held, failing := 0, ""
	for name, l := range g.leases {
		if !r.Authenticated && l.caller == r.Caller {
			held++
		}
		if f.onlyFailed(r.Module+"/"+name, l.base) && (failing == "" || l.end.Before(g.leases[failing].end)) {
			failing = name
		}
	}
	switch half := (g.Most + 1) / 2; {
	case held >= half:
		return refused(http.StatusServiceUnavailable, "this address already leases %d targets, half of the module's max_targets: raise it, or scrape with a password or client certificate of --web.config.file", held)
	case len(g.leases) < g.Most:
	case failing == "":
		return refused(http.StatusServiceUnavailable, "the module already leases %d targets, its max_targets: raise it, or wait until leases end", g.Most)
	default:
		delete(g.leases, failing)
		f.logger.Warn("A lease gave way to another target: no turn of the target has succeeded, and max_targets are leased", "module", r.Module, "target", failing, "max_targets", g.Most)
	}
	return nil
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
				f.logger.Info("A lease ended: the series of the target were not requested any more, or no turn of it has succeeded", "module", name, "target", target)
				poke(f.dirty)
			}
		}
	}
}
