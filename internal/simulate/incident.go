package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/simulate/cluster"
)

// IncidentKind says what an Incident does. The kinds of cluster need Options.Cluster. The kinds below
// affect a Share of the requests.
type IncidentKind = cluster.FaultKind

// Kinds that fail requests.
const (
	// ErrorStatus and BusyStatus answer at once with that status.
	ErrorStatus IncidentKind = "http_500"
	BusyStatus  IncidentKind = "http_429"
	// NoAnswer accepts the request and never answers.
	NoAnswer IncidentKind = "no_answer"
	// CutStream closes the connection in mid-stream.
	CutStream IncidentKind = "cut"
	// StallStream stops in mid-stream and keeps the connection open.
	StallStream IncidentKind = "stall"
	// ErrorEvent sends an error event inside a stream with status 200.
	ErrorEvent IncidentKind = "error_event"
)

// Foreign gives the answer of another recent conversation. Without one, the answer is right.
const Foreign IncidentKind = "foreign"

// shareKinds returns the kinds that affect a share of the requests. If the shares exceed 1 together,
// the first kinds win.
func shareKinds() []IncidentKind {
	return []IncidentKind{
		ErrorStatus, BusyStatus, NoAnswer, CutStream, StallStream, ErrorEvent, Foreign,
	}
}

// IncidentKinds returns all kinds in alphabetical order.
func IncidentKinds() []IncidentKind {
	all := append(shareKinds(), cluster.SlowPrefill, cluster.SlowDecode, cluster.Hang, cluster.WorkerLoss)
	slices.Sort(all)
	return all
}

// Incident is a fault with a schedule. The factors of overlapping incidents are multiplied; their
// shares are added.
type Incident struct {
	Kind IncidentKind
	// At is the time since the start of the deployment. For is the duration; 0 means no end.
	At, For time.Duration
	// Workers are the numbers of the affected workers, from 0; empty means all. Only kinds of cluster
	// have workers.
	Workers []int
	// Factor multiplies a duration.
	Factor float64
	// Share is the share of the requests, from 0 to 1.
	Share float64
}

func (i Incident) hasShare() bool { return slices.Contains(shareKinds(), i.Kind) }

func (i Incident) hasFactor() bool {
	return i.Kind == cluster.SlowPrefill || i.Kind == cluster.SlowDecode
}

// validate checks an incident of a deployment with a number of workers, 0 without a cluster.
func (i Incident) validate(workers int) error {
	wrongWorker := slices.IndexFunc(i.Workers, func(w int) bool { return w < 0 || w >= workers })
	switch {
	case !slices.Contains(IncidentKinds(), i.Kind):
		return fmt.Errorf("kind %q is unknown", i.Kind)
	case i.At < 0 || i.For < 0:
		return fmt.Errorf("it starts at %v and lasts %v: neither may be negative", i.At, i.For)
	case i.hasShare() && !(i.Share > 0 && i.Share <= 1):
		return fmt.Errorf("its share of the requests is %v: give a number above 0, at most 1", i.Share)
	case i.hasShare() && len(i.Workers) > 0:
		return errors.New("it affects requests, not workers: leave the workers out")
	case !i.hasShare() && workers == 0:
		return errors.New("it needs an engine with workers: add for example --preset=phase0")
	case wrongWorker >= 0:
		return fmt.Errorf("there is no worker %d: give 0 to %d", i.Workers[wrongWorker], workers-1)
	case !(i.Factor >= 0 && i.Factor <= 1e6) || i.Factor == 0 && i.hasFactor():
		return fmt.Errorf("its factor is %v: give a number above 0, at most 1e6", i.Factor)
	}
	return nil
}

// clusterFaults returns the incidents that affect a cluster, whose clock shows lead at the start of the
// deployment.
func (o Options) clusterFaults(lead time.Duration) []cluster.Fault {
	var all []cluster.Fault
	for _, i := range o.Incidents {
		if !i.hasShare() {
			all = append(all, cluster.Fault{Kind: i.Kind, At: i.At + lead, For: i.For, Workers: i.Workers, Factor: i.Factor})
		}
	}
	return all
}

// drawFault draws the fault of a request; "" for none.
func (o Options) drawFault(elapsed time.Duration, r *rand.Rand) IncidentKind {
	u := r.Float64()
	for _, kind := range shareKinds() {
		for _, i := range o.Incidents {
			if i.Kind != kind || elapsed < i.At || i.For > 0 && elapsed >= i.At+i.For {
				continue
			}
			if u -= i.Share; u < 0 {
				return kind
			}
		}
	}
	return ""
}

// defaultFactor is the factor of an incident that names none.
const defaultFactor = 4

// ParseIncident parses an incident as users write it: its kind, then any of at, for, workers, factor
// and share, as in "slow_prefill,at=1m,for=5m,factor=4,workers=0+2" or "http_500,share=0.2". Without a share
// it affects every request.
func ParseIncident(text string) (Incident, error) {
	parts := strings.Split(text, ",")
	i := Incident{Kind: IncidentKind(parts[0])}
	if !slices.Contains(IncidentKinds(), i.Kind) {
		return i, fmt.Errorf("incident %q: there is no kind %q; give one of %v", text, i.Kind, IncidentKinds())
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if err := i.set(key, value); err != nil {
			return i, fmt.Errorf("incident %q: %s: %w", text, part, err)
		}
	}
	switch {
	case i.hasFactor():
		i.Factor = cmp.Or(i.Factor, defaultFactor)
	case i.hasShare():
		i.Share = cmp.Or(i.Share, 1)
	}
	switch {
	case !i.hasFactor() && i.Factor != 0:
		return i, fmt.Errorf("incident %q: this kind has no factor: leave it out", text)
	case !i.hasShare() && i.Share != 0:
		return i, fmt.Errorf("incident %q: this kind has no share of the requests: leave it out", text)
	}
	return i, nil
}

func (i *Incident) set(key, value string) (err error) {
	switch key {
	case "at":
		i.At, err = time.ParseDuration(value)
	case "for":
		i.For, err = time.ParseDuration(value)
	case "factor":
		i.Factor, err = strconv.ParseFloat(value, 64)
	case "share":
		i.Share, err = strconv.ParseFloat(value, 64)
	case "workers":
		for w := range strings.SplitSeq(value, "+") {
			n, err := strconv.Atoi(w)
			if err != nil {
				return errors.New("workers are numbers from 0, as in workers=0+2")
			}
			i.Workers = append(i.Workers, n)
		}
	default:
		return fmt.Errorf("there is no key %q; give at, for, workers, factor or share", key)
	}
	if err != nil {
		return errors.New("invalid value; write for example at=1m, factor=4 or share=0.2")
	}
	return nil
}
