// Package kubernetes finds targets in objects of a Kubernetes API, of any resource. It follows
// them with client-go's reflector over the dynamic client. Dynamic informers or typed clients
// would add about 20 MB to the program.
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

	"synthetic/internal/probe/target"
)

// Config selects the objects that are targets. Expressions are JSONPath templates, as for
// kubectl -o jsonpath, over the object; the object joined with it is .with.
type Config struct {
	// Resource is RESOURCE.VERSION.GROUP, or RESOURCE.VERSION for the core group.
	Resource string
	// Namespaces to look in; nil means all. "" in the list means the namespace of this process.
	Namespaces []string
	// Selector is a label selector.
	Selector string
	// URL returns the addresses of the targets, separated by spaces.
	URL string
	// When is an expression for whether an object is a target now: "", "False" and "Unknown" mean
	// no. Without When every object is.
	When string
	// Labels are expressions for labels of the targets, including name, model and service. An
	// empty result sets no label.
	Labels map[string]string
	// With joins each object with others; nil joins nothing.
	With *Join
	// Kubeconfig is a file whose current context is used; "" means the service account of the
	// pod, or the default of kubectl.
	Kubeconfig string
}

// Join selects objects of another resource for each object: in its namespace by a mapping of
// labels, or one by name.
type Join struct {
	// Resource as in Config.
	Resource string
	// Selector is an expression for the mapping of labels. Name and Namespace are expressions
	// for one object; the default is the namespace of the first object.
	Selector, Name, Namespace string
}

// Name implements discovery.Config.
func (*Config) Name() string { return "kubernetes" }

// LabelNames returns the labels that targets get.
func (c *Config) LabelNames() []string { return slices.Collect(maps.Keys(c.Labels)) }

// NewDiscovererMetrics implements discovery.Config. The discoverer has no metrics.
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
	access.Wrap(target.RememberSent) // errors may repeat the token
	client, err := dynamic.NewForConfig(access)
	if err != nil {
		return nil, fmt.Errorf("finding the Kubernetes API: %w", err)
	}
	return newDiscoverer(*c, client, namespace, o.Logger)
}

// access returns how to reach the API, and the namespace of this process.
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

// ParseResource parses RESOURCE.VERSION or RESOURCE.VERSION.GROUP.
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

// CheckSelector returns an error for an invalid label selector.
func CheckSelector(text string) error {
	_, err := labels.Parse(text)
	return err
}

// newDiscoverer prepares the watches of c. own is the namespace of this process.
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
		switch n {
		case "":
			n = own
		case allNamespaces:
			n = ""
		}
		if err := d.watch(client, c.Resource, n, c.Selector, &d.objects); err != nil {
			return nil, err
		}
		if c.With == nil || c.With.Namespace != "" {
			continue
		}
		if err := d.watch(client, c.With.Resource, n, "", &d.joined); err != nil {
			return nil, err
		}
	}
	if c.With != nil && c.With.Namespace != "" { // the joined object may be in any namespace
		return d, d.watch(client, c.With.Resource, "", "", &d.joined)
	}
	return d, nil
}

// allNamespaces among Namespaces means all of them.
const allNamespaces = "*"

// watch adds a follower of a resource in a namespace ("" means all) to followers.
func (d *discoverer) watch(client dynamic.Interface, resource, namespace, selector string, followers *[]*follower) error {
	r, err := ParseResource(resource)
	if err != nil {
		return fmt.Errorf("resource: %q %w", resource, err)
	}
	*followers = append(*followers, &follower{
		api: client.Resource(r).Namespace(namespace), resource: resource, namespace: namespace,
		selector: selector, logger: d.logger, changed: d.poke,
	})
	return nil
}
