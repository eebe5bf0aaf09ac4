package probe

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/wire"
)

// made is an answer whose true times are known: each token takes perToken, hidden reasoning too.
type made struct {
	events []dialect.Event
	tpot   time.Duration
}

const perToken = 10 * time.Millisecond

// makeAnswer makes a random answer. Reasoning is absent, streamed, hidden before the first event,
// summarised, or hidden between the events as well. usage is absent, in each event, at the end, too
// small, or ends in 0.
func makeAnswer(random *rand.Rand) made {
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	kind, usage, detailed := pick("none", "streamed", "hidden", "summarised", "interleaved"), pick("absent", "running", "end", "end", "small", "zero"), random.IntN(2) == 0
	if kind == "interleaved" && (usage == "absent" || usage == "zero") {
		usage = "end" // otherwise nothing tells it from a stall
	}
	perEvent := func() int { return 1 }
	switch several := random.IntN(3); {
	case !detailed && (kind == "hidden" || kind == "interleaved"): // nothing tells them from several tokens in an event
	case several == 0:
		perEvent = func() int { return 4 }
	case several == 1:
		perEvent = func() int { return 1 + random.IntN(5) }
	}
	now, made, output, reasoning, between := time.Now(), made{}, 0, 0, 0
	spend := func(n int) {
		now = now.Add(time.Duration(n) * perToken)
		output += n
	}
	emit := func(carried, spent int, thinks bool) {
		spend(spent)
		var text strings.Builder
		for range carried {
			text.WriteString(pick("a ", " tok", " word", " longer", ",", " to", " the"))
		}
		e := dialect.Event{Kind: dialect.Token, Arrival: wire.Arrival{At: now, Seen: now}}
		if thinks {
			e.Reasoning, reasoning = []byte(text.String()), reasoning+spent
		} else {
			e.Content = []byte(text.String())
		}
		if len(made.events) > 0 {
			between += spent
		}
		if usage == "running" {
			e.Usage, e.HasUsage = dialect.Usage{PromptTokens: 5, OutputTokens: output}, true
		}
		made.events = append(made.events, e)
	}
	hide := func() {
		n := 20 + random.IntN(200)
		spend(n)
		reasoning += n
		if len(made.events) > 0 {
			between += n
		}
	}
	if kind == "hidden" || kind == "interleaved" && random.IntN(2) == 0 {
		hide()
	}
	for range 5 + random.IntN(60) {
		n := perEvent()
		switch kind {
		case "streamed":
			emit(n, n, true)
		case "summarised":
			emit(n, n*(3+random.IntN(6)), true)
		}
	}
	for i := range 30 + random.IntN(150) {
		if first := len(made.events) == 0 && random.IntN(4) == 0; first {
			emit(20, 20, false) // something holds the first tokens back
		}
		if kind == "interleaved" && i%20 == 10 {
			hide()
		}
		n := perEvent()
		emit(n, n, false)
	}
	u := dialect.Usage{PromptTokens: 5, OutputTokens: output}
	if detailed && kind != "none" {
		u.ReasoningTokens, u.ReasoningKnown = reasoning, true
	}
	last := dialect.Event{Kind: dialect.Done, FinishReason: dialect.Stop, HasUsage: usage != "absent", Usage: u, Arrival: wire.Arrival{At: now}}
	switch usage {
	case "small":
		last.Usage.OutputTokens = len(made.events) / 2
	case "zero":
		last.Usage = dialect.Usage{}
	}
	made.events = append(made.events, last)
	made.tpot = made.events[len(made.events)-2].At.Sub(made.events[0].At) / time.Duration(between)
	return made
}

// TestTPOTIsTrueOrUnknown holds TPOT against answers of known times.
func TestTPOTIsTrueOrUnknown(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	known, reasons := 0, map[TPOTUnknown]int{}
	for i := range 5000 {
		a := makeAnswer(random)
		r := Result{Sent: a.events[0].At.Add(-time.Second)}
		m := measurement{turn: &r}
		for j := range a.events {
			m.add(&a.events[j], newLimits(0, 1000))
		}
		m.end()
		reasons[r.TPOTUnknown]++
		if r.TPOT.OK == (r.TPOTUnknown != "") {
			t.Fatalf("answer %d: TPOT %v, unknown %q", i, r.TPOT, r.TPOTUnknown)
		}
		if !r.TPOT.OK {
			continue
		}
		known++
		r.StreamLag = m.lastToken.Sub(r.Sent) - r.TTFT.V
		if ratio := float64(r.TPOT.V) / float64(a.tpot); ratio < 0.95 || ratio > 1.05 || r.TokenLag() != r.TPOT.V {
			t.Errorf("answer %d: TPOT %v, want %v; %d events, usage %+v, first %d bytes of %d", i, r.TPOT.V, a.tpot, r.Events, m.counts, m.counts.firstSize, m.size)
		}
	}
	t.Logf("%d known; unknown: %v", known, reasons)
	for _, why := range TPOTUnknowns() {
		if reasons[why] == 0 && why != LargeFirstEvent {
			t.Errorf("no answer is unknown for %s", why)
		}
	}
	if known < 1500 {
		t.Errorf("only %d of 5000 answers have a TPOT", known)
	}
}

// TestHiddenTokensWithoutACount has 100 events of a token each, and other output tokens that no count tells apart.
func TestHiddenTokensWithoutACount(t *testing.T) {
	for hidden, known := range map[int]bool{0: true, 1: true, 20: false, 50: false, 100: false, 300: false} {
		now := time.Now()
		r := Result{Sent: now}
		m := measurement{turn: &r}
		for range 100 {
			now = now.Add(2 * perToken)
			m.add(&dialect.Event{Kind: dialect.Token, Delta: dialect.Delta{Content: []byte(" tok")}, Arrival: wire.Arrival{At: now, Seen: now}}, newLimits(0, 1000))
		}
		m.addUsage(dialect.Usage{PromptTokens: 5, OutputTokens: 100 + hidden}, newLimits(0, 1000))
		m.end()
		if r.TPOT.OK != known || !known && r.TPOTUnknown != HiddenReasoning {
			t.Errorf("%d hidden tokens: TPOT %v, unknown for %q", hidden, r.TPOT, r.TPOTUnknown)
		}
	}
}

// TestReasoningAboveTheOutput reads a usage of chat completions that contradicts itself.
func TestReasoningAboveTheOutput(t *testing.T) {
	var r Result
	var ev dialect.Event
	m := measurement{turn: &r}
	for _, usage := range []string{`null`, `{"prompt_tokens":5,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":900}}`} {
		now := time.Now()
		ev = dialect.Event{Arrival: wire.Arrival{At: now, Seen: now}}
		if !dialect.Of(dialect.Default).Decoder().Decode(&ev, []byte(`{"choices":[{"delta":{"content":"a"}}],"usage":`+usage+`}`), false) {
			t.Fatal("malformed")
		}
		m.add(&ev, newLimits(0, 1000))
	}
	if m.end(); r.TPOTUnknown != Contradiction || r.ReasoningTokens.OK || r.OutputTokens.V != 20 {
		t.Errorf("TPOT is unknown for %q, %v reasoning of %v", r.TPOTUnknown, r.ReasoningTokens, r.OutputTokens)
	}
}

// TestCountsNeverFall adds random usages, some impossible or contradictory.
func TestCountsNeverFall(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	count := func() int { return []int{0, 1, 7, 50, 300, 1 << 40}[random.IntN(6)] }
	for range 5000 {
		var m measurement
		before := m.counts
		for range 6 {
			m.addUsage(dialect.Usage{
				PromptTokens: count(), OutputTokens: count(), CachedTokens: count(), CachedKnown: random.IntN(2) == 0,
				ReasoningTokens: count(), ReasoningKnown: random.IntN(2) == 0,
			}, newLimits(100, 1000))
			u := m.counts
			if u.PromptTokens < before.PromptTokens || u.OutputTokens < before.OutputTokens || u.CachedTokens < before.CachedTokens || u.ReasoningTokens < before.ReasoningTokens {
				t.Fatalf("%+v became %+v", before, u)
			}
			if u.CachedTokens > u.PromptTokens || u.ReasoningTokens > u.OutputTokens || u.OutputTokens >= 1<<40 || u.PromptTokens >= 1<<40 {
				t.Fatalf("the counts are impossible: %+v", u)
			}
			before = u
		}
	}
}

// TestNoSuccessAfterAFailedReason puts a failed reason into each position of an answer.
func TestNoSuccessAfterAFailedReason(t *testing.T) {
	token := dialect.Event{Kind: dialect.Token, Delta: dialect.Delta{Content: []byte("a")}}
	stop := dialect.Event{FinishReason: dialect.Stop}
	answer := []dialect.Event{{}, token, token, stop, {FinishReason: "tired"}, {FinishReason: dialect.Filtered}, stop}
	for at := range len(answer) + 1 {
		var r Result
		a := attempt{turn: &r, seen: measurement{turn: &r}, limits: newLimits(0, 0)}
		for i := range len(answer) + 1 {
			if i == at {
				a.addEvent(&dialect.Event{Kind: token.Kind, Delta: token.Delta, FinishReason: dialect.Aborted, Message: "abort"})
			}
			if i < len(answer) {
				a.addEvent(&answer[i])
			}
		}
		if a.addEvent(&dialect.Event{Kind: dialect.Done}); r.Outcome != Aborted {
			t.Errorf("abort as event %d: %s", at, r.Outcome)
		}
	}
}

// TestTPOTOfCalls: the ID of a call has bytes, but is not made of tokens.
func TestTPOTOfCalls(t *testing.T) {
	const perEvent, named, rest = 10 * time.Millisecond, 10, 110
	now := time.Now()
	r := Result{Sent: now}
	m := measurement{turn: &r}
	for i := range 101 {
		e := dialect.Event{Kind: dialect.Token, Delta: dialect.Delta{ToolCalls: []dialect.ToolCall{{Arguments: []byte("\"a\"")}}}, Arrival: wire.Arrival{At: now.Add(time.Duration(i) * perEvent)}}
		if i == 0 {
			e.ToolCalls[0] = dialect.ToolCall{ID: []byte(strings.Repeat("0", 48)), Name: []byte(strings.Repeat("n", 30))}
		}
		m.add(&e, newLimits(0, 1000))
	}
	m.add(&dialect.Event{Kind: dialect.Done, HasUsage: true, Usage: dialect.Usage{PromptTokens: 5, OutputTokens: named + rest}}, newLimits(0, 1000))
	if m.end(); !r.TPOT.OK {
		t.Fatalf("TPOT is unknown: %s", r.TPOTUnknown)
	}
	if ratio := float64(r.TPOT.V) * rest / float64(100*perEvent); ratio < 0.95 || ratio > 1.05 {
		t.Errorf("TPOT %v, want %v", r.TPOT.V, 100*perEvent/rest)
	}
}
