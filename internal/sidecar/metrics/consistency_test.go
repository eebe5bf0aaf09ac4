package metrics

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/probe"
)

// TestScrapesAreConsistent scrapes in every way while conversations run and
// reloads come: started = ended + in flight must hold in each scrape.
func TestScrapesAreConsistent(t *testing.T) {
	r := NewRecorder(Options{})
	r.Apply(snapshot("a"))
	gatherer := r.Gatherer()
	stop := make(chan struct{})
	var traffic sync.WaitGroup
	for i := range 4 {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		traffic.Go(func() { until(stop, func() { converse(r, rng) }) })
	}
	traffic.Go(func() { until(stop, reloads(r)) })
	traffic.Go(func() { until(stop, func() { requireConsistent(t, gather(t, r)) }) })
	for range 1000 {
		fams, done, err := gatherer.Gather()
		if err != nil {
			t.Fatal(err)
		}
		requireConsistent(t, index(fams))
		done()
	}
	close(stop)
	traffic.Wait()
	requireConsistent(t, gather(t, r))
	g := gather(t, r)
	if g.value(t, ofJob(ConversationsInFlight)) != 0 || g.value(t, ofJob(Conversations)) == 0 {
		t.Errorf("at the end %v conversations are in flight, %v ended",
			g.value(t, ofJob(ConversationsInFlight)), g.value(t, ofJob(Conversations)))
	}
}

// until repeats what it is given, at least once.
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

// reloads adds a job and takes it away again, beside the one in traffic.
func reloads(r *Recorder) func() {
	n := 0
	return func() {
		n++
		r.Apply(snapshot([]string{"a", "b"}[:1+n%2]...))
		r.SetModel("a", "found")
		r.Forget(probe.Key{Target: "b", Workload: "chat"})
		r.SetReload(true, start)
	}
}

// converse holds one conversation, which may end in any way.
func converse(r *Recorder, rng *rand.Rand) {
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
		TurnsStarted:         {Turns, TurnsInFlight},
		ConversationsStarted: {Conversations, ConversationsInFlight},
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

// TestConcurrentScrapes: a slow client neither holds up nor disturbs others.
func TestConcurrentScrapes(t *testing.T) {
	r := busyRecorder(2)
	g := r.Gatherer()
	slow, done, err := g.Gather()
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
	done()
}

func seriesCount(g gathered) float64 {
	return g[Turns+"{target=deployment-000,turn=first,workload=chat}"].Counter.GetValue()
}

// TestGathererReusesItsFrame pins that a steady scrape lays out nothing anew,
// and that a change of the series does.
func TestGathererReusesItsFrame(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	g := r.Gatherer()
	scrape := func() any {
		fams, done, err := g.Gather()
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		return fams[0].Metric[0]
	}
	one, two := scrape(), scrape()
	r.Apply(snapshot("a", "b"))
	if three := scrape(); one != two || two == three {
		t.Errorf("reused: %t, anew after a change: %t; want both", one == two, two != three)
	}
}

func TestGathererWithOthers(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	reg := prometheus.NewRegistry()
	other := prometheus.NewCounter(prometheus.CounterOpts{Name: "go_other_total", Help: "Another."})
	reg.MustRegister(other)
	fams, done, err := r.Gatherer(reg).Gather()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if got := fams[0].GetName(); got != "go_other_total" {
		t.Errorf("the first family is %s, want them all sorted by name", got)
	}
	for i := range fams[1:] {
		if fams[i].GetName() >= fams[i+1].GetName() {
			t.Errorf("%s comes before %s", fams[i].GetName(), fams[i+1].GetName())
		}
	}
}

// TestGathererReportsOthersErrors: a broken neighbour must not hide what the
// recorder knows.
func TestGathererReportsOthersErrors(t *testing.T) {
	broken := prometheus.NewRegistry()
	desc := prometheus.NewDesc("go_broken", "Broken.", nil, nil)
	broken.MustRegister(invalid{prometheus.NewInvalidMetric(desc, http.ErrServerClosed)})
	fams, done, err := newTestRecorder(&clock{start}, "a").Gatherer(broken).Gather()
	defer done()
	if err == nil || len(fams) == 0 {
		t.Errorf("error %v and %d families; want an error and the recorder's families", err, len(fams))
	}
}

type invalid struct{ prometheus.Metric }

func (i invalid) Describe(ch chan<- *prometheus.Desc) { ch <- i.Metric.Desc() }
func (i invalid) Collect(ch chan<- prometheus.Metric) { ch <- i.Metric }
