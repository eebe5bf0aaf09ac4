package load

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deployment is the state of the fake probers. Change its fields with mu held, or while no test
// bubble runs.
type deployment struct {
	mu      sync.Mutex
	turn    time.Duration
	outcome probe.Outcome
	status  int
	// model returns the model name.
	model func(ctx context.Context) (string, error)
	// prompt returns the prompt tokens of an opening; 0 means no usage.
	prompt func(workload.Conversation) int

	probers, closed, modelRequests int
	plans                          []probe.Plan
}

func (d *deployment) newProber(j probe.Job) (Prober, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.probers++
	return &prober{d, j}, nil
}

func (d *deployment) seen() []probe.Plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]probe.Plan(nil), d.plans...)
}

func (d *deployment) counts() (made, closed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.probers, d.closed
}

func (d *deployment) set(change func(*deployment)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

type prober struct {
	d   *deployment
	job probe.Job
}

func (p *prober) Model(ctx context.Context) (string, error) {
	p.d.mu.Lock()
	p.d.modelRequests++
	ask := p.d.model
	p.d.mu.Unlock()
	if ask == nil {
		return "", errors.New("no models here")
	}
	return ask(ctx)
}

func (p *prober) Close() { p.d.set(func(d *deployment) { d.closed++ }) }

func (p *prober) Converse(ctx context.Context, plan probe.Plan, sink probe.Sink) probe.Conversation {
	p.d.set(func(d *deployment) { d.plans = append(d.plans, plan) })
	conversation := probe.Conversation{
		Target: p.job.Target.Name, Workload: p.job.Workload.Name, ID: plan.ID,
		Scheduled: plan.Scheduled, Outcome: probe.Canceled,
	}
	for n := 1; n <= plan.Conversation.Turns; n++ {
		select {
		case <-plan.Stop:
			conversation.Outcome = probe.Canceled
			return conversation
		default:
		}
		conversation.Outcome = p.take(ctx, n, plan, sink)
		conversation.Turns, conversation.End = n, time.Now()
		if conversation.Outcome != probe.Success {
			break
		}
	}
	return conversation
}

// take runs one turn.
func (p *prober) take(ctx context.Context, n int, plan probe.Plan, sink probe.Sink) probe.Outcome {
	kind := probe.First
	if n > 1 {
		kind = probe.Followup
	}
	name, load := p.job.Target.Name, p.job.Workload.Name
	sink.Observe(probe.Start{Target: name, Workload: load, Kind: kind})
	r := probe.Result{
		Target: name, Workload: load, Kind: kind, Sent: time.Now(),
		Asked: probe.Asked{Turn: n, Conversation: plan.ID, Scheduled: plan.Scheduled},
	}
	p.d.mu.Lock()
	r.Outcome, r.Status = p.d.outcome, p.d.status
	length, prompt := p.d.turn, p.d.prompt
	p.d.mu.Unlock()
	if !Pause(ctx, length) {
		r.Outcome = probe.Canceled
	}
	if prompt != nil {
		r.PromptTokens, r.OutputTokens = probe.Some(prompt(plan.Conversation)), probe.Some(0)
	}
	r.End = time.Now()
	sink.Observe(r)
	return r.Outcome
}

// book is a sink that counts events.
type book struct {
	mu                                    sync.Mutex
	started, ended, inFlight, maxInFlight int
	turnsStarted, turnsEnded              int
	outcomes                              map[probe.Outcome]int // of turns
	conversations                         map[probe.Outcome]int
	skips                                 map[string]int
	paced                                 []probe.Paced
	// onSkip is called without mu. It may block.
	onSkip func()
}

func newBook() *book {
	return &book{outcomes: map[probe.Outcome]int{}, conversations: map[probe.Outcome]int{}, skips: map[string]int{}}
}

func (b *book) Observe(e probe.Event) {
	var hook func()
	b.read(func(b *book) {
		switch e := e.(type) {
		case probe.ConversationStart:
			b.started++
			b.inFlight++
			b.maxInFlight = max(b.maxInFlight, b.inFlight)
		case probe.Conversation:
			b.ended++
			b.inFlight--
			b.conversations[e.Outcome]++
		case probe.Skip:
			b.skips[e.Reason]++
			hook = b.onSkip
		case probe.Start:
			b.turnsStarted++
		case probe.Result:
			b.turnsEnded++
			b.outcomes[e.Outcome]++
		case probe.Paced:
			b.paced = append(b.paced, e)
		}
	})
	if hook != nil {
		hook()
	}
}

// read calls f with mu held.
func (b *book) read(f func(*book)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(b)
}

func job(name string, change ...func(*probe.Job)) probe.Job {
	j := probe.Job{
		Target:   target.Target{Name: name, Model: "m"},
		Workload: workload.Spec{Name: "chat", TurnsMin: 1, TurnsMax: 1, PromptTokens: 20, Starters: 2},
		Traffic:  workload.Traffic{Arrival: workload.Arrival{Process: workload.Constant, Rate: 10}},
	}
	for _, c := range change {
		c(&j)
	}
	return j
}

// bench is a running scheduler with its fakes.
type bench struct {
	*Scheduler
	t       *testing.T
	d       *deployment
	book    *book
	removed chan string
	end     context.CancelFunc
	done    chan struct{}
}

// run starts a scheduler inside a test bubble. The caller stops it.
func run(t *testing.T, d *deployment, drain time.Duration, jobs ...probe.Job) *bench {
	t.Helper()
	return runWith(t, d, drain, func(*Options) {}, jobs...)
}

func runWith(t *testing.T, d *deployment, drain time.Duration, change func(*Options), jobs ...probe.Job) *bench {
	t.Helper()
	if d.outcome == "" {
		d.outcome = probe.Success
	}
	b := &bench{t: t, d: d, book: newBook(), removed: make(chan string, 100), done: make(chan struct{})}
	o := Options{
		Sink: b.book, NewProber: d.newProber, Replica: "replica-0", DrainTimeout: drain,
		OnRemoved: func(job probe.Key) { b.removed <- job.String() },
	}
	change(&o)
	b.Scheduler = New(o)
	b.apply(jobs...)
	var ctx context.Context
	ctx, b.end = context.WithCancel(t.Context())
	go func() {
		defer close(b.done)
		if err := b.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	return b
}

func (b *bench) apply(jobs ...probe.Job) {
	b.t.Helper()
	if err := b.Apply(jobs, nil); err != nil {
		b.t.Fatal(err)
	}
}

// stop ends Run and returns how long that took. It checks that nothing is left in flight.
func (b *bench) stop() time.Duration {
	b.t.Helper()
	began := time.Now()
	b.end()
	<-b.done
	b.book.read(func(k *book) {
		if k.inFlight != 0 || k.started != k.ended || k.turnsStarted != k.turnsEnded {
			b.t.Errorf("after the end: %d conversations in flight, %d started, %d ended; turns %d and %d",
				k.inFlight, k.started, k.ended, k.turnsStarted, k.turnsEnded)
		}
	})
	if made, closed := b.d.counts(); made != closed {
		b.t.Errorf("%d probers were made and %d closed", made, closed)
	}
	return time.Since(began)
}
