package probe_test

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestOutcomes checks the outcome and the understood part of every kind of answer that a server was
// seen to send.
func TestOutcomes(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	type want struct {
		outcome probe.Outcome
		answer  string
		events  int
		err     string // part of the error
	}
	for _, tc := range []struct {
		name   string
		script string
		reset  bool
		want   want
	}{
		{"whole answer", sseHead + chunk(role) + chunk(hello) + chunk(world) + chunk(finish) + chunk(usage) + chunk(done) + lastChunk, false,
			want{probe.Success, "Hello world", 2, ""}},
		{"bytes after [DONE]", sseHead + chunk(hello, finish, done, "data: {oops\n\n", hello) + lastChunk, false,
			want{probe.Success, "Hello", 1, ""}},
		{"reset after [DONE]", sseHead + chunk(hello, finish, done), true,
			want{probe.Success, "Hello", 1, ""}},
		{"content with the finish reason", closeHead + `data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"length"}]}` + "\n\n" + done, false,
			want{probe.Success, "Hi", 1, ""}},
		{"tool call", closeHead + `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" + done, false,
			want{probe.Success, "", 1, ""}},
		{"an event of 100 kB", closeHead + `data: {"choices":[{"delta":{"content":"` + long + `"}}]}` + "\n\n" + finish + done, false,
			want{probe.Success, long, 1, ""}},

		{"given up, then stopped", sseHead + chunk(aborted, hello, finish, done) + lastChunk, false,
			want{probe.Aborted, "Hello", 1, `with the finish reason "abort"`}},
		{"an HTML page with status 200", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html><title>Sign in</title></html>", false,
			want{probe.Malformed, "", 0, `(Content-Type "text/html"): not an event stream but an HTML page with the title "Sign in"`}},
		{"cut after a token", sseHead + chunk(role) + chunk(hello), false,
			want{probe.Truncated, "Hello", 1, "in the middle of the stream"}},
		{"reset after a token", sseHead + chunk(role) + chunk(hello), true,
			want{probe.Truncated, "Hello", 1, "in the middle of the stream"}},
		{"[DONE] without a finish reason", sseHead + chunk(hello, done) + lastChunk, false,
			want{probe.Truncated, "Hello", 1, "without a finish reason"}},
		{"closed before any header", "", false,
			want{probe.ConnectError, "", 0, "lost before the response"}},
		{"error event", sseHead + chunk(role, `data: {"error":{"message":"engine died","code":500}}`+"\n\n", done) + lastChunk, false,
			want{probe.ErrorEvent, "", 0, "engine died"}},
		{"error event after tokens", sseHead + chunk(hello, `data: {"error":{"message":"engine died"}}`+"\n\n") + lastChunk, false,
			want{probe.ErrorEvent, "Hello", 1, "engine died"}},
		{"event: error", sseHead + chunk("event: error\ndata: {\"message\":\"worker gone\"}\n\n") + lastChunk, false,
			want{probe.ErrorEvent, "", 0, "worker gone"}},
		{"JSON error of the other kind with status 200", jsonResponse("200 OK", `{"object":"error","message":"no capacity"}`), false,
			want{probe.ErrorEvent, "", 0, "no capacity"}},
		{"a stream that is called JSON", jsonResponse("200 OK", hello+finish+done), false,
			want{probe.Success, "Hello", 1, ""}},
		{"JSON answer instead of a stream", jsonResponse("200 OK", `{"choices":[{"message":{"content":"hi"}}]}`), false,
			want{probe.Malformed, "", 0, "not an event stream"}},
		{"an answer without end", closeHead + strings.Repeat(`data: {"choices":[{"delta":{"content":"`+long+`"}}]}`+"\n\n", 12), false,
			want{probe.Malformed, strings.Repeat(long, 11), 11, "more than 1048576 bytes"}},
		{"no HTTP at all", "220 smtp ready\r\n\r\n", false,
			want{probe.Malformed, "", 0, "is not HTTP"}},
		{"empty answer", sseHead + chunk(role, finish, done) + lastChunk, false,
			want{probe.Empty, "", 0, "no token"}},
		{"too many requests", jsonResponse("429 Too Many Requests", `{"error":{"message":"queue full"}}`), false,
			want{probe.HTTP429, "", 0, "queue full"}},
		{"overloaded", jsonResponse("529 Overloaded", `{"message":"Service temporarily overloaded","code":529}`), false,
			want{probe.HTTP429, "", 0, "HTTP 529: Service temporarily overloaded"}},
		{"over-length", jsonResponse("400 Bad Request", `{"object":"error","message":"context length exceeded","code":400}`), false,
			want{probe.HTTP4xx, "", 0, "context length exceeded"}},
		{"wrong model", jsonResponse("404 Not Found", `{"error":{"message":"The model does not exist"}}`), false,
			want{probe.HTTP4xx, "", 0, "HTTP 404: The model does not exist"}},
		{"a redirect is not followed", "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", false,
			want{probe.Malformed, "", 0, "HTTP 307: redirect to http://127.0.0.1:1, not followed"}},
		{"a redirect to a path", "HTTP/1.1 302 Found\r\nLocation: /login?key=k\r\nContent-Length: 0\r\n\r\n", false,
			want{probe.Malformed, "", 0, "HTTP 302: redirect to http://127.0.0.1:"}},
		{"not modified", "HTTP/1.1 304 Not Modified\r\n\r\n", false,
			want{probe.Malformed, "", 0, "HTTP 304: without an error message"}},
		{"no status", "HTTP/1.1 000 \r\nContent-Length: 0\r\n\r\n", false,
			want{probe.Malformed, "", 0, "HTTP 000: not a final status"}},
		{"a switch of the protocol", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", false,
			want{probe.Malformed, "", 0, "HTTP 101: not a final status"}},
		{"server error", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy", false,
			want{probe.HTTP5xx, "", 0, "HTTP 503: busy"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := play(t, &scripted{reset: tc.reset, steps: []step{{0, tc.script}}})
			r := once(t, options(s.addr))
			if r.Outcome != tc.want.outcome {
				t.Fatalf("outcome %s (%s), want %s", r.Outcome, r.Err, tc.want.outcome)
			}
			if r.Answer != tc.want.answer {
				t.Errorf("answer %.60q, want %.60q", r.Answer, tc.want.answer)
			}
			if r.Events != tc.want.events {
				t.Errorf("%d token events, want %d", r.Events, tc.want.events)
			}
			if !strings.Contains(r.Err, tc.want.err) {
				t.Errorf("error %q does not contain %q", r.Err, tc.want.err)
			}
			if (r.Err == "") != (r.Outcome == probe.Success) {
				t.Errorf("outcome %s with error %q", r.Outcome, r.Err)
			}
			if got := r.TTFT.OK; got != (tc.want.events > 0) {
				t.Errorf("TTFT defined: %v with %d token events", got, tc.want.events)
			}
			if s.count() > 1 {
				t.Errorf("%d requests were sent for one turn", s.count())
			}
			if r.End.Before(r.Sent) || r.Sent.Before(r.Scheduled) {
				t.Errorf("times run backwards: scheduled %v, sent %v, end %v", r.Scheduled, r.Sent, r.End)
			}
		})
	}
}

// TestTimeouts checks each timeout over real TCP.
func TestTimeouts(t *testing.T) {
	const short, long = 60 * time.Millisecond, 20 * time.Second
	ping := step{20 * time.Millisecond, chunk(": ping\n\n")}
	pings := []step{{0, sseHead + chunk(role)}}
	for range 50 {
		pings = append(pings, ping)
	}
	slow := []step{{0, sseHead}}
	for range 50 {
		slow = append(slow, step{20 * time.Millisecond, chunk(hello)})
	}
	for _, tc := range []struct {
		name                     string
		steps                    []step
		firstToken, stall, total time.Duration
		want                     probe.Outcome
		ttft                     bool
	}{
		{"no headers", nil, short, long, long, probe.TimeoutFirstToken, false},
		{"headers and a role only", []step{{0, sseHead + chunk(role)}}, short, long, long, probe.TimeoutFirstToken, false},
		{"pings do not count as tokens", pings, short, long, long, probe.TimeoutFirstToken, false},
		{"a token, then nothing", []step{{0, sseHead + chunk(hello)}}, long, short, long, probe.Stall, true},
		{"tokens without end", slow, long, long, 200 * time.Millisecond, probe.TimeoutTotal, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := play(t, &scripted{steps: tc.steps, hold: true})
			o := options(s.addr)
			o.Workload.Timeouts.FirstToken, o.Workload.Timeouts.Stall, o.Workload.Timeouts.Total = tc.firstToken, tc.stall, tc.total
			r := once(t, o)
			if r.Outcome != tc.want || r.TTFT.OK != tc.ttft {
				t.Fatalf("outcome %s (%s), TTFT defined %v; want %s, %v", r.Outcome, r.Err, r.TTFT.OK, tc.want, tc.ttft)
			}
			if bound := min(tc.firstToken, tc.stall, tc.total); r.Duration() < bound {
				t.Errorf("gave up after %v, before the bound of %v", r.Duration(), bound)
			}
		})
	}
}
