package simulate

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// WorkerHeader is what the router of a Service says in who answered, as llm-d's
// simulator does.
const WorkerHeader = "X-Inference-Pod"

// Service is several deployments behind one router, which gives requests to one
// after the other. Under /replica-3/ it is the fourth of them, without the router.
type Service struct {
	replicas []*Deployment
	next     atomic.Uint64
}

// NewService returns a service of n replicas, each with the options that of gives
// for its index.
func NewService(n int, of func(i int) Options) *Service {
	s := &Service{}
	for i := range n {
		s.replicas = append(s.replicas, New(of(i)))
	}
	return s
}

// Replica is the one of an index, and Name what the router calls it.
func (s *Service) Replica(i int) *Deployment { return s.replicas[i] }

// Name is what the router calls the replica of an index, and its first path element.
func (s *Service) Name(i int) string { return fmt.Sprintf("replica-%d", i) }

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for i, d := range s.replicas {
		if prefix := "/" + s.Name(i); strings.HasPrefix(r.URL.Path, prefix+"/") {
			http.StripPrefix(prefix, d).ServeHTTP(w, r)
			return
		}
	}
	i := int((s.next.Add(1) - 1) % uint64(len(s.replicas)))
	w.Header().Set(WorkerHeader, s.Name(i))
	s.replicas[i].ServeHTTP(w, r)
}

// Slowed are the options of a deployment without a cluster that takes so many times
// as long.
func (o Options) Slowed(by float64) Options {
	d := o.withDefaults()
	o.FirstToken.Median, o.InterToken.Median, o.Prefill = slower(d.FirstToken.Median, by), slower(d.InterToken.Median, by), slower(d.Prefill, by)
	return o
}

func slower(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
