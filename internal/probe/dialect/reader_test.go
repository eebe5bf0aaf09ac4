package dialect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe/wire"
)

// seen has the fields of an Event that the tests compare. At is the number of the read that completed
// the event.
type seen struct {
	Kind      Kind
	Content   string
	Reasoning string
	Tool      bool
	Finish    string
	Usage     Usage
	Message   string
	At        int
	Coalesced bool
}

func token(content string, at int) seen { return seen{Kind: Token, Content: content, At: at} }

func done(at int) seen { return seen{Kind: Done, At: at} }

// all reads all events. The error is nil at the end of the body.
func all(r *Reader, src *reads) ([]seen, error) {
	var events []seen
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		s := seen{
			Kind: ev.Kind, Content: string(ev.Content), Reasoning: string(ev.Reasoning), Tool: ev.ToolCalls != nil,
			Finish: ev.FinishReason, Message: ev.Message, Coalesced: ev.Coalesced,
			At: int(ev.At.Sub(src.epoch).Milliseconds()),
		}
		if ev.HasUsage {
			s.Usage = ev.Usage
		}
		events = append(events, s)
	}
}

// say returns a chunk with a content delta.
func say(content string) string {
	return fmt.Sprintf(`{"id":"x","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`, content)
}

func TestReaderOddities(t *testing.T) {
	a, b := "data: "+say("a")+"\n\n", "data: "+say("b")+"\n\n"
	end := "data: [DONE]\n\n"
	coalesced := func(s seen) seen { s.Coalesced = true; return s }
	for name, test := range map[string]struct {
		reads []string
		want  []seen
	}{
		"nothing":                        {nil, nil},
		"one event":                      {[]string{a}, []seen{token("a", 1)}},
		"one event a read":               {[]string{a, b, end}, []seen{token("a", 1), token("b", 2), done(3)}},
		"many events in one read":        {[]string{a + b + end}, []seen{token("a", 1), coalesced(token("b", 1)), coalesced(done(1))}},
		"an event completed with others": {[]string{a[:20], a[20:] + b}, []seen{token("a", 2), coalesced(token("b", 2))}},
		"the blank line decides":         {[]string{a[:len(a)-1], "\n"}, []seen{token("a", 2)}},
		"split inside UTF-8": {
			[]string{"data: " + `{"choices":[{"delta":{"content":"h` + "\xc3", "\xa9" + `"}}]}` + "\n\n"},
			[]seen{token("hé", 2)},
		},
		"split inside an escape": {
			[]string{`data: {"choices":[{"delta":{"content":"\ud8`, `3d\ude00\n"}}]}` + "\n\n"},
			[]seen{token("😀\n", 2)},
		},
		"CRLF":                       {[]string{crlf(a + b)}, []seen{token("a", 1), coalesced(token("b", 1))}},
		"CR":                         {[]string{strings.ReplaceAll(a+b, "\n", "\r")}, []seen{token("a", 1), coalesced(token("b", 1))}},
		"CRLF split":                 {[]string{"data: " + say("a") + "\r", "\n\r", "\n" + crlf(b)}, []seen{token("a", 2), token("b", 3)}},
		"mixed line ends":            {[]string{"data: " + say("a") + "\r\n\n" + "data: " + say("b") + "\n\r"}, []seen{token("a", 1), coalesced(token("b", 1))}},
		"a BOM":                      {[]string{"\xEF\xBB\xBF" + a}, []seen{token("a", 1)}},
		"a BOM split":                {[]string{"\xEF", "\xBB", "\xBF" + a}, []seen{token("a", 3)}},
		"no space after the colon":   {[]string{"data:" + say("a") + "\n\n"}, []seen{token("a", 1)}},
		"a space at a read boundary": {[]string{"data:", " " + say(" a") + "\n\n"}, []seen{token(" a", 2)}},
		"data on many lines": {
			[]string{"data: {\"choices\":[{\ndata: \"delta\":{\"content\":\"a\"}\ndata: }]}\n\n"},
			[]seen{token("a", 1)},
		},
		"data on many lines, each a read": {
			[]string{"data: {\"choices\":[{\n", "data: \"delta\":{\"content\":\"a\"}\n", "data: }]}\n", "\n" + b},
			[]seen{token("a", 4), coalesced(token("b", 4))},
		},
		"comments before, in and after": {
			[]string{": ping\n\n", ":\n" + a[:len(a)-1] + ": inside\n", "\n: after\n\n"},
			[]seen{token("a", 3)},
		},
		"other fields":                  {[]string{"id: 7\nretry: 5\nevent: delta\nwhat: ever\nnothing\n" + a}, []seen{token("a", 1)}},
		"no end of the last event":      {[]string{a, "data: " + say("b")}, []seen{token("a", 1), token("b", 2)}},
		"no blank line at the end":      {[]string{"data: [DONE]\n"}, []seen{done(1)}},
		"cut inside JSON":               {[]string{a + `data: {"choices":[{"de`}, []seen{token("a", 1), {Kind: Malformed, Message: `{"choices":[{"de`, At: 1, Coalesced: true}}},
		"no DONE":                       {[]string{a}, []seen{token("a", 1)}},
		"bytes after DONE":              {[]string{a + end + b + "garbage\n\n"}, []seen{token("a", 1), coalesced(done(1)), coalesced(token("b", 1))}},
		"empty data":                    {[]string{"data:\n\ndata\n\ndata: \n\n" + a}, []seen{{At: 1}, {At: 1, Coalesced: true}, {At: 1, Coalesced: true}, coalesced(token("a", 1))}},
		"garbage":                       {[]string{"data: <html>\n\n"}, []seen{{Kind: Malformed, Message: "<html>", At: 1}}},
		"an array":                      {[]string{"data: []\n\n"}, []seen{{Kind: Malformed, Message: "[]", At: 1}}},
		"an event called error":         {[]string{"event: error\ndata: boom\n\n" + a}, []seen{{Kind: Error, Message: "boom", At: 1}, coalesced(token("a", 1))}},
		"a called error with an object": {[]string{"event:error\ndata: {\"message\":\"boom\"}\n\n"}, []seen{{Kind: Error, Message: "boom", At: 1}}},
		"an error after a comment":      {[]string{": ping\ndata: {\"error\":{\"message\":\"boom\",\"code\":500}}\n\n"}, []seen{{Kind: Error, Message: "boom", At: 1}}},
		"an error field":                {[]string{"error: {\"message\":\"boom\"}\n\n"}, []seen{{Kind: Error, Message: "boom", At: 1}}},
		"an event called error, empty":  {[]string{"event: error\n\n" + a}, []seen{{Kind: Error, Message: "an error event without data", At: 1}, {Kind: Token, Content: "a", At: 1, Coalesced: true}}},
		"an error in a comment":         {[]string{"event: error\n: worker lost\n\n: keep-alive\n\n: x\nevent: error"}, []seen{{Kind: Error, Message: "worker lost", At: 1}, {Kind: Error, Message: "x", At: 1, Coalesced: true}}},
		"a JSON error body":             {[]string{`{"error":`, `{"message":"no such model"}}`}, []seen{{Kind: Error, Message: "no such model", At: 2}}},
		"a JSON error body in lines":    {[]string{"\n{\n  \"error\": {\n\n\"message\": \"boom\"}\n}\n"}, []seen{{Kind: Error, Message: "boom", At: 1}}},
		"a JSON error, indented":        {[]string{"\n  {\"error\":\n\"e\"}\n"}, []seen{{Kind: Error, Message: "e", At: 1}}},
		"a JSON array":                  {[]string{`[{"error":"e"}]`}, []seen{{Kind: Error, Message: "e", At: 1}}},
		"a JSON list":                   {[]string{`[{"a":"e"}]`}, []seen{{Kind: Malformed, Message: `not an event stream but one JSON text: [{"a":"e"}]`, At: 1}}},
		"a JSON answer":                 {[]string{`{"choices":[{"message":{"content":"hi"}}]}`}, []seen{{Kind: Malformed, Message: `not an event stream but one JSON text: {"choices":[{"message":{"content":"hi"}}]}`, At: 1}}},
		"an HTML page":                  {[]string{"<html>\n<body>\n\n</html>"}, []seen{{Kind: Malformed, Message: "not an event stream but an HTML page: <html>\n<body>\n</html>", At: 1}}},
		"an HTML page with a title":     {[]string{"<!DOCTYPE html>\n<head><TITLE>502 Bad\nGateway</TITLE>\n</html>"}, []seen{{Kind: Malformed, Message: `not an event stream but an HTML page with the title "502 Bad Gateway"`, At: 1}}},
		"a plain text":                  {[]string{"upstream connect error"}, []seen{{Kind: Malformed, Message: "not an event stream but upstream connect error", At: 1}}},
		"a field that nobody knows":     {[]string{a + "x\n\n"}, []seen{token("a", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			src := newReads(test.reads...)
			got, err := all(NewReader(src, newChat(), 1<<20), src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func TestReaderLargeEvent(t *testing.T) {
	text := strings.Repeat("x", 200<<10)
	src := newReads("data: "+say(text)+"\n\n", "data: "+say("b")+"\n\n")
	r := NewReader(src, newChat(), 1<<20)
	got, err := all(r, src)
	if err != nil || len(got) != 2 || got[0].Content != text || got[1].Content != "b" {
		t.Errorf("got %d events and %v", len(got), err)
	}
	if n := cap(r.lines.buf); n > keptBuffer {
		t.Errorf("the reader keeps %d bytes after a large event", n)
	}
}

func TestReaderBounds(t *testing.T) {
	const limit = 1000
	for name, text := range map[string]string{
		"an endless line":           "data: " + strings.Repeat("x", 1<<20),
		"an endless comment":        ":" + strings.Repeat("x", 1<<20),
		"an endless event":          strings.Repeat("data: xxxxxxxxxx\n", 1<<16),
		"an endless JSON text":      "{\n" + strings.Repeat("\n", 1<<20),
		"a line just over":          "data: " + strings.Repeat("x", limit-5) + "\n\n",
		"an event just over":        "data: " + strings.Repeat("x", 500) + "\ndata: " + strings.Repeat("x", 500) + "\n\n",
		"an endless unended line":   strings.Repeat("x", limit+1),
		"an endless line after one": "data: [DONE]\n\n" + strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			src := newReads(text)
			r := NewReader(src, newChat(), limit)
			_, err := all(r, src)
			var large *TooLargeError
			if !errors.As(err, &large) || large.Limit != limit {
				t.Fatalf("got %v, want a *TooLargeError", err)
			}
			if _, again := r.Next(); again != err {
				t.Errorf("then got %v", again)
			}
			if n := cap(r.lines.buf) + cap(r.payload.joined); n > smallBuffer+4*limit {
				t.Errorf("the reader holds %d bytes", n)
			}
		})
	}
	src := newReads("data: " + strings.Repeat("x", limit-6) + "\n\n")
	if got, err := all(NewReader(src, newChat(), limit), src); err != nil || len(got) != 1 {
		t.Errorf("a line at the bound: got %v and %v", got, err)
	}
}

func TestReaderEndlessPings(t *testing.T) {
	src := newReads(strings.Repeat(": ping\n\n", 1<<16), "data: "+say("a")+"\n\n")
	r := NewReader(src, newChat(), 1000)
	got, err := all(r, src)
	if err != nil || len(got) != 1 || got[0].Content != "a" {
		t.Errorf("got %v and %v", got, err)
	}
}

func TestReaderSourceErrors(t *testing.T) {
	src := newReads("data: " + say("a") + "\n\ndata: half")
	src.err = os.ErrDeadlineExceeded
	r := NewReader(src, newChat(), 1<<20)
	got, err := all(r, src)
	if !errors.Is(err, os.ErrDeadlineExceeded) || len(got) != 1 {
		t.Fatalf("got %v and %v", got, err)
	}
	// After the deadline has been moved, the stream continues.
	src.texts, src.err = []string{" of it\n\n"}, io.EOF
	got, err = all(r, src)
	want := []seen{{Kind: Malformed, Message: "half of it", At: 2}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("after the timeout (-want +got), %v:\n%s", err, diff)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestReaderNoProgress(t *testing.T) {
	src := newReads()
	src.err = nil
	if _, err := NewReader(src, newChat(), 1<<20).Next(); err != io.ErrNoProgress {
		t.Errorf("got %v", err)
	}
}

func TestReaderDoesNotAllocate(t *testing.T) {
	r := NewReader(&endless{text: typical}, newChat(), 1<<20)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
}

func TestDecodersDoNotAllocate(t *testing.T) {
	for name, data := range map[string]string{
		"responses": `{"type":"response.output_text.delta","sequence_number":7,"item_id":"m","output_index":1,"content_index":0,"delta":"It"}`,
		"messages":  `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"It"}}`,
	} {
		d := decoders()[name]()
		var ev Event
		if n := testing.AllocsPerRun(100, func() {
			ev = Event{}
			if !d.Decode(&ev, []byte(data), false) || ev.Kind != Token || string(ev.Content) != "It" {
				t.Fatalf("%s: got %+v", name, ev)
			}
		}); n > 1 { // one for the copy of data
			t.Errorf("%s: %v allocations per event", name, n)
		}
	}
}

// TestReaderCoalescedAcrossReads checks that two reads with the same kernel timestamp count as one.
func TestReaderCoalescedAcrossReads(t *testing.T) {
	src := &sameKernelTime{reads: *newReads("data: "+say("a")+"\n\n", "data: "+say("b")+"\n\n")}
	r := NewReader(src, newChat(), 1<<20)
	for i, want := range []bool{false, true} {
		if ev, err := r.Next(); err != nil || ev.Coalesced != want {
			t.Errorf("event %d: coalesced %v, %v", i, ev.Coalesced, err)
		}
	}
}

type sameKernelTime struct{ reads }

func (s *sameKernelTime) Arrival() wire.Arrival {
	return wire.Arrival{At: s.epoch, Seen: s.epoch, Kernel: true}
}
