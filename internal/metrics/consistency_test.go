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
	r.Apply(snapshot("a", "b"))
	stop := make(chan struct{})
	var background sync.WaitGroup
	for i := range 2 {
		background.Go(func() { reloadUntil(r, i, stop) })
	}
	var traffic sync.WaitGroup
	for i := range 8 {
		traffic.Go(func() { converse(r, uint64(i)) })
	}
	for range 2 {
		background.Go(func() { scrapeUntil(t, r, stop) })
	}
	traffic.Wait()
	close(stop)
	background.Wait()
	requireConsistent(t, gather(t, r))
	if got := gather(t, r).value(t, ofJob(ConversationsInFlight)); got != 0 {
		t.Errorf("%v conversations in flight at the end", got)
	}
}

// converse holds conversations on one of two targets, some canceled.
func converse(r *Recorder, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	outcomes := probe.Outcomes()
	for range 60 {
		target := []string{"a", "b"}[rng.IntN(2)]
		r.ConversationStarted(probe.ConversationStart{Target: target, Workload: "chat"})
		for i := range 3 {
			res := turn(target, probe.TurnKinds()[min(i, 1)], time.Now(), time.Millisecond, time.Millisecond, 20)
			res.Outcome = outcomes[rng.IntN(len(outcomes))]
			run(r, res)
		}
		r.ConversationEnded(probe.Conversation{Target: target, Workload: "chat", Outcome: outcomes[rng.IntN(len(outcomes))]})
	}
}

func reloadUntil(r *Recorder, i int, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		r.Apply(snapshot([]string{"a", "b", "c"}[:2+i]...))
		r.SetModel("a", "found")
		r.Forget("c", "chat")
		r.SetReload(true, time.Now())
	}
}

func scrapeUntil(t *testing.T, r *Recorder, stop <-chan struct{}) {
	g := r.Gatherer()
	for {
		select {
		case <-stop:
			return
		default:
		}
		fams, done, err := g.Gather()
		if err != nil {
			t.Error(err)
		}
		requireConsistent(t, index(fams))
		done()
		requireConsistent(t, gather(t, r))
	}
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

// TestConcurrentScrapesOverHTTP keeps one slow client from holding up others.
func TestConcurrentScrapesOverHTTP(t *testing.T) {
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
