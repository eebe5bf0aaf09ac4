package simulate

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/simulate/cluster"
)

// IncidentKind says what an Incident does: one of those below, which befall a
// share of the requests, or of a cluster's, which need Options.Cluster.
type IncidentKind = cluster.FaultKind

// Kinds that befall a Share of the requests.
const (
	// ErrorStatus and BusyStatus answer at once with that status.
	ErrorStatus IncidentKind = "http_500"
	BusyStatus  IncidentKind = "http_429"
	// NoAnswer accepts the request and never answers, until the client goes.
	NoAnswer IncidentKind = "no_answer"
	// CutStream closes the connection in mid-stream.
	CutStream IncidentKind = "cut"
	// StallStream stops in mid-stream and keeps the connection, until the client goes.
	StallStream IncidentKind = "stall"
	// ErrorEvent sends an error event inside a stream of status 200.
	ErrorEvent IncidentKind = "error_event"
)

// Kinds that befall a Share of the answers, which come in time and are wrong.
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

// incidentKind says what a kind takes and what happens, for people: one %s
// stands for the factor or the share, or else for the workers; with both, the
// share comes first.
type incidentKind struct {
	factor, share bool
	words         string
}

func incidentKinds() map[IncidentKind]incidentKind {
	return map[IncidentKind]incidentKind{
		cluster.SlowPrefill: {factor: true, words: "prefill takes %s times as long"},
		cluster.SlowDecode:  {factor: true, words: "decoding takes %s times as long"},
		cluster.SlowNetwork: {factor: true, words: "the network takes %s times as long"},
		cluster.Acceptance:  {factor: true, words: "drafts are accepted %s times as often"},
		cluster.Hang:        {words: "nothing comes from %s, though requests go there"},
		cluster.WorkerLoss:  {words: "all that was on %s is lost, and nothing goes there"},
		cluster.ColdCache:   {words: "the prefix cache of %s is emptied"},
		ErrorStatus:         {share: true, words: "%s of the requests get status 500"},
		BusyStatus:          {share: true, words: "%s of the requests get status 429"},
		NoAnswer:            {share: true, words: "%s of the requests are never answered"},
		CutStream:           {share: true, words: "%s of the answers are cut off"},
		StallStream:         {share: true, words: "%s of the answers stop in mid-stream"},
		ErrorEvent:          {share: true, words: "%s of the answers end with an error event"},
		Exclamations:        {share: true, words: "%s of the answers are exclamation marks"},
		Repetition:          {share: true, words: "%s of the answers repeat a few words"},
		WrongScript:         {share: true, words: "%s of the answers are in another script"},
		OtherModel:          {share: true, words: "%s of the answers are by another model, and say so"},
		BaseModel:           {share: true, words: "%s of the answers of an adapter are by its base model"},
		Drift:               {share: true, factor: true, words: "%s of the answers have log-probabilities that are off by %s"},
		BadArguments:        {share: true, words: "%s of the calls of tools have arguments that are no JSON"},
		ToolMarkup:          {share: true, words: "%s of the calls of tools are markup in the text"},
		Buffered:            {share: true, words: "%s of the streams come in one burst at their end"},
		NewFingerprint:      {share: true, words: "%s of the answers have another system_fingerprint"},
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
	// for the kinds that befall a cluster, or for [Options.Replicas].
	Workers []int
	// Factor is that of a slow-down or of the acceptance of drafts; of a drift it
	// is the standard deviation of what is added to each log-probability.
	Factor float64
	// Share of the requests, from 0 to 1, for the kinds that have one.
	Share float64
}

// String says what happens, as in "prefill takes 4 times as long for 5m".
func (i Incident) String() string {
	where := "all workers"
	switch len(i.Workers) {
	case 0:
	case 1:
		where = fmt.Sprintf("worker %d", i.Workers[0])
	default:
		where = "workers " + strings.Trim(strings.ReplaceAll(fmt.Sprint(i.Workers), " ", ", "), "[]")
	}
	kind := incidentKinds()[i.Kind]
	text := ""
	switch {
	case kind.share && kind.factor:
		text = fmt.Sprintf(kind.words, fmt.Sprintf("%g %%", 100*i.Share), fmt.Sprint(i.Factor))
	case kind.share:
		text = fmt.Sprintf(kind.words, fmt.Sprintf("%g %%", 100*i.Share))
	case kind.factor:
		text = fmt.Sprintf(kind.words, fmt.Sprint(i.Factor))
		if len(i.Workers) > 0 {
			text += " on " + where
		}
	default:
		text = fmt.Sprintf(kind.words, where)
	}
	if i.For > 0 {
		text += " for " + model.Duration(i.For).String()
	}
	return text
}

// validate returns what is wrong with an incident of a deployment whose
// requests are served by a cluster or not.
func (i Incident) validate(clustered bool) error {
	kind, known := incidentKinds()[i.Kind]
	switch {
	case !known:
		return fmt.Errorf("kind %q is unknown", i.Kind)
	case i.At < 0 || i.For < 0:
		return fmt.Errorf("it begins at %v and lasts %v: neither may be negative", i.At, i.For)
	case !kind.share && !clustered:
		return errors.New("it befalls a cluster: set one")
	case !kind.share:
		return nil // a cluster checks the rest
	case !(i.Share > 0 && i.Share <= 1):
		return fmt.Errorf("its share of the requests is %v: give a number above 0, at most 1", i.Share)
	case kind.factor && !(i.Factor > 0):
		return fmt.Errorf("its factor is %v: give a number above 0", i.Factor)
	case len(i.Workers) > 0:
		return errors.New("it befalls requests, not workers: leave the workers out")
	}
	return nil
}

// clusterFaults are the incidents that befall a cluster, for one that comes to
// life some time after the deployment's start: what is over by then is left
// out. Its own time is ahead by lead.
func (o Options) clusterFaults(born, lead time.Duration) []cluster.Fault {
	var all []cluster.Fault
	for _, i := range o.Incidents {
		f := cluster.Fault{Kind: i.Kind, At: i.At - born, For: i.For, Workers: i.Workers, Factor: i.Factor}
		over := f.At < 0 && (i.Kind == cluster.ColdCache || f.For > 0 && f.At+f.For <= 0)
		if incidentKinds()[i.Kind].share || over {
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

// fault draws what befalls a request, an incident of no kind for nothing. The
// shares of the incidents that go on add up. More than all requests cannot fail:
// the first kinds come first.
func (o Options) fault(elapsed time.Duration, r *rand.Rand) Incident {
	u := r.Float64()
	failures := []IncidentKind{ErrorStatus, BusyStatus, NoAnswer, CutStream, StallStream, ErrorEvent}
	for _, kind := range slices.Concat(failures, AnswerKinds()) {
		s := Incident{Kind: kind}
		for _, i := range o.Incidents {
			if i.Kind == s.Kind && elapsed >= i.At && (i.For == 0 || elapsed < i.At+i.For) {
				s.Share += i.Share
				s.Factor = max(s.Factor, i.Factor)
			}
		}
		if u < s.Share {
			return s
		}
		u -= s.Share
	}
	return Incident{}
}

// engineFailed is the error of a request that the engine gave up.
func engineFailed() *apiError {
	return failure(http.StatusInternalServerError, "InternalServerError", "The engine failed while it served this request (simulated fault).")
}

// queueFull is the error of a request that was refused for load.
func queueFull() *apiError {
	e := failure(http.StatusTooManyRequests, "rate_limit_error", "The queue is full; try again later (simulated fault).")
	e.Code = "rate_limit_exceeded"
	return e
}

// IncidentKinds lists the kinds that there are, in alphabetical order.
func IncidentKinds() []IncidentKind { return slices.Sorted(maps.Keys(incidentKinds())) }

// AnswerKinds lists those that leave an answer whole and in time, and wrong.
func AnswerKinds() []IncidentKind {
	return []IncidentKind{
		Exclamations, Repetition, WrongScript, OtherModel, BaseModel, Drift, NewFingerprint, BadArguments, ToolMarkup, Buffered,
	}
}

// ParseIncident reads an incident as people write it: its kind, then what it
// needs of at, for, workers, factor and share, as in
// "slow_prefill,at=1m,for=5m,factor=4,workers=0+2" or "http_500,share=0.2".
func ParseIncident(text string) (Incident, error) {
	parts := strings.Split(text, ",")
	i := Incident{Kind: IncidentKind(parts[0])}
	kind, known := incidentKinds()[i.Kind]
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
	case !kind.factor && i.Factor != 0 || !kind.share && i.Share != 0:
		return i, fmt.Errorf("incident %q: factor goes with a slow-down, share with what befalls requests", text)
	}
	return i, nil
}

// set gives one field its value.
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
		return fmt.Errorf("there is no %q; give at, for, workers, factor or share", key)
	}
	if err != nil {
		return errors.New("that is no value for it; write for example at=1m, factor=4 or share=0.2")
	}
	return nil
}
