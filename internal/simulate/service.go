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

// WorkerHeader is the response header in which the router of a Service names the replica, as the
// simulator of llm-d does.
const WorkerHeader = "X-Inference-Pod"

// Service is a router and several deployments, which it uses in turn. Replica 3 is also at
// /replica-3/, without the router.
type Service struct {
	http.Handler
	replicas []*Deployment
	next     atomic.Uint64
}

// NewService returns a service of n replicas. options returns the options of a replica.
func NewService(n int, options func(i int) Options) *Service {
	s, mux := &Service{}, http.NewServeMux()
	for i := range n {
		d := New(options(i))
		d.requests = uint64(i) << 32 // gives each replica its own draws and IDs if all have one seed
		s.replicas = append(s.replicas, d)
		mux.Handle("/"+replicaName(i)+"/", http.StripPrefix("/"+replicaName(i), d))
	}
	mux.HandleFunc("/", s.route)
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		newError(http.StatusNotFound, "NotFoundError", "The router has no metrics. Its replicas have metrics: /%s/metrics.", replicaName(0)).
			write(w, openAIError)
	})
	s.Handler = mux
	return s
}

func (s *Service) route(w http.ResponseWriter, r *http.Request) {
	i := int((s.next.Add(1) - 1) % uint64(len(s.replicas)))
	w.Header().Set(WorkerHeader, replicaName(i))
	s.replicas[i].ServeHTTP(w, r)
}

// Replica returns a replica.
func (s *Service) Replica(i int) *Deployment { return s.replicas[i] }

func replicaName(i int) string { return fmt.Sprintf("replica-%d", i) }

// Run calls [Deployment.Run] of all replicas and waits for them.
func (s *Service) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, d := range s.replicas {
		all.Go(func() { d.Run(ctx) })
	}
	all.Wait()
}

// Replicas returns the options of n equal replicas. The workers of an incident are the replicas that
// it affects. It returns the error of Validate for invalid options.
func (o Options) Replicas(n int) ([]Options, error) {
	checked := o
	checked.Incidents = slices.Clone(o.Incidents)
	for i, incident := range o.Incidents {
		for _, w := range incident.Workers {
			if w < 0 || w >= n {
				return nil, fmt.Errorf("incident %s: there is no replica %d: give 0 to %d", incident.Kind, w, n-1)
			}
		}
		checked.Incidents[i].Workers = nil
	}
	if err := checked.Validate(); err != nil {
		return nil, err
	}
	all := make([]Options, n)
	for i := range all {
		all[i] = o.replica(i)
	}
	return all, nil
}

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
