// Package discovery follows where targets are: in files, over HTTP, in DNS and in
// Kubernetes as Prometheus' own discovery finds them, or leased by whoever asks for
// their series. It yields plain values; config.Config.Expand makes targets of them.
package discovery

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/model/relabel"

	"synthetic/internal/probe/target"
)

// Group is one place where targets are found, and what they have in common.
type Group struct {
	// Template is what a target has that is not discovered. Its name is the group's,
	// its address is empty.
	Template target.Target
	// Sources say where they are; none means that targets are leased.
	Sources []prom.Config
	// Relabel rewrites what was discovered, as Prometheus does.
	Relabel []*relabel.Config
	// AllowedHosts are patterns of hosts that may be targets; nil allows every one.
	AllowedHosts []string
	// Most is how many targets there are; what comes later in the alphabet is left out.
	Most int
	// Least is how many there have to be for others to go: an answer with fewer
	// removes nothing.
	Least int
	// Lease is for how long a target stays that nobody asks for; 0 where it is not
	// leased.
	Lease time.Duration
	// Address makes an address complete, as that of a target in the file.
	Address Address
}

// Address checks the address of a target and makes it the base URL of its API.
type Address interface {
	Base(text string) (string, error)
}

// Name is the name of the group.
func (g Group) Name() string { return g.Template.Name }

// sameSource reports whether a group is found where another is.
func (g Group) sameSource(o Group) bool {
	return g.Lease > 0 == (o.Lease > 0) && reflect.DeepEqual(g.Sources, o.Sources)
}

// Target is one that was found. Labels are at most target.MaxLabels.
type Target struct {
	Name, BaseURL, Model, Service string
	Labels                        map[string]string
}

// Of is the target as one of its group: what was found stands before what the
// template says.
func (t Target) Of(template target.Target) target.Target {
	out := template
	out.Name, out.BaseURL = template.Name+"/"+t.Name, t.BaseURL
	if t.Model != "" {
		out.Model = t.Model
	}
	if t.Service != "" {
		out.Service = t.Service
	}
	if len(t.Labels) > 0 {
		out.Labels = t.Labels
	}
	return out
}

// allows reports whether a host may be a target: by its name, by *.DOMAIN, or as an
// address in a network; of a port or of a scheme alone, where the pattern has one.
func (g Group) allows(base string) bool {
	if g.AllowedHosts == nil && g.Lease == 0 {
		return true
	}
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(g.AllowedHosts, func(pattern string) bool { return hostMatches(u, pattern) })
}

func hostMatches(u *url.URL, pattern string) bool {
	host := strings.ToLower(u.Hostname())
	if scheme, rest, ok := strings.Cut(pattern, "://"); ok {
		if scheme != u.Scheme {
			return false
		}
		pattern = rest
	}
	if network, err := netip.ParsePrefix(pattern); err == nil {
		ip, err := netip.ParseAddr(host)
		return err == nil && network.Contains(ip.Unmap())
	}
	if name, port, err := net.SplitHostPort(pattern); err == nil {
		if port != cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]) {
			return false
		}
		pattern = name
	}
	if domain, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host, "."+strings.ToLower(domain))
	}
	return pattern == "*" || strings.EqualFold(host, strings.Trim(pattern, "[]"))
}

// Everywhere reports whether a pattern allows hosts of anybody's.
func Everywhere(pattern string) bool {
	bare := bareHost(pattern)
	network, err := netip.ParsePrefix(bare)
	return bare == "*" || err == nil && network.Bits() == 0
}

// bareHost is a pattern without its scheme.
func bareHost(pattern string) string {
	return strings.TrimPrefix(strings.TrimPrefix(pattern, "https://"), "http://")
}

// CheckHost says what is wrong with a pattern of hosts.
func CheckHost(pattern string) error {
	bare := bareHost(pattern)
	if _, err := netip.ParsePrefix(bare); err == nil || bare == "*" {
		return nil
	}
	if bare == "" || strings.HasSuffix(bare, ".") || strings.ContainsAny(strings.TrimPrefix(bare, "*."), "*/@? \t") {
		return fmt.Errorf("is neither a host, nor HOST:PORT, *.DOMAIN, a network such as 10.0.0.0/8 or *, perhaps with https:// before it")
	}
	return nil
}
