package simulate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"synthetic/internal/simulate/cluster"
)

// WorkerHeader is what the router of a Service says in who answered, as llm-d's
// simulator does.
const WorkerHeader = "X-Inference-Pod"

// Service is several deployments behind one router, which gives requests to one
// after the other. Under /replica-3/ it is the fourth of them, without the router.
type Service struct {
	http.Handler
	replicas []*Deployment
	next     atomic.Uint64
}

// NewService returns a service of n replicas, each with the options that of gives
// for its index.
func NewService(n int, of func(i int) Options) *Service {
	s, mux := &Service{}, http.NewServeMux()
	for i := range n {
		d := New(of(i))
		d.sequence = uint64(i) << 32 // draws and ids of its own, though the seed be that of all
		s.replicas = append(s.replicas, d)
		mux.Handle("/"+s.Name(i)+"/", http.StripPrefix("/"+s.Name(i), d))
	}
	mux.HandleFunc("/", s.route)
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		failure(http.StatusNotFound, "NotFoundError", "The router has no metrics; its replicas have: /%s/metrics.", s.Name(0)).write(w, openAIRefusal)
	})
	s.Handler = mux
	return s
}

// route gives a request to the replica whose turn it is.
func (s *Service) route(w http.ResponseWriter, r *http.Request) {
	i := int((s.next.Add(1) - 1) % uint64(len(s.replicas)))
	w.Header().Set(WorkerHeader, s.Name(i))
	s.replicas[i].ServeHTTP(w, r)
}

// Replica is the one of an index, and Name what the router calls it.
func (s *Service) Replica(i int) *Deployment { return s.replicas[i] }

// Name is what the router calls the replica of an index, and its first path element.
func (s *Service) Name(i int) string { return fmt.Sprintf("replica-%d", i) }

// Run is [Deployment.Run] of all replicas.
func (s *Service) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, d := range s.replicas {
		all.Go(func() { d.Run(ctx) })
	}
	all.Wait()
}

// Replicas are the options of n replicas that are alike, but for incidents with
// workers: those befall the replicas of these numbers. It returns what Validate finds
// wrong with the options, whose incidents it counts as they were given.
func (o Options) Replicas(n int) ([]Options, error) {
	every := o
	every.Incidents = slices.Clone(o.Incidents)
	for i, incident := range o.Incidents {
		for _, w := range incident.Workers {
			if w < 0 || w >= n {
				return nil, fmt.Errorf("incident %s: replica %d is not there: give 0 to %d", incident.Kind, w, n-1)
			}
		}
		every.Incidents[i].Workers = nil
	}
	if err := every.Validate(); err != nil {
		return nil, err
	}
	all := make([]Options, n)
	for i := range all {
		all[i] = o.replica(i)
	}
	return all, nil
}

// replica is one of Replicas.
func (o Options) replica(i int) Options {
	if o.Cluster != nil {
		c := *o.Cluster
		c.Seed ^= cluster.Mix(uint64(i))
		o.Cluster = &c
	}
	all := o.Incidents
	o.Incidents = nil
	for _, incident := range all {
		if len(incident.Workers) == 0 || slices.Contains(incident.Workers, i) {
			incident.Workers = nil
			o.Incidents = append(o.Incidents, incident)
		}
	}
	return o
}
