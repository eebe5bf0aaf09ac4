package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/simulate/cluster"
)

// IncidentKind says what an Incident does.
type IncidentKind string

// Kinds that befall a cluster: they need Options.Cluster.
const (
	// SlowPrefill and SlowDecode multiply what a step's prefill and decode take
	// by Factor, SlowNetwork the delays of the frontend.
	SlowPrefill = IncidentKind(cluster.SlowPrefill)
	SlowDecode  = IncidentKind(cluster.SlowDecode)
	SlowNetwork = IncidentKind(cluster.SlowNetwork)
	// AcceptanceCollapse multiplies the acceptance of drafts by Factor.
	AcceptanceCollapse = IncidentKind(cluster.Acceptance)
	// WorkerHang lets workers begin no step: they take requests and stay silent.
	WorkerHang = IncidentKind(cluster.Hang)
	// WorkerLoss ends workers with all they hold. They come back empty.
	WorkerLoss = IncidentKind(cluster.WorkerLoss)
	// ColdCache empties prefix caches, once.
	ColdCache = IncidentKind(cluster.ColdCache)
)

// Kinds that befall a Share of the requests: see Faults.
const (
	ErrorStatus IncidentKind = "http_500"
	BusyStatus  IncidentKind = "http_429"
	NoAnswer    IncidentKind = "no_answer"
	CutStream   IncidentKind = "cut"
	StallStream IncidentKind = "stall"
	ErrorEvent  IncidentKind = "error_event"
)

// incidentWords says of each kind what happens, for people: one %s stands for
// the factor or the share.
func incidentWords() map[IncidentKind]string {
	return map[IncidentKind]string{
		SlowPrefill:        "prefill takes %s times as long",
		SlowDecode:         "decoding takes %s times as long",
		SlowNetwork:        "the network takes %s times as long",
		AcceptanceCollapse: "drafts are accepted %s times as often",
		WorkerHang:         "nothing comes from %s, though requests go there",
		WorkerLoss:         "all that was on %s is lost, and nothing goes there",
		ColdCache:          "the prefix cache of %s is emptied",
		ErrorStatus:        "%s of the requests get status 500",
		BusyStatus:         "%s of the requests get status 429",
		NoAnswer:           "%s of the requests are never answered",
		CutStream:          "%s of the answers are cut off",
		StallStream:        "%s of the answers stop in mid-stream",
		ErrorEvent:         "%s of the answers end with an error event",
	}
}

// Incident is a fault with a schedule. Incidents that overlap add up: factors
// multiply, shares add.
type Incident struct {
	Kind IncidentKind
	// At is when it begins, from the deployment's start; For is how long it
	// lasts, 0 for ever.
	At, For time.Duration
	// Workers are the numbers, from 0, of those affected; none means all. Only
	// for the kinds that befall a cluster.
	Workers []int
	// Factor is that of a slow-down or of AcceptanceCollapse.
	Factor float64
	// Share of the requests, from 0 to 1, for the kinds that have one.
	Share float64
}

// String says what happens, as in "prefill takes 4 times as long for 5m".
func (i Incident) String() string {
	words := incidentWords()[i.Kind]
	switch {
	case i.shared():
		words = fmt.Sprintf(words, fmt.Sprintf("%g %%", 100*i.Share))
	case i.hasFactor():
		words = fmt.Sprintf(words, fmt.Sprint(i.Factor))
		if len(i.Workers) > 0 {
			words += " on " + i.where()
		}
	default:
		words = fmt.Sprintf(words, i.where())
	}
	if i.For > 0 {
		words += " for " + short(i.For)
	}
	return words
}

// short is a duration without zeros at its end: 5m, not 5m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// where names the workers.
func (i Incident) where() string {
	switch len(i.Workers) {
	case 0:
		return "all workers"
	case 1:
		return fmt.Sprintf("worker %d", i.Workers[0])
	}
	return "workers " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(i.Workers)), ", "), "[]")
}

// hasFactor says whether the kind befalls a cluster by a factor.
func (i Incident) hasFactor() bool {
	return slices.Contains([]IncidentKind{SlowPrefill, SlowDecode, SlowNetwork, AcceptanceCollapse}, i.Kind)
}

// activeAt says whether an incident goes on.
func (i Incident) activeAt(t time.Duration) bool {
	return t >= i.At && (i.For == 0 || t < i.At+i.For)
}

// validate returns what is wrong with an incident of a deployment whose
// requests are served by a cluster or not.
func (i Incident) validate(clustered bool) error {
	_, known := incidentWords()[i.Kind]
	switch {
	case !known:
		return fmt.Errorf("kind %q is unknown", i.Kind)
	case i.At < 0 || i.For < 0:
		return fmt.Errorf("it begins at %v and lasts %v: neither may be negative", i.At, i.For)
	case i.shared() && !(i.Share > 0 && i.Share <= 1):
		return fmt.Errorf("its share of the requests is %v: give a number above 0, at most 1", i.Share)
	case i.shared() && len(i.Workers) > 0:
		return errors.New("it befalls requests, not workers: leave the workers out")
	case !i.shared() && !clustered:
		return errors.New("it befalls a cluster: set one")
	}
	return nil // a cluster checks the rest
}

// clusterFaults are the incidents that befall a cluster, for one that comes to
// life some time after the deployment's start: what is over by then is left
// out. Its own time is ahead by lead.
func (o Options) clusterFaults(born, lead time.Duration) []cluster.Fault {
	var all []cluster.Fault
	for _, i := range o.Incidents {
		f := cluster.Fault{Kind: cluster.FaultKind(i.Kind), At: i.At - born, For: i.For, Workers: i.Workers, Factor: i.Factor}
		over := f.At < 0 && (i.Kind == ColdCache || f.For > 0 && f.At+f.For <= 0)
		if i.shared() || over {
			continue
		}
		if f.At < 0 && f.For > 0 {
			f.For += f.At
		}
		f.At = max(f.At, 0) + lead
		all = append(all, f)
	}
	return all
}
