package metrics

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/testing/protocmp"

	"synthetic/internal/probe"
)

// TestScrapesAreConsistent scrapes in all ways during conversations and reloads. In each scrape
// started must equal ended plus in flight.
func TestScrapesAreConsistent(t *testing.T) {
	r := newPlainRecorder(Options{})
	apply(r, jobs("a"))
	stop := make(chan struct{})
	var traffic sync.WaitGroup
	for i := range 4 {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		traffic.Go(func() { until(stop, func() { converse(r, rng) }) })
	}
	traffic.Go(func() { until(stop, reloads(r)) })
	traffic.Go(func() { until(stop, func() { requireConsistent(t, gather(t, r)) }) })
	for range 300 {
		fams, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		requireConsistent(t, index(fams))
	}
	close(stop)
	traffic.Wait()
	requireConsistent(t, gather(t, r))
	g := gather(t, r)
	if g.value(t, ofJob("synthetic_conversations_in_flight")) != 0 || g.value(t, ofJob("synthetic_conversations_total")) == 0 {
		t.Errorf("at the end %v conversations are in flight, %v ended",
			g.value(t, ofJob("synthetic_conversations_in_flight")), g.value(t, ofJob("synthetic_conversations_total")))
	}
}

// until repeats do, at least once.
func until(stop <-chan struct{}, do func()) {
	for {
		do()
		select {
		case <-stop:
			return
		default:
		}
	}
}

// reloads adds and removes a second job.
func reloads(r *testRecorder) func() {
	n := 0
	return func() {
		n++
		apply(r, jobs([]string{"a", "b"}[:1+n%2]...))
		r.Observe(probe.ModelFound{Target: "a", Workload: "chat", Model: "found"})
		r.SetReload(true, start)
	}
}

// converse reports a conversation with random outcomes.
func converse(r *testRecorder, rng *rand.Rand) {
	outcomes := probe.Outcomes()
	r.Observe(probe.ConversationStart{Target: "a", Workload: "chat"})
	for i := range 3 {
		res := turn("a", probe.TurnKinds()[min(i, 1)], start, time.Millisecond, time.Millisecond, 2)
		res.Outcome = outcomes[rng.IntN(len(outcomes))]
		run(r, res)
	}
	r.Observe(probe.Conversation{Target: "a", Workload: "chat", Outcome: outcomes[rng.IntN(len(outcomes))]})
}

// requireConsistent checks the sums within every job of one scrape.
func requireConsistent(t *testing.T, g gathered) {
	t.Helper()
	for started, sum := range map[string][2]string{
		"synthetic_turns_started_total": {Turns, "synthetic_turns_in_flight"},
		ConversationsStarted:            {"synthetic_conversations_total", "synthetic_conversations_in_flight"},
	} {
		for name := range g {
			labels, ok := strings.CutPrefix(name, started+"{")
			if !ok {
				continue
			}
			all, ended, inFlight := g.value(t, name), g.value(t, sum[0]+"{"+labels), g.value(t, sum[1]+"{"+labels)
			if all != ended+inFlight || inFlight < 0 {
				t.Errorf("%s = %v, but %v ended and %v in flight", name, all, ended, inFlight)
			}
		}
	}
}

// TestScrapesAreIndependent checks that gathered families do not change with later events and
// scrapes.
func TestScrapesAreIndependent(t *testing.T) {
	r := busyRecorder(2)
	slow, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	before := seriesCount(index(slow))
	run(r, turn("deployment-000", probe.First, start, time.Second, time.Millisecond, 5))
	w := httptest.NewRecorder()
	r.Handler(promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), Turns) {
		t.Errorf("the second scrape: status %d, %d bytes", w.Code, w.Body.Len())
	}
	if got := seriesCount(index(slow)); got != before {
		t.Errorf("the second scrape changed what the first one holds: %v turns, then %v", before, got)
	}
}

func seriesCount(g gathered) float64 {
	return g[Turns+"{target=deployment-000,turn=first,workload=chat}"].Counter.GetValue()
}

// TestOnly checks that a gatherer of some families returns only these, with the same values.
func TestOnly(t *testing.T) {
	r := scripted()
	wanted := map[string]bool{Turns: true, ttft: true, tpotWindow: true, SLOThreshold: true}
	some, err := r.Only(func(family string) bool { return wanted[family] }).Gather()
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return !wanted[f.GetName()] })
	if diff := cmp.Diff(all, some, protocmp.Transform(), cmpopts.EquateNaNs()); diff != "" || len(some) != len(wanted) {
		t.Errorf("%d families (-of all +only):\n%s", len(some), diff)
	}
}

func TestGatherBesideOthers(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	reg := prometheus.NewRegistry()
	other := prometheus.NewCounter(prometheus.CounterOpts{Name: "go_other_total", Help: "Another."})
	reg.MustRegister(other)
	fams, err := gatherers{r, reg}.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if got := fams[0].GetName(); got != "go_other_total" {
		t.Errorf("the first family is %s, want them all sorted by name", got)
	}
	for i := range fams[1:] {
		if fams[i].GetName() >= fams[i+1].GetName() {
			t.Errorf("%s comes before %s", fams[i].GetName(), fams[i+1].GetName())
		}
	}
}

// TestGatherReportsOthersErrors checks that an error of another gatherer does not hide the
// recorder's families.
func TestGatherReportsOthersErrors(t *testing.T) {
	broken := prometheus.NewRegistry()
	desc := prometheus.NewDesc("go_broken", "Broken.", nil, nil)
	broken.MustRegister(invalid{prometheus.NewInvalidMetric(desc, http.ErrServerClosed)})
	fams, err := gatherers{newTestRecorder(&clock{start}, "a"), broken}.Gather()
	if err == nil || len(fams) == 0 {
		t.Errorf("error %v and %d families; want an error and the recorder's families", err, len(fams))
	}
}

type invalid struct{ prometheus.Metric }

func (i invalid) Describe(ch chan<- *prometheus.Desc) { ch <- i.Metric.Desc() }
func (i invalid) Collect(ch chan<- prometheus.Metric) { ch <- i.Metric }
