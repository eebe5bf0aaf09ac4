package fleet

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

	promconfig "github.com/prometheus/common/config"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/model/relabel"

	"synthetic/internal/probe/target"
)

// Group is a set of discovered targets with common settings.
type Group struct {
	// Template holds the settings that are not discovered. It has the name of the group and no
	// address.
	Template target.Target
	// Sources are the service discoveries. None means that targets are leased.
	Sources []prom.Config
	// Relabel rewrites discovered labels, as in Prometheus.
	Relabel []*relabel.Config
	// AllowedHosts are patterns of hosts that may be targets; nil allows every host.
	AllowedHosts []string
	// Most is the largest number of targets. The first in alphabetical order are used.
	Most int
	// Least is the smallest expected number of targets. An answer with fewer removes no targets.
	Least int
	// Lease is how long a leased target stays after its last request; 0 without leases.
	Lease time.Duration
	// Address completes the address of a target.
	Address Address
}

// Address checks the address of a target and returns the base URL of its API.
type Address interface {
	Base(text string) (string, error)
}

func (g Group) Name() string { return g.Template.Name }

// HTTPClient returns the configuration of a source's HTTP client, if it has one.
func HTTPClient(s prom.Config) (promconfig.HTTPClientConfig, bool) {
	return Field[promconfig.HTTPClientConfig](s, "HTTPClientConfig")
}

// Field returns a field that several kinds of sources have.
func Field[T any](s prom.Config, name string) (value T, ok bool) {
	v := reflect.Indirect(reflect.ValueOf(s))
	if v.Kind() != reflect.Struct || !v.FieldByName(name).IsValid() {
		return value, false
	}
	value, ok = v.FieldByName(name).Interface().(T)
	return value, ok
}

// Discovered is a discovered target, with at most target.MaxLabels labels.
type Discovered struct {
	Name, BaseURL, Model, Service string
	Labels                        map[string]string
}

// Of returns the target with the settings of a template. Discovered values take precedence.
func (t Discovered) Of(template target.Target) target.Target {
	out := template
	out.Name, out.BaseURL = template.Name+"/"+t.Name, t.BaseURL
	out.Model, out.Service = cmp.Or(t.Model, template.Model), cmp.Or(t.Service, template.Service)
	if len(t.Labels) > 0 {
		out.Labels = t.Labels
	}
	return out
}

// Allows reports whether the host of a base URL matches one of the patterns: a name, *.DOMAIN or a
// network, perhaps with a port or a scheme.
func (g Group) Allows(base string) bool {
	return g.AllowedHosts == nil && g.Lease == 0 || anyMatches(g.AllowedHosts, base)
}

// NamesHost reports whether AllowedHosts has the host of a base URL itself.
func (g Group) NamesHost(base string) bool {
	return anyMatches(slices.DeleteFunc(slices.Clone(g.AllowedHosts), matchesMany), base)
}

func matchesMany(pattern string) bool { return strings.ContainsAny(bareHost(pattern), "*/") }

func anyMatches(patterns []string, base string) bool {
	u, err := url.Parse(base)
	return err == nil && slices.ContainsFunc(patterns, func(pattern string) bool { return hostMatches(u, pattern) })
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

// Everywhere reports whether a pattern allows every host.
func Everywhere(pattern string) bool {
	bare := bareHost(pattern)
	network, err := netip.ParsePrefix(bare)
	return bare == "*" || err == nil && network.Bits() == 0
}

func bareHost(pattern string) string {
	return strings.TrimPrefix(strings.TrimPrefix(pattern, "https://"), "http://")
}

// CheckHost returns an error for an invalid host pattern.
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
