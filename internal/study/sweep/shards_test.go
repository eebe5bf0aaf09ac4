package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
)

// inMemory passes requests to a handler whose clock is ahead. While cut, requests fail.
type inMemory struct {
	to    http.Handler
	cut   atomic.Bool
	ahead atomic.Int64 // in nanoseconds
}

func (m *inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.cut.Load() {
		return nil, errors.New("connection refused")
	}
	answer := httptest.NewRecorder()
	if ahead := time.Duration(m.ahead.Load()); ahead != 0 && strings.HasSuffix(r.URL.Path, "/clock") {
		err := json.NewEncoder(answer).Encode(time.Now().Add(ahead))
		return answer.Result(), err
	}
	m.to.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// fleet is a sweep in several parts, each as its own process.
type fleet struct {
	dir   string
	lead  *Lead
	wires []*inMemory // to shard 0; nil for shard 0 itself
	stop  []context.CancelFunc
	runs  []*runfile.Run
	errs  []error
	done  []chan struct{}
	of    func() Options
}

// set makes a fleet in a directory, with the options that of returns.
func set(t *testing.T, count int, dir string, of func() Options) *fleet {
	t.Helper()
	f := &fleet{
		dir: dir, of: of, wires: make([]*inMemory, count), stop: make([]context.CancelFunc, count),
		runs: make([]*runfile.Run, count), errs: make([]error, count), done: make([]chan struct{}, count),
	}
	for i := range count {
		f.start(t, i)
	}
	return f
}

// start starts a shard with the contents of its directory.
func (f *fleet) start(t *testing.T, i int) {
	t.Helper()
	o := f.of()
	o.Resume, o.Patience = true, time.Minute
	o.Part, o.Dir = load.Shard{Index: i, Count: len(f.runs)}, filepath.Join(f.dir, fmt.Sprintf("shard-%d", i))
	if i == 0 {
		f.lead = NewLead(o.Hello(), "")
		o.Lead = f.lead
	} else {
		f.wires[i] = &inMemory{to: f.lead}
		o.Follow = NewClient(o.Hello(), "http://shard-0", "", f.wires[i])
	}
	ctx, stop := context.WithCancel(t.Context())
	f.stop[i], f.done[i] = stop, make(chan struct{})
	go func() {
		defer close(f.done[i])
		defer stop()
		f.runs[i], f.errs[i] = Run(ctx, o)
	}()
}

func (f *fleet) wait() {
	for _, done := range f.done {
		<-done
	}
}

// kill ends a shard without a message to shard 0.
func (f *fleet) kill(i int) {
	f.wires[i].cut.Store(true)
	f.stop[i]()
	<-f.done[i]
}

// heard is the first turn of a conversation, and its time after that of conversation 20, before
// which primings and warm-ups have times of their own.
type heard struct {
	id     int
	prompt int
	at     time.Duration
}

// firstTurns returns the conversations in the logs of some directories.
func firstTurns(t *testing.T, dirs ...string) (all []heard) {
	t.Helper()
	for _, turn := range reporttest.Turns(t, dirs...) {
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

// TestShardsSayTheSame: with every kind of open load, the shards together run the conversations
// of one process at the same times, and each verdict is that of all turns.
func TestShardsSayTheSame(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"poisson": func(*Plan) {},
		"gamma with a warm-up by number": func(p *Plan) {
			p.Arrival = workload.Arrival{Process: workload.Gamma, Burstiness: 0.5}
			p.WarmUp = WarmUp{Conversations: 7, Rate: 2, Cooldown: 5 * time.Second}
			p.Cache = Cache{Policy: Prime, Conversations: 5}
		},
		"clients": func(p *Plan) {
			p.OwnRate, p.Workload.Clients = 1, []workload.Client{{Share: 0.63, Process: workload.Poisson}, {Share: 0.37, Process: workload.Constant}}
		},
	} {
		for _, count := range []int{2, 3, 8} {
			if testing.Short() && (count != 3 || name != "poisson") {
				continue
			}
			t.Run(fmt.Sprintf("%s in %d", name, count), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { sayTheSame(t, count, change) })
			})
		}
	}
}

func sayTheSame(t *testing.T, count int, change func(*Plan)) {
	var net network
	defer net.serve(t, "a", simulate.New(quick()))()
	of := func() Options {
		p := small()
		p.Kind, p.Levels, p.StartRate = runfile.Rate, []float64{3}, 0
		p.Arrival = workload.Arrival{Process: workload.Poisson}
		change(&p)
		return Options{Plan: p, Dial: net.Dial}
	}
	single := of()
	single.Dir = t.TempDir()
	whole, err := Run(t.Context(), single)
	if err != nil {
		t.Fatal(err)
	}
	f := set(t, count, t.TempDir(), of)
	f.wait()
	var dirs []string
	var starts uint64
	for i, run := range f.runs {
		if f.errs[i] != nil {
			t.Fatalf("shard %d: %v", i, f.errs[i])
		}
		dirs = append(dirs, filepath.Join(f.dir, fmt.Sprintf("shard-%d", i)))
		r := run.Results[0]
		for _, s := range r.Snapshots {
			starts += s.ConversationStarts
		}
		if run.Shard == nil || run.Shard.Index != i || run.Shard.Count != count || r.Level != 3 || r.State != runfile.Complete {
			t.Errorf("shard %d: %+v, level %g, %s", i, run.Shard, r.Level, r.State)
		}
		// Only the whole is a proof: a part has too few turns.
		if want := whole.Results[0].Verdict; !reflect.DeepEqual(r.Verdict, want) {
			t.Errorf("shard %d: verdict %+v, of one process %+v", i, r.Verdict, want)
		}
	}
	want, got := firstTurns(t, single.Dir), firstTurns(t, dirs...)
	if len(want) < 100 || !slices.Equal(got, want) {
		t.Errorf("%d conversations, of one process %d; they differ at %v", len(got), len(want), firstDifference(got, want))
	}
	var wholeStarts uint64
	for _, s := range whole.Results[0].Snapshots {
		wholeStarts += s.ConversationStarts
	}
	if starts != wholeStarts {
		t.Errorf("%d conversations started in the measurement, of one process %d", starts, wholeStarts)
	}
}

func firstDifference(a, b []heard) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%+v and %+v", a[i], b[i])
		}
	}
	return "their ends"
}

// TestShardsOfAClosedLoop: conversations in flight add up to the level, also with more shards
// than conversations, and a number of conversations is divided.
func TestShardsOfAClosedLoop(t *testing.T) {
	for _, counted := range []int{0, 60} {
		synctest.Test(t, func(t *testing.T) {
			var net network
			defer net.serve(t, "a", simulate.New(quick()))()
			f := set(t, 3, t.TempDir(), func() Options {
				p := small()
				if counted > 0 {
					p.Measure, p.WarmUp = Measure{Snapshots: 2, Conversations: counted}, WarmUp{}
				}
				return Options{Plan: p, Dial: net.Dial}
			})
			f.wait()
			for level, places := range []float64{2, 4} {
				var mean float64
				var starts uint64
				for i, run := range f.runs {
					if f.errs[i] != nil {
						t.Fatalf("shard %d: %v", i, f.errs[i])
					}
					r := run.Results[level]
					if why := run.NotReached(r); why != "" && counted == 0 {
						t.Errorf("shard %d: %s", i, why)
					}
					for _, s := range r.Snapshots {
						starts += s.ConversationStarts
						if counted == 0 {
							mean += *s.ConversationsMean / 3
						}
					}
				}
				if counted == 0 && (mean < 0.99*places || mean > 1.01*places) {
					t.Errorf("%g in flight in all, want %g", mean, places)
				}
				if counted > 0 && starts != uint64(counted) {
					t.Errorf("%d conversations in all, want %d", starts, counted)
				}
			}
		})
	}
}

// TestLostShard: all other shards name a shard that dies within a level. The level is not
// reached and proves nothing, the next one waits for the shard, and the sweep ends with an
// error. --resume repeats the level.
func TestLostShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		of := func() Options { return Options{Plan: small(), Dial: net.Dial} }
		dir := t.TempDir()
		f := set(t, 3, dir, of)
		time.Sleep(50 * time.Second) // the first level is being measured
		f.kill(2)
		time.Sleep(40 * time.Second)
		f.start(t, 2)
		f.wait()
		for i, run := range f.runs[:2] {
			first, second := run.Results[0], run.Results[1]
			if len(first.Lost) != 1 || first.Lost[0] != (runfile.LostShard{Index: 2, Why: "no sign of life for 10s"}) {
				t.Errorf("shard %d: lost %+v", i, first.Lost)
			}
			if why := run.NotReached(first); !strings.Contains(why, "shard 2 (no sign of life for 10s)") || first.Verdict.Standing != runfile.Undecided {
				t.Errorf("shard %d: not reached %q, verdict %+v", i, why, first.Verdict)
			}
			if second.State != runfile.Complete || second.Lost != nil || second.Verdict.Standing != runfile.Met {
				t.Errorf("shard %d: the next level %s, lost %v, verdict %+v", i, second.State, second.Lost, second.Verdict)
			}
			if c := run.Capacities[0]; !slices.Equal(c.NotReached, []float64{2}) {
				t.Errorf("shard %d: %s", i, c.Sentence("concurrency"))
			}
			if err := f.errs[i]; err == nil || !strings.Contains(err.Error(), "--resume") {
				t.Errorf("shard %d ends with %v", i, err)
			}
		}
		if n := len(f.runs[2].Results); n != 1 || f.runs[2].Results[0].Level != 4 {
			t.Errorf("the shard that came back has %d results", n)
		}
		again := set(t, 3, dir, of)
		again.wait()
		for i, run := range again.runs {
			if again.errs[i] != nil || len(run.Results) != 2 {
				t.Fatalf("shard %d: %d results, %v", i, len(run.Results), again.errs[i])
			}
			for _, r := range run.Results {
				if why := run.NotReached(r); why != "" || r.Verdict.Standing != runfile.Met {
					t.Errorf("shard %d, level %g: not reached %q, verdict %+v", i, r.Level, why, r.Verdict)
				}
			}
		}
		if !again.runs[0].Results[0].Started.Equal(f.runs[0].Results[1].Started) {
			t.Error("the level that was whole was measured again, or is not the first by time")
		}
	})
}

// TestClockOfWhatIsKept: measurements from before a restart of a shard keep their clock, also
// if nothing is left to measure.
func TestClockOfWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		dir := t.TempDir()
		of := func() Options { return Options{Plan: small(), Dial: net.Dial} }
		for _, ahead := range []time.Duration{300 * time.Millisecond, 500 * time.Millisecond} {
			f := set(t, 2, dir, of)
			f.wires[1].ahead.Store(int64(ahead))
			f.wait()
			if offset, _ := f.runs[1].Shard.Clock(); f.errs[1] != nil || offset != 300*time.Millisecond {
				t.Errorf("with the clock of shard 0 ahead by %s: %s, %v", ahead, offset, f.errs[1])
			}
		}
	})
}

// TestShardThatStaysAway: all shards end the sweep after the patience, and name the missing
// one.
func TestShardThatStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		f := set(t, 3, t.TempDir(), func() Options { return Options{Plan: small(), Dial: net.Dial} })
		time.Sleep(50 * time.Second)
		f.kill(1)
		began := time.Now()
		f.wait()
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("the sweep ended %s later", took)
		}
		for _, i := range []int{0, 2} {
			if err := f.errs[i]; err == nil || !strings.Contains(err.Error(), "shard 1 (last seen") || f.runs[i].Interrupted == "" {
				t.Errorf("shard %d ends with %v", i, err)
			}
		}
	})
}

// TestLeadDies: the others wait for shard 0 and continue with a new one.
func TestLeadDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		f := set(t, 2, t.TempDir(), func() Options { return Options{Plan: small(), Dial: net.Dial} })
		time.Sleep(120 * time.Second) // in the second level
		f.wires[1].cut.Store(true)
		f.stop[0]()
		<-f.done[0]
		time.Sleep(20 * time.Second)
		old := f.wires[1]
		f.start(t, 0)
		old.to = f.lead
		old.cut.Store(false)
		f.wait()
		if f.errs[0] != nil || len(f.runs[0].Results) != 2 {
			t.Errorf("shard 0: %d results, %v", len(f.runs[0].Results), f.errs[0])
		}
		if r := f.runs[1].Results; len(r) != 2 || r[1].Verdict == nil || r[1].Verdict.Standing != runfile.Met || !r[1].Started.After(r[0].Started) {
			t.Errorf("shard 1: %d results", len(r))
		}
	})
}

// TestEarlyStopOfShards: counts that prove something only together end the level for all shards
// at the same time, and direct the search.
func TestEarlyStopOfShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		o := quick()
		o.Incidents = []simulate.Incident{{Kind: simulate.ErrorStatus, Share: 0.1}}
		defer net.serve(t, "a", simulate.New(o))()
		f := set(t, 4, t.TempDir(), func() Options {
			p := small()
			p.Levels = []float64{4, 8, 16}
			return Options{Plan: p, Dial: net.Dial, FindCapacity: true}
		})
		f.wait()
		first := f.runs[0].Results
		for i, run := range f.runs {
			if f.errs[i] != nil || len(run.Results) != len(first) {
				t.Fatalf("shard %d: %d results, %v", i, len(run.Results), f.errs[i])
			}
			for n, r := range run.Results {
				want := first[n]
				if r.Level != want.Level || r.State != runfile.EndedEarly || r.Why != want.Why || !strings.HasPrefix(r.Why, "doomed: ") || !strings.Contains(r.Why, "availability") {
					t.Errorf("shard %d, level %g: %s (%s)", i, r.Level, r.State, r.Why)
				}
				end := func(r runfile.Result) time.Time {
					return r.Snapshots[len(r.Snapshots)-1].End()
				}
				if off := end(r).Sub(end(want)).Abs(); off > 50*time.Millisecond {
					t.Errorf("shard %d, level %g ended %s off shard 0's", i, r.Level, off)
				}
			}
		}
	})
}

// TestShardsThatCannot: invalid options are refused before any request.
func TestShardsThatCannot(t *testing.T) {
	p := small()
	p.MaxConcurrency = 2
	_, err := Run(t.Context(), Options{Plan: p, Dir: t.TempDir(), Part: load.Shard{Count: 3}})
	if err == nil || !strings.Contains(err.Error(), "max_concurrency is 2") {
		t.Errorf("%v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		lead := NewLead(Hello{Protocol: ProtocolVersion, Count: 2, Plan: "other"}, "")
		lead.open("sweep")
		o := Options{Plan: small(), Dir: t.TempDir(), Part: load.Shard{Index: 1, Count: 2}, Patience: time.Minute}
		o.Follow = NewClient(o.Hello(), "http://shard-0", "", &inMemory{to: lead})
		run, err := Run(t.Context(), o)
		var refused refusedError
		if run != nil || !errors.As(err, &refused) {
			t.Errorf("a shard of another plan: %v", err)
		}
	})
}

// TestShardThatKeepsNothing: a shard that cannot save its part of a level, or dies before, is
// lost for that level although it was measured. Shard 0 repeats it with --resume.
func TestShardThatKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		f := set(t, 2, t.TempDir(), func() Options { return Options{Plan: small(), Dial: net.Dial} })
		time.Sleep(50 * time.Second) // in the first level
		turns, err := filepath.Glob(filepath.Join(f.dir, "shard-1", "levels", "*"+turnsSuffix))
		if err != nil || len(turns) != 1 {
			t.Fatalf("%q, %v", turns, err)
		}
		inTheWay := strings.TrimSuffix(turns[0], turnsSuffix) + ".json"
		if err := os.Mkdir(inTheWay, 0o700); err != nil {
			t.Fatal(err)
		}
		<-f.done[1]
		if f.errs[1] == nil {
			t.Error("shard 1 kept a level in a directory's place")
		}
		if err := os.Remove(inTheWay); err != nil {
			t.Fatal(err)
		}
		f.start(t, 1)
		f.wait()
		first, second := f.runs[0].Results[0], f.runs[0].Results[1]
		if len(first.Lost) != 1 || first.Lost[0].Index != 1 || !first.Verdict.Unjudged() || len(second.Lost) != 0 {
			t.Errorf("shard 0 says %+v of the first level and %+v of the second", first.Lost, second.Lost)
		}
		if f.errs[0] == nil || !strings.Contains(f.errs[0].Error(), "--resume measures them again") {
			t.Errorf("shard 0 ends with %v", f.errs[0])
		}
	})
}
