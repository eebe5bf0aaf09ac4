// Package kubernetes finds targets in the objects of a Kubernetes API: any resource,
// custom ones included, by a list and a watch of its own over the dynamic client.
// Informers and typed clients would do the same for twenty megabytes more.
package kubernetes

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	prom "github.com/prometheus/prometheus/discovery"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Config says which objects are targets. The expressions are JSONPath templates, as
// of kubectl -o jsonpath, over the object, and what it is joined with as .with.
type Config struct {
	// Resource is RESOURCE.VERSION.GROUP, RESOURCE.VERSION for the core group.
	Resource string
	// Namespaces are those to look in; nil means all, an empty one that of the process.
	Namespaces []string
	// Selector is a selector of labels.
	Selector string
	// URL gives the addresses of the targets, separated by spaces.
	URL string
	// When gives neither "", "False" nor "Unknown" for an object that is a target
	// now; "" is every object.
	When string
	// Labels are expressions for labels of the targets, name, model and service
	// among them; one that gives nothing is no label.
	Labels map[string]string
	// With joins each object with others; nil with none.
	With *Join
	// Kubeconfig is a file, of which the current context is used; "" means the
	// service account of the pod, or what kubectl would use.
	Kubeconfig string
}

// Join says which objects of another resource one goes with: those that a mapping of
// labels in it selects, in its namespace, or the one of a name.
type Join struct {
	// Resource is as that of a Config.
	Resource string
	// Selector is an expression for the mapping of labels, Name and Namespace for
	// those of one object, whose namespace is its own unless it says another.
	Selector, Name, Namespace string
}

// Name implements discovery.Config.
func (*Config) Name() string { return "kubernetes" }

// LabelNames are the labels that targets are given.
func (c *Config) LabelNames() []string { return slices.Collect(maps.Keys(c.Labels)) }

// NewDiscovererMetrics implements discovery.Config: there are none.
func (*Config) NewDiscovererMetrics(prometheus.Registerer, prom.RefreshMetricsInstantiator) prom.DiscovererMetrics {
	return &prom.NoopDiscovererMetrics{}
}

// NewDiscoverer implements discovery.Config.
func (c *Config) NewDiscoverer(o prom.DiscovererOptions) (prom.Discoverer, error) {
	access, namespace, err := c.access()
	if err != nil {
		return nil, fmt.Errorf("finding the Kubernetes API: %w", err)
	}
	access.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(access)
	if err != nil {
		return nil, fmt.Errorf("finding the Kubernetes API: %w", err)
	}
	return newDiscoverer(*c, client, namespace, o.Logger)
}

// access says how the API is reached, and which namespace is the process's own.
func (c *Config) access() (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	access, err := loader.ClientConfig()
	if err != nil {
		return nil, "", err
	}
	namespace, _, err := loader.Namespace()
	return access, namespace, err
}

// ParseResource reads RESOURCE.VERSION or RESOURCE.VERSION.GROUP.
func ParseResource(text string) (schema.GroupVersionResource, error) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 || parts[0] == "" || !strings.HasPrefix(parts[1], "v") || parts[0] != strings.ToLower(parts[0]) {
		return schema.GroupVersionResource{}, fmt.Errorf("is not RESOURCE.VERSION.GROUP in the plural")
	}
	r := schema.GroupVersionResource{Resource: parts[0], Version: parts[1]}
	if len(parts) == 3 {
		r.Group = parts[2]
	}
	return r, nil
}

// CheckSelector says what is wrong with a selector of labels.
func CheckSelector(text string) error {
	_, err := labels.Parse(text)
	return err
}

// newDiscoverer prepares the watches of c.
func newDiscoverer(c Config, client dynamic.Interface, own string, logger *slog.Logger) (*discoverer, error) {
	e, err := c.compile()
	if err != nil {
		return nil, err
	}
	d := &discoverer{expressions: e, logger: logger, changed: make(chan struct{}, 1)}
	namespaces := c.Namespaces
	if namespaces == nil {
		namespaces = []string{allNamespaces}
	}
	for _, n := range namespaces {
		if n == "" {
			n = own
		}
		if n == allNamespaces {
			n = ""
		}
		if err := d.watch(client, c.Resource, n, c.Selector, &d.objects); err != nil {
			return nil, err
		}
		if c.With == nil {
			continue
		}
		if c.With.Namespace != "" {
			continue // which may be anywhere
		}
		if err := d.watch(client, c.With.Resource, n, "", &d.joined); err != nil {
			return nil, err
		}
	}
	if c.With != nil && c.With.Namespace != "" {
		return d, d.watch(client, c.With.Resource, "", "", &d.joined)
	}
	return d, nil
}

// allNamespaces stands for all of them among Namespaces.
const allNamespaces = "*"

// watch adds the watch of a resource in a namespace, "" for all.
func (d *discoverer) watch(client dynamic.Interface, resource, namespace, selector string, into *[]*follower) error {
	r, err := ParseResource(resource)
	if err != nil {
		return fmt.Errorf("resource: %q %w", resource, err)
	}
	f := &follower{
		api: client.Resource(r).Namespace(namespace), what: resource, namespace: namespace,
		selector: selector, logger: d.logger, changed: d.poke,
	}
	*into = append(*into, f)
	return nil
}
