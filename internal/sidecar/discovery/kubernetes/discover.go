package kubernetes

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/util/strutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	// settleTime is the time for which changes are collected.
	settleTime = 200 * time.Millisecond
	// repeatInterval is the time between two answers without changes. They show that the
	// discovery works.
	repeatInterval = time.Minute
)

type discoverer struct {
	expressions
	objects, joined []*follower
	logger          *slog.Logger
	changed         chan struct{}
}

func (d *discoverer) poke() {
	select {
	case d.changed <- struct{}{}:
	default: // Run has not yet handled the last change
	}
}

// Run implements discovery.Discoverer. It sends nothing while the API refuses a resource or a
// namespace, so that the group keeps the targets of its last complete answer.
func (d *discoverer) Run(ctx context.Context, up chan<- []*targetgroup.Group) {
	var following sync.WaitGroup
	defer following.Wait()
	for _, f := range slices.Concat(d.objects, d.joined) {
		following.Go(func() { f.run(ctx) })
	}
	repeat := time.NewTicker(repeatInterval)
	defer repeat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-repeat.C:
		case <-d.changed:
			if !sleep(ctx, settleTime) {
				return
			}
		}
		if targets, ok := d.targets(); ok {
			select {
			case <-ctx.Done():
				return
			case up <- []*targetgroup.Group{{Source: "kubernetes", Targets: targets}}:
			}
		}
	}
}

// sleep waits, and reports whether ctx is still in force.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// targets returns the targets of all objects, and false until all lists are complete.
func (d *discoverer) targets() (out []model.LabelSet, complete bool) {
	objects, complete := stateOf(d.objects)
	joined, joinComplete := stateOf(d.joined)
	if !complete || !joinComplete {
		return nil, false
	}
	return d.makeTargets(objects, joined), true
}

// Find returns the targets of objects, joined with others of With.Resource.
func (c Config) Find(objects, joined []*unstructured.Unstructured) ([]model.LabelSet, error) {
	e, err := c.compile()
	if err != nil {
		return nil, err
	}
	d := &discoverer{expressions: e, logger: slog.New(slog.DiscardHandler)}
	return d.makeTargets(objects, joined), nil
}

func (d *discoverer) makeTargets(objects, joined []*unstructured.Unstructured) (out []model.LabelSet) {
	byNamespace := map[string][]*unstructured.Unstructured{}
	for _, o := range joined {
		byNamespace[o.GetNamespace()] = append(byNamespace[o.GetNamespace()], o)
	}
	for _, o := range objects {
		for _, with := range d.partners(o, byNamespace) {
			out = append(out, d.targetsOf(o, with)...)
		}
	}
	return out
}

// stateOf returns the objects of all followers, and false unless all are current.
func stateOf(followers []*follower) (all []*unstructured.Unstructured, current bool) {
	for _, f := range followers {
		objects, current := f.state()
		if !current {
			return nil, false
		}
		for _, o := range objects {
			all = append(all, o.(*unstructured.Unstructured))
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return all, true
}

func keyOf(o *unstructured.Unstructured) string { return o.GetNamespace() + "/" + o.GetName() }

// partners returns the objects to join with o: a single nil without a join.
func (d *discoverer) partners(o *unstructured.Unstructured, byNamespace map[string][]*unstructured.Unstructured) (out []*unstructured.Unstructured) {
	if !d.join {
		return []*unstructured.Unstructured{nil}
	}
	namespace, _ := d.joinNamespace.text(o.Object)
	if namespace == "" {
		namespace = o.GetNamespace()
	}
	name, _ := d.joinName.text(o.Object)
	mapping, _ := d.joinSelector.labels(o.Object)
	selector := labels.SelectorFromSet(mapping)
	for _, other := range byNamespace[namespace] {
		named := name != "" && other.GetName() == name
		selected := len(mapping) > 0 && selector.Matches(labels.Set(other.GetLabels()))
		if named || selected {
			out = append(out, other)
		}
	}
	return out
}

// targetsOf returns the targets of an object and its partner, one for each address.
func (d *discoverer) targetsOf(o, with *unstructured.Unstructured) (out []model.LabelSet) {
	if o.GetDeletionTimestamp() != nil || with != nil && with.GetDeletionTimestamp() != nil {
		return nil
	}
	data := maps.Clone(o.Object)
	if with != nil {
		data["with"] = with.Object
	}
	if when, err := d.when.text(data); d.when != nil && (err != nil || slices.Contains([]string{"", "False", "false", "Unknown"}, when)) {
		return nil
	}
	urls, err := d.url.text(data)
	if err != nil {
		d.logger.Warn("The addresses of an object cannot be read", "object", keyOf(o), "err", err)
		return nil
	}
	common := d.common(o, with, data)
	for i, u := range strings.Fields(urls) {
		u = bracketed(u)
		t := maps.Clone(common)
		// The name of one of several targets must not depend on the others.
		if t["base_url"] = model.LabelValue(u); d.multipleURLs || i > 0 {
			host := u[strings.Index(u, "//")+1:]
			t["name"] += model.LabelValue("." + strings.Trim(host, "/"))
		}
		out = append(out, t)
	}
	return out
}

// bracketed adds brackets around the IPv6 address of a URL: objects hold addresses without them.
// The last part counts as the port if the text before it is an address.
func bracketed(u string) string {
	scheme, rest, _ := strings.Cut(u, "://")
	host, _, _ := strings.Cut(rest, "/")
	for _, end := range []int{max(0, strings.LastIndexByte(host, ':')), len(host)} {
		if ip, err := netip.ParseAddr(host[:end]); err == nil && ip.Is6() {
			return scheme + "://[" + host[:end] + "]" + rest[end:]
		}
	}
	return u
}

func (d *discoverer) common(o, with *unstructured.Unstructured, data map[string]any) model.LabelSet {
	l := model.LabelSet{"name": model.LabelValue(o.GetNamespace() + "." + o.GetName())}
	meta(l, "", o)
	if with != nil {
		l["name"] += model.LabelValue("." + with.GetName())
		meta(l, "with_", with)
	}
	for name, e := range d.labels {
		if text, err := e.text(data); err == nil && text != "" {
			l[model.LabelName(name)] = model.LabelValue(text)
		}
	}
	return l
}

// meta adds the labels for relabelling, with Prometheus' names.
func meta(l model.LabelSet, prefix string, o *unstructured.Unstructured) {
	const kubernetes = model.MetaLabelPrefix + "kubernetes_"
	add := func(name, value string) {
		l[model.LabelName(kubernetes+prefix+name)] = model.LabelValue(value)
	}
	add("kind", o.GetKind())
	add("namespace", o.GetNamespace())
	add("name", o.GetName())
	for k, v := range o.GetLabels() {
		add("label_"+strutil.SanitizeLabelName(k), v)
	}
	for k, v := range o.GetAnnotations() {
		add("annotation_"+strutil.SanitizeLabelName(k), v)
	}
	if text := images(o); text != "" {
		add("images", text)
	}
}

// images returns the images of the containers of a pod or of an object with a pod template, separated by spaces.
func images(o *unstructured.Unstructured) string {
	containers, found, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "containers")
	if !found {
		containers, _, _ = unstructured.NestedFieldNoCopy(o.Object, "spec", "template", "spec", "containers")
	}
	list, _ := containers.([]any)
	var all []string
	for _, c := range list {
		if fields, ok := c.(map[string]any); ok {
			image, _ := fields["image"].(string)
			all = append(all, image)
		}
	}
	return strings.Join(all, " ")
}
