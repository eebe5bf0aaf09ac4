package status

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/siblings"
	"synthetic/internal/sidecar/sink"
)

const (
	// leastSiblings is the smallest number of replicas that are compared.
	leastSiblings = 3
	// servicesShown bounds the services on one page, replicasShown the replicas of each.
	servicesShown, replicasShown = 3, 64
	// barEnd is the ratio at the end of the bars.
	barEnd = 4
)

// kin identifies the replicas that are compared with each other.
type kin struct{ Service, Role, Workload, Door string }

// service holds the replicas of one kin, worst first.
type service struct {
	kin
	Replicas []replica
	// number of replicas that are not shown
	More int
	// named is true if the query names one of them.
	named bool
	worst float64 // score of its replicas
}

// replica is a replica on the page: its ratios by index of sink.Signals, the larger one of
// first and follow-up turns.
type replica struct {
	Name, Path string
	State      state
	Times      []multiple
	Failed     share
	score      float64
}

// services returns the services of the targets that a query names, worst first.
func services(views []siblings.View, query url.Values) []service {
	out := slices.DeleteFunc(grouped(views, query), func(s service) bool { return !s.named || len(s.Replicas) < leastSiblings })
	for i := range out {
		s := &out[i]
		slices.SortStableFunc(s.Replicas, func(a, b replica) int { return cmp.Compare(b.score, a.score) })
		s.worst = s.Replicas[0].score
		s.More = max(0, len(s.Replicas)-replicasShown)
		s.Replicas = s.Replicas[:len(s.Replicas)-s.More]
		slices.SortStableFunc(s.Replicas, func(a, b replica) int { return a.State.rank() - b.State.rank() })
	}
	slices.SortStableFunc(out, func(a, b service) int { return cmp.Compare(b.worst, a.worst) })
	return out[:min(len(out), servicesShown)]
}

func grouped(views []siblings.View, query url.Values) (out []service) {
	places := map[kin]int{}
	for _, v := range views {
		k := kin{Service: v.Service, Role: v.Role, Workload: v.Workload}
		if v.Worker != "" {
			k.Door = v.Target
		}
		i, ok := places[k]
		if !ok {
			i = len(out)
			places[k], out = i, append(out, service{kin: k})
		}
		out[i].Replicas = append(out[i].Replicas, replicaOf(v))
		out[i].named = out[i].named || matches(query, v.Target, v.Workload)
	}
	return out
}

func replicaOf(v siblings.View) replica {
	r := replica{
		Name: cmp.Or(v.Worker, v.Target), State: state{"good", "as its siblings"}, score: v.Score,
		Times: make([]multiple, len(sink.Signals())), Failed: share(v.Failed),
	}
	if v.Worker == "" {
		r.Path = "./?" + url.Values{"target": {v.Target}, "workload": {v.Workload}}.Encode()
	}
	known := false
	for k := range probe.TurnKinds() {
		for i := range r.Times {
			if m := multiple(v.Ratios[k][i]); m.V > r.Times[i].V {
				r.Times[i], known = m, true
			}
		}
	}
	switch {
	case v.Score >= 1:
		r.State = state{"bad", "unlike its siblings"}
	case !known:
		r.State = state{"unknown", "not compared now"}
	}
	return r
}

func (s service) Title() string {
	title := strings.TrimSpace("Replicas of " + s.Service + " " + s.Role)
	if s.Door != "" {
		title += " behind " + s.Door
	}
	return title
}
