package simulate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

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

// Kinds of complete answers that are wrong.
const (
	Exclamations   IncidentKind = "exclamations"
	Repetition     IncidentKind = "repetition"
	WrongScript    IncidentKind = "wrong_script"
	OtherModel     IncidentKind = "other_model"
	BaseModel      IncidentKind = "base_model"
	Drift          IncidentKind = "drift"
	BadArguments   IncidentKind = "bad_arguments"
	ToolMarkup     IncidentKind = "tool_markup"
	Buffered       IncidentKind = "buffered"
	NewFingerprint IncidentKind = "new_fingerprint"
)

// incidentKind says which fields a kind needs. In its words, SHARE, FACTOR and WORKERS stand for
// values.
type incidentKind struct {
	name          IncidentKind
	share, factor bool
	words         string
}

// incidentKinds returns all kinds. If the shares of several kinds exceed 1, the first kinds win.
func incidentKinds() []incidentKind {
	return []incidentKind{
		{cluster.SlowPrefill, false, true, "prefill takes FACTOR times as long"},
		{cluster.SlowDecode, false, true, "decoding takes FACTOR times as long"},
		{cluster.SlowNetwork, false, true, "the network takes FACTOR times as long"},
		{cluster.Acceptance, false, true, "drafts are accepted FACTOR times as often"},
		{cluster.Hang, false, false, "requests to WORKERS get no answer"},
		{cluster.WorkerLoss, false, false, "the requests of WORKERS fail, and no others go there"},
		{cluster.ColdCache, false, false, "the prefix cache of WORKERS is emptied"},
		{ErrorStatus, true, false, "SHARE of the requests get status 500"},
		{BusyStatus, true, false, "SHARE of the requests get status 429"},
		{NoAnswer, true, false, "SHARE of the requests are never answered"},
		{CutStream, true, false, "SHARE of the answers are cut off"},
		{StallStream, true, false, "SHARE of the answers stop in mid-stream"},
		{ErrorEvent, true, false, "SHARE of the answers end with an error event"},
		{Exclamations, true, false, "SHARE of the answers are exclamation marks"},
		{Repetition, true, false, "SHARE of the answers repeat a few words"},
		{WrongScript, true, false, "SHARE of the answers are in another script"},
		{OtherModel, true, false, "SHARE of the answers have the text and the name of another model"},
		{BaseModel, true, false, "SHARE of the answers of an adapter are from its base model"},
		{Drift, true, true, "SHARE of the answers have log-probabilities that are off by FACTOR"},
		{NewFingerprint, true, false, "SHARE of the answers have another system_fingerprint"},
		{BadArguments, true, false, "SHARE of the tool calls have arguments that are not JSON"},
		{ToolMarkup, true, false, "SHARE of the tool calls are markup in the text"},
		{Buffered, true, false, "SHARE of the streams arrive in one burst at their end"},
	}
}

// IncidentKinds returns all kinds in alphabetical order.
func IncidentKinds() []IncidentKind {
	var names []IncidentKind
	for _, k := range incidentKinds() {
		names = append(names, k.name)
	}
	slices.Sort(names)
	return names
}

func (i Incident) kind() (k incidentKind, known bool) {
	all := incidentKinds()
	n := slices.IndexFunc(all, func(k incidentKind) bool { return k.name == i.Kind })
	if n < 0 {
		return k, false
	}
	return all[n], true
}

// Incident is a fault with a schedule. The factors of overlapping incidents are multiplied; their
// shares are added.
type Incident struct {
	Kind IncidentKind
	// At is the time since the start of the deployment. For is the duration; 0 means no end.
	At, For time.Duration
	// Workers are the numbers of the affected workers, from 0; empty means all. Only kinds of cluster
	// have workers. For [Options.Replicas] they are replicas, and every kind can have them.
	Workers []int
	// Factor is that of a slow-down or of the acceptance of drafts. For Drift it is the standard
	// deviation of the noise that is added to each log-probability.
	Factor float64
	// Share is the share of the requests, from 0 to 1.
	Share float64
}

// String describes the incident, as in "prefill takes 4 times as long for 5m".
func (i Incident) String() string {
	workers := "all workers"
	switch len(i.Workers) {
	case 0:
	case 1:
		workers = fmt.Sprintf("worker %d", i.Workers[0])
	default:
		workers = "workers " + strings.Trim(strings.ReplaceAll(fmt.Sprint(i.Workers), " ", ", "), "[]")
	}
	kind, _ := i.kind()
	words := kind.words
	if kind.factor && len(i.Workers) > 0 {
		words += " on WORKERS"
	}
	if i.For > 0 {
		words += " for " + model.Duration(i.For).String()
	}
	return strings.NewReplacer("SHARE", fmt.Sprintf("%g %%", 100*i.Share), "FACTOR", fmt.Sprint(i.Factor), "WORKERS", workers).Replace(words)
}

// validate checks an incident. hasCluster says whether the deployment has a cluster.
func (i Incident) validate(hasCluster bool) error {
	kind, known := i.kind()
	switch {
	case !known:
		return fmt.Errorf("kind %q is unknown", i.Kind)
	case i.At < 0 || i.For < 0:
		return fmt.Errorf("it starts at %v and lasts %v: neither may be negative", i.At, i.For)
	case !kind.share && !hasCluster:
		return errors.New("it needs a cluster: set one")
	case !kind.share:
		return nil // the cluster checks the rest
	case !(i.Share > 0 && i.Share <= 1):
		return fmt.Errorf("its share of the requests is %v: give a number above 0, at most 1", i.Share)
	case kind.factor && !(i.Factor > 0):
		return fmt.Errorf("its factor is %v: give a number above 0", i.Factor)
	case len(i.Workers) > 0:
		return errors.New("it affects requests, not workers: leave the workers out")
	}
	return nil
}

// clusterFaults returns the incidents that affect a cluster, in its own time. The cluster starts at
// the time born after the start of the deployment, and its clock then shows lead. Incidents that
// ended before born are left out.
func (o Options) clusterFaults(born, lead time.Duration) []cluster.Fault {
	var all []cluster.Fault
	for _, i := range o.Incidents {
		f := cluster.Fault{Kind: i.Kind, At: i.At - born, For: i.For, Workers: i.Workers, Factor: i.Factor}
		ended := f.At < 0 && (i.Kind == cluster.ColdCache || f.For > 0 && f.At+f.For <= 0)
		if kind, _ := i.kind(); kind.share || ended {
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

// drawFault draws the incident of a request. The result has no kind if there is none.
func (o Options) drawFault(elapsed time.Duration, r *rand.Rand) Incident {
	u := r.Float64()
	for _, kind := range incidentKinds() {
		sum := Incident{Kind: kind.name}
		for _, i := range o.Incidents {
			if kind.share && i.Kind == kind.name && elapsed >= i.At && (i.For == 0 || elapsed < i.At+i.For) {
				sum.Share += i.Share
				sum.Factor = max(sum.Factor, i.Factor)
			}
		}
		if u < sum.Share {
			return sum
		}
		u -= sum.Share
	}
	return Incident{}
}

// ParseIncident parses an incident as users write it: its kind, then any of at, for, workers, factor
// and share, as in "slow_prefill,at=1m,for=5m,factor=4,workers=0+2" or "http_500,share=0.2".
func ParseIncident(text string) (Incident, error) {
	parts := strings.Split(text, ",")
	i := Incident{Kind: IncidentKind(parts[0])}
	kind, known := i.kind()
	if !known {
		return i, fmt.Errorf("incident %q: there is no kind %q; give one of %v", text, i.Kind, IncidentKinds())
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if err := i.set(key, value); err != nil {
			return i, fmt.Errorf("incident %q: %s: %w", text, part, err)
		}
	}
	switch {
	case kind.factor && i.Factor == 0 && i.Kind != cluster.Acceptance:
		return i, fmt.Errorf("incident %q: it lacks a factor: add for example factor=4", text)
	case kind.share && i.Share == 0:
		return i, fmt.Errorf("incident %q: it lacks a share of the requests: add for example share=0.2", text)
	case !kind.factor && i.Factor != 0:
		return i, fmt.Errorf("incident %q: this kind has no factor: leave it out", text)
	case !kind.share && i.Share != 0:
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
