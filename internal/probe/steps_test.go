package probe_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
)

// served is a request that agentServer answered.
type served struct {
	output         int // its token limit, which identifies the step
	begin, end     time.Duration
	session, trace string
	salt           string
	messages       []workload.Message
}

// agentServer answers each request after a second of virtual time, and the one with the limit fail with
// an error.
type agentServer struct {
	start time.Time
	fail  int
	conns sync.WaitGroup

	mu  sync.Mutex
	log []served
}

func (s *agentServer) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	s.conns.Go(func() {
		defer far.Close()
		in := bufio.NewReader(far)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			s.answer(far, r)
		}
	})
	return near, nil
}

func (s *agentServer) answer(w io.Writer, r *http.Request) {
	var body struct {
		Messages  []workload.Message `json:"messages"`
		MaxTokens int                `json:"max_tokens"`
		Salt      string             `json:"cache_salt"`
	}
	text, _ := io.ReadAll(r.Body) // a body in memory
	_ = json.Unmarshal(text, &body)
	one := served{
		output: body.MaxTokens, begin: time.Since(s.start), session: r.Header.Get("X-Session-Id"),
		trace: strings.Split(r.Header.Get("Traceparent"), "-")[1], messages: body.Messages, salt: body.Salt,
	}
	time.Sleep(time.Second)
	one.end = time.Since(s.start)
	s.mu.Lock()
	s.log = append(s.log, one)
	s.mu.Unlock()
	status, answer := "200 OK", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	if body.MaxTokens == s.fail {
		status, answer = "500 Broken", "broken"
	}
	fmt.Fprintf(w, "HTTP/1.1 %s\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", status, len(answer), answer)
}

// timeline lists the requests by their start: the limit of the answer, and from when to when it was served.
func (s *agentServer) timeline() string {
	var out []string
	slices.SortFunc(s.log, func(a, b served) int { return int(a.begin - b.begin) })
	for _, one := range s.log {
		out = append(out, fmt.Sprintf("%d: %s-%s", one.output, one.begin, one.end))
	}
	return strings.Join(out, ", ")
}

// replayed replays the first session of a sample in virtual time.
func replayed(t *testing.T, sample string, speed float64, s *agentServer) (sink *recorder, sum probe.Conversation) {
	t.Helper()
	o := options("agents.test")
	o.Dial = s.dial
	o.Target.Session = target.DefaultSession()
	o.Target.CacheSalt = target.SaltConversation
	o.Workload.Trace = workload.Trace{File: "workload/trace/testdata/" + sample, Options: trace.Options{MaxPause: 10 * time.Second}}
	source, err := workload.NewSource(o.Workload, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	c := source.Next()
	c.Hasten(speed)
	s.start = time.Now()
	sink = &recorder{}
	sum = p.Converse(t.Context(), probe.Plan{Conversation: c, ID: "c", Scheduled: s.start, Model: "m"}, sink)
	p.Close()
	s.conns.Wait()
	for _, r := range sink.results {
		if late := r.ScheduleLag(); late != 0 {
			t.Errorf("a turn was sent %s after it was due", late)
		}
	}
	return sink, sum
}

// TestDependencies replays recorded sessions. Each step starts when all that it needs have ended and its
// tool time is over, sub-agents run side by side, and the speed changes tool times only.
func TestDependencies(t *testing.T) {
	for _, c := range []struct {
		sample string
		speed  float64
		want   string
	}{
		{"dynamo.jsonl", 1, "16: 0s-1s, 5: 2s-3s, 6: 3.2s-4.2s, 20: 4.7s-5.7s"},
		{"dynamo.jsonl", 2, "16: 0s-1s, 5: 1.5s-2.5s, 6: 2.6s-3.6s, 20: 3.85s-4.85s"},
		{"agentic-mooncake.jsonl", 1, "16: 0s-1s, 5: 2s-3s, 20: 4.5s-5.5s"},
		{"agentic-mooncake.jsonl", 4, "16: 0s-1s, 5: 500ms-1.5s, 20: 1.875s-2.875s"},
		{"weka.jsonl", 1, "20: 0s-1s, 5: 2s-3s, 7: 2.5s-3.5s, 6: 4.5s-5.5s, 30: 6s-7s, 10: 17s-18s"},
		{"weka.jsonl", 2, "20: 0s-1s, 5: 1.5s-2.5s, 7: 1.75s-2.75s, 6: 3.25s-4.25s, 30: 4.5s-5.5s, 10: 10.5s-11.5s"},
	} {
		t.Run(fmt.Sprintf("%s x%g", c.sample, c.speed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &agentServer{}
				sink, sum := replayed(t, c.sample, c.speed, s)
				if got := s.timeline(); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if sum.Outcome != probe.Success || sum.Turns != len(s.log) || sum.Turns != len(sink.results) || sum.End.Sub(s.start) != s.log[len(s.log)-1].end {
					t.Errorf("the conversation is %+v", sum)
				}
				want := probe.Spent{FirstToken: time.Duration(len(s.log)) * time.Second, Between: betweenTurns(sink.results)}
				if sum.Duration() != s.log[len(s.log)-1].end || sum.Spent != want {
					t.Errorf("it took %s, of which %+v, want %+v", sum.Duration(), sum.Spent, want)
				}
			})
		})
	}
}

// betweenTurns sums the times between consecutive turns of each lane.
func betweenTurns(turns []probe.Result) (sum time.Duration) {
	ends := map[string]time.Time{}
	for _, r := range turns {
		if end, known := ends[r.Conversation]; known {
			sum += r.Sent.Sub(end)
		}
		ends[r.Conversation] = r.End
	}
	return sum
}

// TestLanes checks that each agent has a session of its own within one trace, and sends its recorded prompts
// rather than the answers of the server.
func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &agentServer{}
		sink, _ := replayed(t, "weka.jsonl", 1, s)
		s.timeline()
		var sessions []int
		first := map[string]int{}
		for i, one := range s.log {
			if _, known := first[one.session]; !known {
				first[one.session] = i
			}
			sessions = append(sessions, first[one.session])
			if one.salt == "" || one.salt != s.log[0].salt || one.trace != s.log[0].trace || len(one.messages) != 1 || one.messages[0].Role != "user" {
				t.Errorf("request %d: trace %s of %s, salt %q of %q, messages %+v", i, one.trace, s.log[0].trace, one.salt, s.log[0].salt, one.messages)
			}
		}
		if want := []int{0, 1, 2, 1, 0, 0}; !slices.Equal(sessions, want) {
			t.Errorf("sessions by their first request: %v, want %v", sessions, want)
		}
		block := len(s.log[5].messages[0].Content) * 64 / 150
		for _, pair := range [][3]int{{0, 4, 3}, {0, 5, 1}, {1, 3, 1}, {0, 1, 0}} {
			a, b := s.log[pair[0]].messages[0].Content, s.log[pair[1]].messages[0].Content
			n := 0
			for n < min(len(a), len(b)) && a[n] == b[n] {
				n++
			}
			if n < pair[2]*block || n > pair[2]*block+20 {
				t.Errorf("prompts %d and %d share %d characters, want those of %d blocks", pair[0], pair[1], n, pair[2])
			}
		}
		var names []string
		for _, r := range sink.results {
			names = append(names, fmt.Sprintf("%s/%d %s", r.Conversation, r.Turn, r.Kind))
		}
		slices.Sort(names)
		if want := []string{"c.1/1 first", "c.1/2 followup", "c.2/1 first", "c/1 first", "c/2 followup", "c/3 followup"}; !slices.Equal(names, want) {
			t.Errorf("turns %q, want %q", names, want)
		}
	})
}

// TestOneAgent checks that requests of one agent that overlap are one session for routers.
func TestOneAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &agentServer{fail: -1}
		sink, _ := replayed(t, "inference-perf.json", 1, s)
		for i, one := range s.log {
			if one.session == "" || one.session != s.log[0].session {
				t.Errorf("request %d: session %q, want %q", i, one.session, s.log[0].session)
			}
		}
		lanes := map[string]bool{}
		for _, r := range sink.results {
			lanes[r.Conversation] = true
		}
		if len(s.log) != 4 || len(lanes) != 2 {
			t.Errorf("%d requests of %d lanes", len(s.log), len(lanes))
		}
	})
}

// TestFailedStep checks that what needs a failed step is not sent, and that the rest is.
func TestFailedStep(t *testing.T) {
	for fail, want := range map[int]string{
		5:  "20: 0s-1s, 5: 2s-3s, 7: 2.5s-3.5s",
		20: "20: 0s-1s",
		30: "20: 0s-1s, 5: 2s-3s, 7: 2.5s-3.5s, 6: 4.5s-5.5s, 30: 6s-7s",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &agentServer{fail: fail}
			_, sum := replayed(t, "weka.jsonl", 1, s)
			if got := s.timeline(); got != want || sum.Outcome != probe.HTTP5xx {
				t.Errorf("%d fails: %s, outcome %s, want %s", fail, got, sum.Outcome, want)
			}
		})
	}
}
