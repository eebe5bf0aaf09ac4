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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// pageSize is the number of objects in one answer to a list.
	pageSize = 500
	// listTimeout bounds the request for one page of a list.
	listTimeout = 30 * time.Second
	// leastPause and mostPause bound the pause before the next list.
	leastPause = time.Second
	mostPause  = time.Minute
)

// follower keeps the objects of a resource in a namespace up to date. A reflector of client-go
// lists and watches them.
type follower struct {
	api                 dynamic.ResourceInterface
	resource, namespace string
	selector            string
	logger              *slog.Logger
	changed             func()

	mu      sync.Mutex
	objects []any // nil before the first list
	healthy bool
}

// run follows until ctx is done. The reflector lists once, and then watches until something
// fails. The pause before the next list doubles, until a watch has lasted.
func (f *follower) run(ctx context.Context) {
	source := listWatch{&cache.ListWatch{ListWithContextFunc: f.list, WatchFuncWithContext: f.watch}}
	store := &cache.UndeltaStore{Store: cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithTransformer(slim)), PushFunc: f.replace}
	reflector := cache.NewReflectorWithOptions(source, nil, store, cache.ReflectorOptions{Name: f.resource})
	reflector.WatchListPageSize = pageSize
	ctx = klog.NewContext(ctx, klog.Logger{}) // which logs nothing
	for pause := leastPause; ctx.Err() == nil; pause = min(2*pause, mostPause) {
		began := time.Now()
		_ = reflector.ListAndWatchWithContext(ctx) // failed has logged the error
		if time.Since(began) > mostPause {
			pause = leastPause
		}
		sleep(ctx, pause/2+rand.N(pause/2))
	}
}

// listWatch makes the reflector list before it watches, which every version of the API allows.
type listWatch struct{ *cache.ListWatch }

func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

var errNoVersion = errors.New("the list has no version to watch from: name a resource that can be watched")

// list requests one page. The API returns pages only without a resource version.
func (f *follower) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	limited, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	o.LabelSelector, o.ResourceVersion = f.selector, ""
	page, err := f.api.List(limited, o)
	if err == nil && page.GetResourceVersion() == "" { // the API computes these objects
		err = errNoVersion
	}
	if err != nil {
		return nil, f.failed(ctx, "listing", err)
	}
	for i := range page.Items {
		_, _ = slim(&page.Items[i])
	}
	return page, nil
}

// watch starts a watch, which the API should end after o.TimeoutSeconds. A watch that goes on
// has lost its peer, as behind a broken proxy; it is ended, and the next watch reports what was
// missed.
func (f *follower) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	limited, cancel := context.WithTimeout(ctx, time.Duration(*o.TimeoutSeconds)*time.Second+listTimeout)
	o.LabelSelector = f.selector
	w, err := f.api.Watch(limited, o)
	if err != nil {
		cancel()
		return nil, f.failed(ctx, "watching", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.healthy {
		f.healthy = true
		f.changed()
	}
	return boundedWatch{w, cancel}, nil
}

// boundedWatch releases the timeout of a watch that ends earlier.
type boundedWatch struct {
	watch.Interface
	cancel context.CancelFunc
}

func (w boundedWatch) Stop() {
	w.Interface.Stop()
	w.cancel()
}

func (f *follower) replace(objects []any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects, f.healthy = objects, true
	f.changed()
}

// failed logs an error with its remedy and returns it. An expired version is no failure: the
// reflector lists again.
func (f *follower) failed(ctx context.Context, action string, err error) error {
	if ctx.Err() != nil || apierrors.IsGone(err) || apierrors.IsResourceExpired(err) {
		return err
	}
	f.mu.Lock()
	f.healthy = false
	f.mu.Unlock()
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("%w: allow the service account get, list and watch of it", err)
	}
	place := "namespace " + f.namespace
	if f.namespace == "" {
		place = "all namespaces"
	}
	f.logger.Error("Cannot read from the Kubernetes API", "err", fmt.Errorf("%s %s of %s: %w", action, f.resource, place, err))
	return err
}

// state returns the objects, which must not be changed, and whether they are current.
func (f *follower) state() (objects []any, current bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.objects, f.healthy && f.objects != nil
}

// slim drops large parts of an object that expressions do not use.
func slim(object any) (any, error) {
	o := object.(*unstructured.Unstructured)
	o.SetManagedFields(nil)
	unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	return o, nil
}
