package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

const (
	// page is the number of objects in one answer to a list.
	page = 500
	// listTimeout bounds one page of a list.
	listTimeout = 30 * time.Second
	// watchTimeout is the shortest duration of a watch. The actual one is up to twice as long,
	// so that the watches of many processes end at different times.
	watchTimeout = 5 * time.Minute
	// leastPause and mostPause bound the pause after a failure.
	leastPause = time.Second
	mostPause  = time.Minute
)

// follower keeps the objects of a resource in a namespace up to date, by a list and a watch.
type follower struct {
	api             dynamic.ResourceInterface
	what, namespace string
	selector        string
	logger          *slog.Logger
	changed         func()

	mu      sync.Mutex
	objects map[string]*unstructured.Unstructured // by namespace/name; nil before the first list
	healthy bool
}

// run follows until ctx is done. The pause after a failure doubles until a watch delivers an
// event; a list alone, which is expensive, does not reset it.
func (f *follower) run(ctx context.Context) {
	pause := leastPause
	version := "" // from which to watch; "" lists first
	for ctx.Err() == nil {
		next, err := f.step(ctx, version)
		if version != "" && (err == nil || next != version) {
			pause = leastPause
		}
		version = next
		if err == nil || ctx.Err() != nil {
			continue
		}
		version = "" // a new list finds what the watch missed
		if !apierrors.IsGone(err) && !apierrors.IsResourceExpired(err) {
			f.fails(err)
		}
		timer := time.NewTimer(pause/2 + rand.N(pause/2))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		pause = min(2*pause, mostPause)
	}
}

// step lists or watches, and returns the version from which to continue.
func (f *follower) step(ctx context.Context, version string) (string, error) {
	if version == "" {
		return f.list(ctx)
	}
	return f.watch(ctx, version)
}

// list reads all objects, page by page.
func (f *follower) list(ctx context.Context) (version string, err error) {
	objects := map[string]*unstructured.Unstructured{}
	options := metav1.ListOptions{LabelSelector: f.selector, Limit: page}
	for {
		answer, err := f.onePage(ctx, options)
		if err != nil {
			return "", fmt.Errorf("listing %s: %w", f.where(), err)
		}
		for i := range answer.Items {
			o := &answer.Items[i]
			objects[keyOf(o)] = slim(o)
		}
		if options.Continue = answer.GetContinue(); options.Continue != "" {
			continue
		}
		if version = answer.GetResourceVersion(); version == "" { // an API that computes its objects may not have one
			return "", fmt.Errorf("listing %s: the list has no version to watch from: name a resource that can be watched", f.where())
		}
		f.take(func() { f.objects = objects })
		return version, nil
	}
}

func (f *follower) onePage(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return f.api.List(ctx, o)
}

// watch applies changes until the API ends the watch, normally after watchTimeout. A watch that
// the API does not end has lost its peer, as through a broken proxy: watch then ends it, and
// the next one reports what was missed.
func (f *follower) watch(ctx context.Context, version string) (string, error) {
	seconds := int64(watchTimeout.Seconds()) + rand.Int64N(int64(watchTimeout.Seconds()))
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+listTimeout)
	defer cancel()
	w, err := f.api.Watch(ctx, metav1.ListOptions{
		LabelSelector: f.selector, ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	})
	if err != nil {
		return version, fmt.Errorf("watching %s: %w", f.where(), err)
	}
	defer w.Stop()
	f.recovered()
	before := version
	for {
		select {
		case <-ctx.Done():
			return version, nil
		case event, open := <-w.ResultChan():
			if !open {
				if version == before && time.Since(began) < leastPause {
					return version, fmt.Errorf("watching %s: %w", f.where(), errClosed)
				}
				return version, nil
			}
			if version, err = f.event(event, version); err != nil {
				return version, fmt.Errorf("watching %s: %w", f.where(), err)
			}
		}
	}
}

var errClosed = errors.New("the connection was closed at once")

// event applies one event, and returns its version.
func (f *follower) event(e watch.Event, version string) (string, error) {
	if e.Type == watch.Error {
		return version, apierrors.FromObject(e.Object)
	}
	o, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return version, fmt.Errorf("an event of type %q has no object", e.Type)
	}
	switch e.Type {
	case watch.Added, watch.Modified:
		f.take(func() { f.objects[keyOf(o)] = slim(o) })
	case watch.Deleted:
		f.take(func() { delete(f.objects, keyOf(o)) })
	}
	return o.GetResourceVersion(), nil
}

// take changes the objects and marks the follower healthy.
func (f *follower) take(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.healthy = true
	f.changed()
}

// recovered logs that the API answers again.
func (f *follower) recovered() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.healthy {
		f.healthy = true
		f.changed()
	}
}

func (f *follower) fails(err error) {
	f.mu.Lock()
	f.healthy = false
	f.mu.Unlock()
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("%w: allow the service account get, list and watch of it", err)
	}
	f.logger.Error("Kubernetes does not tell", "err", err)
}

// state returns the objects, which must not be changed, and whether they are current.
func (f *follower) state() (objects []*unstructured.Unstructured, healthy bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		objects = append(objects, o)
	}
	return objects, f.healthy && f.objects != nil
}

func (f *follower) where() string {
	if f.namespace == "" {
		return f.what + " of all namespaces"
	}
	return f.what + " of namespace " + f.namespace
}

func keyOf(o *unstructured.Unstructured) string { return o.GetNamespace() + "/" + o.GetName() }

// slim drops large parts of an object that expressions do not use.
func slim(o *unstructured.Unstructured) *unstructured.Unstructured {
	o.SetManagedFields(nil)
	unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	return o
}
