package simulate

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// quick are options with almost no delay, for tests over TCP.
var quick = Options{
	FirstToken: Delay{Median: time.Nanosecond},
	InterToken: Delay{Median: time.Nanosecond},
	Answer:     Length{Median: 8},
}

// client is a client of one deployment.
type client struct {
	*http.Client
	url string
}

// serve serves a deployment over TCP.
func serve(t *testing.T, o Options) (*Deployment, client) {
	t.Helper()
	d := New(o)
	s := httptest.NewServer(d)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return d, client{s.Client(), s.URL}
}

// serveInMemory serves a deployment over in-memory connections, for testing/synctest. The caller must
// call stop inside the bubble.
func serveInMemory(o Options) (d *Deployment, c client, stop func()) {
	d = New(o)
	l := NewPipes()
	stopServer := Serve(l, d)
	tr := &http.Transport{DialContext: l.Dial}
	return d, client{&http.Client{Transport: tr}, "http://simulated"}, func() {
		tr.CloseIdleConnections()
		stopServer()
	}
}

// post sends a chat request. The end of the test closes the body.
func (c client) post(t *testing.T, ctx context.Context, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// say sends a history and returns the streamed answer.
func (c client) say(t *testing.T, history []message, extra string) reply {
	t.Helper()
	type plain struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var messages []plain
	for _, m := range history {
		messages = append(messages, plain{m.Role, m.Content.text})
	}
	b, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	resp := c.post(t, t.Context(), `{"model":"simulated-chat","stream":true,"stream_options":{"include_usage":true},"messages":`+string(b)+extra+`}`)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %s", resp.Status)
	}
	return parse(t, resp.Body)
}

// get returns the body of a page.
func (c client) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// reply is a parsed stream.
type reply struct {
	raw       []string // payloads in order
	at        []time.Duration
	content   string
	reasoning string
	finish    string
	usage     *usage
	failure   string
	err       error // of reading the body
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// parse reads a stream to its end.
func parse(t *testing.T, body io.Reader) reply {
	t.Helper()
	var r reply
	start := time.Now()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		payload, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		payload = strings.TrimSpace(payload)
		r.raw = append(r.raw, payload)
		r.at = append(r.at, time.Since(start))
		if payload != "[DONE]" {
			r.add(t, payload)
		}
	}
	r.err = lines.Err()
	return r
}

// add adds a chunk.
func (r *reply) add(t *testing.T, payload string) {
	t.Helper()
	var c struct {
		Choices []struct {
			Delta        struct{ Content, Reasoning string }
			FinishReason string `json:"finish_reason"`
		}
		Usage *usage
		Error *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(payload), &c); err != nil {
		t.Fatalf("chunk %q: %v", payload, err)
	}
	for _, choice := range c.Choices {
		r.content += choice.Delta.Content
		r.reasoning += choice.Delta.Reasoning
		r.finish += choice.FinishReason
	}
	if c.Usage != nil {
		r.usage = c.Usage
	}
	if c.Error != nil {
		r.failure = c.Error.Message
	}
}

func user(text string) message      { return message{Role: "user", Content: content{text, true}} }
func assistant(text string) message { return message{Role: "assistant", Content: content{text, true}} }

// drain sends a chat request and reads the whole answer.
func (c client) drain(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/chat/completions", strings.NewReader(question+`}`))
	if err != nil {
		return err
	}
	resp, err := c.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
