package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
)

const secret = "a secret of the workers"

// site is a deployment "a" and workers "w1", "w2" and so on, on one network.
type site struct {
	network
	plan    Plan
	stops   []func() // close the servers of the workers
	stopped []context.CancelFunc
	mute    []atomic.Bool // drop what a worker sends, as a network that lost its cable
}

// newSite serves a deployment and count workers of a plan. The caller has to call stop.
func newSite(t *testing.T, o simulate.Options, count int, plan Plan) (s *site, stop func()) {
	t.Helper()
	s = &site{plan: plan, stops: make([]func(), count), stopped: make([]context.CancelFunc, count), mute: make([]atomic.Bool, count)}
	closeDeployment := s.serve(t, "a", simulate.New(o))
	for i := range count {
		s.start(i)
	}
	return s, func() {
		for i := range count {
			s.stop(i)
		}
		closeDeployment()
	}
}

// start starts worker i, counted from 0.
func (s *site) start(i int) {
	ctx, stop := context.WithCancel(context.Background())
	s.stopped[i] = stop
	s.mute[i].Store(false)
	w := &Worker{
		Options: Options{Dial: s.Dial, Logger: slog.New(slog.DiscardHandler)}, Token: secret, Stopped: ctx,
		Parse: func(_ string, text []byte) (Plan, error) {
			if string(text) != string(s.plan.Text) {
				return Plan{}, errors.New("plan.yml:1: unknown key")
			}
			return s.plan, nil
		},
	}
	_, s.stops[i] = s.Serve(workerHost(i)+":80", w)
}

func workerHost(i int) string { return fmt.Sprint("w", i+1) }

func (s *site) stop(i int) {
	s.stopped[i]()
	s.stops[i]()
}

// mutedConn drops what it reads while muted is set.
type mutedConn struct {
	net.Conn
	muted *atomic.Bool
}

func (c mutedConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.muted.Load() {
			return n, err
		}
	}
}

// options are those of a sweep with all workers.
func (s *site) options(t *testing.T) Options {
	t.Helper()
	var urls []string
	for i := range s.stops {
		urls = append(urls, "http://"+workerHost(i))
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := s.Dial(ctx, network, addr)
		i, _ := strconv.Atoi(addr[1:strings.Index(addr, ":")])
		return mutedConn{c, &s.mute[i-1]}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return Options{Plan: s.plan, Dir: t.TempDir(), Dial: s.Dial, Workers: NewWorkers(urls, secret, transport), Patience: time.Minute}
}

// run runs a sweep with all workers.
func (s *site) run(t *testing.T, change ...func(*Options)) (*runfile.Run, Options, error) {
	t.Helper()
	o := s.options(t)
	for _, c := range change {
		c(&o)
	}
	defer o.Workers.client.CloseIdleConnections()
	run, err := Run(t.Context(), o)
	return run, o, err
}

// heard is the first turn of a conversation, and its time after that of conversation 20, before
// which primings and warm-ups have times of their own.
type heard struct {
	id     int
	prompt int
	at     time.Duration
}

// firstTurns returns the conversations in the log of a directory.
func firstTurns(t *testing.T, dir string) (all []heard) {
	t.Helper()
	for _, turn := range reporttest.Turns(t, dir) {
		if turn.Study.Index == 1 {
			id, err := strconv.Atoi(turn.Study.Conversation[strings.LastIndex(turn.Study.Conversation, "/")+1:])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, heard{id, turn.PromptTokens.V, time.Duration(turn.At.UnixNano())})
		}
	}
	slices.SortFunc(all, func(a, b heard) int { return a.id - b.id })
	base := all[20].at
	for i := range all {
		if all[i].at -= base; all[i].id < 20 {
			all[i].at = 0
		}
		all[i].at = all[i].at.Round(time.Millisecond)
	}
	return all
}

func firstDifference(a, b []heard) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%+v and %+v", a[i], b[i])
		}
	}
	return "their ends"
}

// TestTogetherLikeOne: with every kind of open load, all processes together run the conversations of
// one process at the same times, and the run of shard 0 is that of one process.
func TestTogetherLikeOne(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"poisson": func(*Plan) {},
		"gamma with a warm-up by number": func(p *Plan) {
			p.Arrival = workload.Arrival{Process: workload.Gamma, Burstiness: 0.5}
			p.WarmUp = WarmUp{Conversations: 7, Rate: 2, Cooldown: 5 * time.Second}
			p.Cache = Cache{Policy: Prime, Conversations: 5}
		},
	} {
		for _, workers := range []int{1, 2, 7} {
			if testing.Short() && (workers != 2 || name != "poisson") {
				continue
			}
			t.Run(fmt.Sprintf("%s with %d", name, workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { togetherLikeOne(t, workers, change) })
			})
		}
	}
}

func togetherLikeOne(t *testing.T, workers int, change func(*Plan)) {
	p := small()
	p.Kind, p.Levels, p.StartRate = runfile.Rate, []float64{3}, 0
	p.Arrival = workload.Arrival{Process: workload.Poisson}
	change(&p)
	s, stop := newSite(t, quick(), workers, p)
	defer stop()
	single := Options{Plan: p, Dial: s.Dial, Dir: t.TempDir()}
	alone, err := Run(t.Context(), single)
	if err != nil {
		t.Fatal(err)
	}
	run, o, err := s.run(t)
	if err != nil {
		t.Fatal(err)
	}
	want, got := alone.Results[0], run.Results[0]
	if len(got.Workers) != workers || got.State != runfile.Complete || run.NotReached(got) != "" || !reflect.DeepEqual(got.Verdict, want.Verdict) {
		t.Errorf("%d workers, %s, not reached %q, verdict %+v; of one process %+v", len(got.Workers), got.State, run.NotReached(got), got.Verdict, want.Verdict)
	}
	for i, s := range got.Snapshots {
		if w := want.Snapshots[i]; s.ConversationStarts != w.ConversationStarts || s.InFlightMax == nil || *s.InFlightMax != *w.InFlightMax {
			t.Errorf("snapshot %d: %d starts, %v in flight at most; of one process %d, %d", i, s.ConversationStarts, s.InFlightMax, w.ConversationStarts, *w.InFlightMax)
		}
	}
	if got, want := firstTurns(t, o.Dir), firstTurns(t, single.Dir); len(want) < 100 || !slices.Equal(got, want) {
		t.Errorf("%d conversations, of one process %d; they differ at %v", len(got), len(want), firstDifference(got, want))
	}
}

// TestTogetherInAClosedLoop: conversations in flight add up to the level, also with more processes
// than conversations, and a number of conversations is divided.
func TestTogetherInAClosedLoop(t *testing.T) {
	for _, counted := range []int{0, 61} {
		synctest.Test(t, func(t *testing.T) {
			p := small()
			if counted > 0 {
				p.Measure, p.WarmUp = Measure{Snapshots: 2, Conversations: counted}, WarmUp{}
			}
			s, stop := newSite(t, quick(), 2, p)
			defer stop()
			run, _, err := s.run(t)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range run.Results {
				if r.Unreached != "" {
					t.Errorf("%d conversations: %s", counted, r.Unreached)
				}
				var starts uint64
				for _, s := range r.Snapshots {
					starts += s.ConversationStarts
					if mean := *s.ConversationsMean; counted == 0 && (mean < 0.99*r.Level || mean > 1.01*r.Level) {
						t.Errorf("%g in flight in all, want %g", mean, r.Level)
					}
				}
				if counted > 0 && starts != uint64(counted) {
					t.Errorf("%d conversations in all, want %d", starts, counted)
				}
			}
		})
	}
}

// shortLevels is a plan with levels of 25 s.
func shortLevels() Plan {
	p := small()
	p.WarmUp, p.Measure = WarmUp{Duration: 5 * time.Second}, Measure{Snapshots: 1, Snapshot: 20 * time.Second}
	return p
}

// TestLostWorker: a level that loses a worker is measured again by the others, once, and the sweep
// ends without an error. A worker that returns takes part in the next level.
func TestLostWorker(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(s *site)
		want string
	}{
		"killed":  {func(s *site) { s.stops[1]() }, "the connection broke"},
		"stopped": {func(s *site) { s.stopped[1]() }, "it was stopped"},
		"silent":  {func(s *site) { s.mute[1].Store(true) }, "no sign of life for 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := shortLevels()
				p.Levels = []float64{2, 4, 6}
				s, stop := newSite(t, quick(), 2, p)
				defer stop()
				back := time.AfterFunc(60*time.Second, func() { s.stop(1); s.start(1) }) // in the second level
				defer back.Stop()
				lose := time.AfterFunc(20*time.Second, func() { c.lose(s) }) // in the first level
				defer lose.Stop()
				began := time.Now()
				run, o, err := s.run(t)
				if err != nil {
					t.Fatal(err)
				}
				var carried []int
				for _, r := range run.Results {
					carried = append(carried, len(r.Workers))
					if why := run.NotReached(r); why != "" || r.State != runfile.Complete || r.Verdict.Unjudged() {
						t.Errorf("level %g: %s, not reached %q, %s", r.Level, r.State, why, r.Verdict.Standing)
					}
				}
				if !slices.Equal(carried, []int{1, 1, 2}) && !slices.Equal(carried, []int{1, 2, 2}) {
					t.Errorf("workers by level: %v", carried)
				}
				if lost := run.Results[0].LostWorkers; len(lost) != 1 || lost[0].Name != "w2" || !strings.Contains(lost[0].Why, c.want) {
					t.Errorf("lost %+v, want w2, %s", lost, c.want)
				}
				if took := time.Since(began); took > 3*time.Minute { // four levels of 25 s, and waits
					t.Errorf("the sweep took %s", took)
				}
				for _, turn := range reporttest.Turns(t, o.Dir) {
					if turn.Study.Level == 2 && turn.At.Before(run.Results[0].Started) {
						t.Fatal("turns of the level that lost a worker are in the log")
					}
				}
			})
		})
	}
}

// TestAllWorkersLost: shard 0 continues alone.
func TestAllWorkersLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := newSite(t, quick(), 2, shortLevels())
		defer stop()
		lose := time.AfterFunc(20*time.Second, func() { s.stops[0](); s.stops[1]() })
		defer lose.Stop()
		run, _, err := s.run(t)
		if err != nil || len(run.Results) != 2 || len(run.Results[0].LostWorkers) != 2 || run.Results[1].Workers != nil || run.NotReached(run.Results[1]) != "" {
			t.Errorf("%v, %d results", err, len(run.Results))
		}
	})
}

// TestSweepThatIsStopped: when shard 0 ends within a level, its workers cut their turns, and the next
// sweep gets them.
func TestSweepThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := newSite(t, quick(), 2, shortLevels())
		defer stop()
		o := s.options(t)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := Run(ctx, o); !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		o.Resume = true
		run, err := Run(t.Context(), o)
		o.Workers.client.CloseIdleConnections()
		if err != nil || len(run.Results) != 2 || len(run.Results[0].Workers) != 2 {
			t.Errorf("%v, %d results of %d and %d workers, lost %v", err, len(run.Results), len(run.Results[0].Workers), len(run.Results[1].Workers), run.Results[0].LostWorkers)
		}
	})
}

// TestEarlyStopTogether: counts that prove something only together end the level for all processes,
// and direct the search.
func TestEarlyStopTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := quick()
		o.Incidents = []simulate.Incident{{Kind: simulate.ErrorStatus, Share: 0.1}}
		p := small()
		p.Levels = []float64{4, 8, 16}
		s, stop := newSite(t, o, 3, p)
		defer stop()
		run, _, err := s.run(t, func(o *Options) { o.FindCapacity = true })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range run.Results {
			if r.State != runfile.EndedEarly || !strings.HasPrefix(r.Why, "doomed: ") || r.Unreached != "" || len(r.Workers) != 3 {
				t.Errorf("level %g: %s (%s), unreached %q, %d workers", r.Level, r.State, r.Why, r.Unreached, len(r.Workers))
			}
		}
	})
}

// TestWorkersRefuse: a sweep that a worker refuses ends before it sends or writes anything.
func TestWorkersRefuse(t *testing.T) {
	for want, change := range map[string]func(*site, *Options){
		"wrong token":        func(_ *site, o *Options) { o.Workers.token = "guess" },
		"max_concurrency is": func(_ *site, o *Options) { o.Plan.MaxConcurrency = 2 },
		"worker w1 refuses the sweep: plan.yml:1: unknown key": func(_ *site, o *Options) { o.Plan.Text = []byte("typo: 1") },
		"its workload differs although the plan is the same":   func(s *site, _ *Options) { s.plan.Workload.Starters++ },
		"workers do not answer for 1m0s: w2 (":                 func(s *site, _ *Options) { s.stops[1]() },
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := newSite(t, quick(), 2, small())
				defer stop()
				run, o, err := s.run(t, func(o *Options) { change(s, o) })
				if run != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
					t.Errorf("%v", err)
				}
				if away := strings.Contains(want, "do not answer"); errors.Is(err, ErrNoWorkers) != away {
					t.Errorf("%v", err)
				}
				if entries, err := os.ReadDir(o.Dir); err != nil || len(entries) != 1 || entries[0].Name() != atomicfile.LockName {
					t.Errorf("it wrote %v, %v", entries, err)
				}
			})
		})
	}
}

// newWorker returns a worker that parses every plan as small.
func newWorker() *Worker {
	return &Worker{Token: secret, Parse: func(string, []byte) (Plan, error) { return small(), nil }}
}

// authorize gives a request the headers of shard 0.
func authorize(r *http.Request) *http.Request {
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set(sweepHeader, "a")
	return r
}

// TestWorkerRefusesStrangers: a worker reads no order without its token, even if it has none, no order
// of a type that the page of another site can send, and none that names no sweep.
func TestWorkerRefusesStrangers(t *testing.T) {
	for _, c := range []struct {
		token, header, value string
		code                 int
	}{
		{secret, "Authorization", "Bearer guess", http.StatusUnauthorized},
		{"", "Authorization", "Bearer ", http.StatusUnauthorized},
		{secret, "Content-Type", "text/plain", http.StatusUnsupportedMediaType},
		{secret, sweepHeader, "", http.StatusBadRequest},
	} {
		w := newWorker()
		w.Token = c.token
		for _, path := range []string{pathCheck, pathLevel} {
			r, answer := authorize(httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}"))), httptest.NewRecorder()
			r.Header.Set(c.header, c.value)
			if w.ServeHTTP(answer, r); answer.Code != c.code {
				t.Errorf("%s with %s %q: %d %s, want %d", path, c.header, c.value, answer.Code, answer.Body, c.code)
			}
		}
	}
}

// TestWorkerOneAtATime: a worker within a level refuses another order.
func TestWorkerOneAtATime(t *testing.T) {
	w := newWorker()
	w.busy.Lock()
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodGet, pathClock, nil),
		httptest.NewRequest(http.MethodPost, pathLevel, strings.NewReader(fmt.Sprintf(`{"protocol":%d,"workload_sha256":%q,"levels":[2],"part":{"Index":1,"Count":2}}`, protocolVersion, small().digest()))),
	} {
		answer := httptest.NewRecorder()
		authorize(r)
		if w.ServeHTTP(answer, r); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "another level") {
			t.Errorf("%s: %d %s", r.URL, answer.Code, answer.Body)
		}
	}
}

// FuzzOrder posts arbitrary orders, which a worker must refuse without a panic.
func FuzzOrder(f *testing.F) {
	for _, seed := range []string{"", "[", "{}", `{"protocol":4}`, `{"protocol":4,"levels":[1],"level":{"Variant":-1}}`, `{"part":{"Index":-1}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		answer := httptest.NewRecorder()
		newWorker().ServeHTTP(answer, authorize(httptest.NewRequest(http.MethodPost, pathCheck, strings.NewReader(body))))
		if answer.Code != http.StatusBadRequest && answer.Code != http.StatusConflict {
			t.Errorf("%q: %d", body, answer.Code)
		}
	})
}

// TestClock: the true offset lies within the bound for all delays.
func TestClock(t *testing.T) {
	for _, c := range []struct{ ahead, there, back time.Duration }{
		{0, 0, 0}, {5 * time.Second, time.Millisecond, time.Millisecond},
		{-3 * time.Hour, 40 * time.Millisecond, 0}, {time.Minute, 0, 40 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			transport := roundTrip(func(*http.Request) (*http.Response, error) {
				answer := httptest.NewRecorder()
				time.Sleep(c.there)
				fmt.Fprintf(answer, "%q", time.Now().Add(-c.ahead).Format(time.RFC3339Nano))
				time.Sleep(c.back)
				return answer.Result(), nil
			})
			w := NewWorkers([]string{"http://w1"}, "", transport)
			if err := w.measureClock(t.Context(), w.all[0]); err != nil {
				t.Fatal(err)
			}
			x := w.all[0]
			if off := (x.offset - c.ahead).Abs(); off > x.within || x.within > (c.there+c.back)/2 {
				t.Errorf("%+v: offset %s within %s", c, x.offset, x.within)
			}
		})
	}
	for _, away := range []time.Duration{-time.Hour, time.Hour} {
		if _, end := here(time.Now().Add(away)); end == nil {
			t.Errorf("a load that begins in %s is waited for", away)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
