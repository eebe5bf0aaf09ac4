package kubernetes

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// object is a decoded JSON object.
type object = map[string]any

// fakeAPI is a Kubernetes API that answers lists and watches. It is an http.RoundTripper, so that
// it works in virtual time.
type fakeAPI struct {
	mu        sync.Mutex
	version   int
	objects   map[string]map[string]object // by resource, then namespace/name
	watches   map[*io.PipeWriter]watching
	refuse    int  // status of every answer; 0 answers normally
	expired   bool // the next watch is refused as expired
	unwatch   int  // status of every watch; 0 answers normally
	silent    bool // watches get no more events and do not end
	noVersion bool // lists have no version
	lists     int  // number of requests
	watched   int
}

type watching struct {
	resource, namespace string
	selector            labels.Selector
}

func newAPI() *fakeAPI {
	return &fakeAPI{version: 1, objects: map[string]map[string]object{}, watches: map[*io.PipeWriter]watching{}}
}

func (a *fakeAPI) client(t *testing.T) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfigAndClient(&rest.Config{Host: "http://kubernetes", QPS: -1}, &http.Client{Transport: a})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// RoundTrip answers GET /api/VERSION/... and /apis/GROUP/VERSION/...
func (a *fakeAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuse != 0 {
		return answer(a.refuse, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": a.refuse, "reason": map[int]string{403: "Forbidden"}[a.refuse], "message": "refused"}), nil
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	parts = parts[map[string]int{"api": 2, "apis": 3}[parts[0]]:]
	w := watching{resource: parts[len(parts)-1]}
	if parts[0] == "namespaces" {
		w.namespace = parts[1]
	}
	q := r.URL.Query()
	w.selector, _ = labels.Parse(q.Get("labelSelector"))
	if q.Get("watch") == "" {
		return a.list(w, q.Get("limit"), q.Get("continue")), nil
	}
	a.watched++
	if a.expired {
		a.expired = false
		return answer(http.StatusGone, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired", "message": "too old"}), nil
	}
	if a.unwatch != 0 {
		return answer(a.unwatch, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": a.unwatch, "reason": map[int]string{403: "Forbidden", 410: "Gone"}[a.unwatch]}), nil
	}
	body, events := io.Pipe()
	a.watches[events] = w
	go func() {
		<-r.Context().Done()
		_ = events.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r}, nil
}

// list returns a page of two objects.
func (a *fakeAPI) list(w watching, limit, from string) *http.Response {
	a.lists++
	var items []object
	for _, key := range slices.Sorted(maps.Keys(a.objects[w.resource])) {
		if o := a.objects[w.resource][key]; w.selects(o) {
			items = append(items, o)
		}
	}
	start, _ := strconv.Atoi(from)
	meta := object{"resourceVersion": fmt.Sprint(a.version)}
	if a.noVersion {
		meta = object{}
	}
	if end := start + 2; limit != "" && end < len(items) {
		meta["continue"] = fmt.Sprint(end)
		items = items[:end]
	}
	return answer(200, object{"kind": "List", "apiVersion": "v1", "metadata": meta, "items": append([]object{}, items[start:]...)})
}

func (w watching) selects(o object) bool {
	meta := o["metadata"].(object)
	set := labels.Set{}
	own, _ := meta["labels"].(object)
	for k, v := range own {
		set[k] = v.(string)
	}
	return (w.namespace == "" || meta["namespace"] == w.namespace) && (w.selector == nil || w.selector.Matches(set))
}

// put adds or changes an object; gone removes one.
func (a *fakeAPI) put(resource string, o object)  { a.change(resource, "MODIFIED", o) }
func (a *fakeAPI) gone(resource string, o object) { a.change(resource, "DELETED", o) }

func (a *fakeAPI) change(resource, event string, o object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	meta := o["metadata"].(object)
	meta["resourceVersion"] = fmt.Sprint(a.version)
	if a.objects[resource] == nil {
		a.objects[resource] = map[string]object{}
	}
	key := fmt.Sprint(meta["namespace"], "/", meta["name"])
	if a.objects[resource][key] = o; event == "DELETED" {
		delete(a.objects[resource], key)
	}
	a.send(object{"type": event, "object": o}, func(w watching) bool { return w.resource == resource && w.selects(o) })
}

// send sends an event to watches. The caller holds mu.
func (a *fakeAPI) send(event object, to func(watching) bool) {
	if a.silent {
		return
	}
	line, _ := json.Marshal(event)
	for events, w := range a.watches {
		if to(w) {
			if _, err := events.Write(append(line, '\n')); err != nil {
				delete(a.watches, events)
			}
		}
	}
}

// bookmark sends the version to all watches.
func (a *fakeAPI) bookmark() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	a.send(object{"type": "BOOKMARK", "object": object{"kind": "Pod", "apiVersion": "v1", "metadata": object{"resourceVersion": fmt.Sprint(a.version)}}}, func(watching) bool { return true })
}

// cut breaks the connections of all watches.
func (a *fakeAPI) cut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for events := range a.watches {
		_ = events.CloseWithError(io.ErrUnexpectedEOF)
	}
	clear(a.watches)
}

// gone410 ends all watches with the error for an expired version.
func (a *fakeAPI) gone410() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.send(object{"type": "ERROR", "object": object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired"}}, func(watching) bool { return true })
}

// set calls f under the lock.
func (a *fakeAPI) set(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

func answer(status int, body object) *http.Response {
	text, _ := json.Marshal(body)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(text)))}
}

// pod is a pod, ready or not.
func pod(namespace, name, app, ip string, ready bool) object {
	return object{
		"kind": "Pod", "apiVersion": "v1",
		"metadata": object{"namespace": namespace, "name": name, "labels": object{"app": app}},
		"spec":     object{"containers": []any{object{"ports": []any{object{"containerPort": 8000}}}}},
		"status":   object{"podIP": ip, "conditions": []any{object{"type": "Ready", "status": map[bool]string{true: "True", false: "False"}[ready]}}},
	}
}
