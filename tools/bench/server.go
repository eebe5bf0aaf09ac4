//go:build linux

package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	random "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	head   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	before = `data: {"id":"chatcmpl-7c1f2a9be0d34f5c8a6b1d2e3f405162","object":"chat.completion.chunk","created":1763600000,"model":"m","choices":[{"index":0,"delta":{"content":"a token of 19 bytes"`
	after  = `},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n"
)

// server writes streams of a scenario. It counts the tokens, and keeps the times of the turns that ended.
type server struct {
	scenario scenario
	tokens   atomic.Int64

	mu    sync.Mutex
	ended []written
}

// serve prints the address and serves until its input ends.
func serve(s scenario) error {
	url, stop, err := (&server{scenario: s}).start()
	if err != nil {
		return err
	}
	defer stop()
	fmt.Println(url)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// start serves at an address of loopback. With TLS the server is that of net/http; without, an own one that leaves more of
// the core to the writes.
func (s *server) start() (url string, stop func(), err error) {
	if s.scenario.protocol != "" {
		key, err := certificate()
		if err != nil {
			return "", nil, err
		}
		secure := httptest.NewUnstartedServer(s)
		secure.TLS = &tls.Config{Certificates: []tls.Certificate{key}}
		secure.EnableHTTP2 = s.scenario.protocol == overHTTP2
		secure.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: s.scenario.perTarget()}
		secure.StartTLS()
		return secure.URL, secure.CloseClientConnections, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go s.accept(l)
	return "http://" + l.Addr().String(), func() { l.Close() }, nil
}

// certificate returns one with a key of a usual kind, which costs little per connection.
func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	fields := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	own, err := x509.CreateCertificate(rand.Reader, fields, fields, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{own}, PrivateKey: key}, err
}

func (s *server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go s.connection(c)
	}
}

func (s *server) connection(c net.Conn) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 1<<10)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if err := s.answer(c, r, true); err != nil {
			return
		}
	}
}

// ServeHTTP answers over TLS.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_ = s.answer(flushing{w, http.NewResponseController(w)}, r, false) // the client may have gone
}

// flushing sends what is written at once.
type flushing struct {
	http.ResponseWriter
	*http.ResponseController
}

func (f flushing) Write(b []byte) (int, error) {
	if n, err := f.ResponseWriter.Write(b); err != nil {
		return n, err
	}
	return len(b), f.Flush()
}

// taken returns the turns that have ended since the last call.
func (s *server) taken() []written {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.ended
	s.ended = nil
	return out
}

// answer answers a request. raw is true if it has to write the framing of HTTP/1.1.
func (s *server) answer(w io.Writer, r *http.Request, raw bool) error {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	var body []byte
	switch {
	case r.Method == http.MethodPost:
		_, span, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Traceparent"), "00-"), "-")
		span, _, _ = strings.Cut(span, "-")
		gap := s.scenario.gap
		if bytes.Contains(request, []byte("[ready ")) { // a sweep waits for this turn before it starts its load
			gap = 0
		}
		return s.stream(w, min(s.scenario.tokens, tokensOf(request)), gap, span, raw)
	case r.URL.Path == "/tokens":
		body = strconv.AppendInt(nil, s.tokens.Load(), 10)
	case r.URL.Path == "/written":
		body, err = json.Marshal(s.taken())
	case strings.HasSuffix(r.URL.Path, "/models"):
		body = []byte(`{"object":"list","data":[{"id":"m","object":"model"}]}`)
	default:
		body = []byte("{}")
	}
	if raw {
		body = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	_, failed := w.Write(body)
	return errors.Join(err, failed)
}

// tokensOf returns how many tokens a request asks for at most. A sweep asks for few to see whether a target is ready, and
// takes no more.
func tokensOf(body []byte) int {
	var asked struct {
		Tokens int `json:"max_tokens"`
	}
	if json.Unmarshal(body, &asked) != nil || asked.Tokens == 0 {
		return math.MaxInt
	}
	return asked.Tokens
}

// chunk returns an event, with its framing if raw is true.
func chunk(event string, raw bool) []byte {
	if raw {
		event = fmt.Sprintf("%x\r\n%s\r\n", len(event), event)
	}
	return []byte(event)
}

// stream writes a turn: each token is one write, and one write(2) unless HTTP/2 joins some.
func (s *server) stream(w io.Writer, tokens int, gap time.Duration, span string, raw bool) error {
	token := chunk(before+after, raw)
	if raw {
		if _, err := io.WriteString(w, head); err != nil {
			return err
		}
	}
	next, times := time.Now(), written{Span: span}
	if s.scenario.together {
		next = next.Truncate(s.scenario.gap)
	}
	for i := range tokens {
		next = next.Add(gap)
		if s.scenario.varied {
			token = chunk(before+`,"pad":"`+strings.Repeat("x", random.IntN(500))+`"`+after, raw)
		}
		time.Sleep(time.Until(next))
		if i == 0 {
			times.First = time.Now().UnixNano()
		}
		if _, err := w.Write(token); err != nil {
			return err
		}
		s.tokens.Add(1)
	}
	usage := fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":{"prompt_tokens":16,"completion_tokens":%d,"total_tokens":%d}}`+"\n\ndata: [DONE]\n\n", tokens, tokens+16)
	end := chunk(usage, raw)
	if raw {
		end = append(end, "0\r\n\r\n"...)
	}
	times.End = time.Now().UnixNano()
	s.mu.Lock()
	s.ended = append(s.ended, times)
	s.mu.Unlock()
	_, err := w.Write(end)
	return err
}
