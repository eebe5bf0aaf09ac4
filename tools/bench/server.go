//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	// stampDigits is the width of a time in Unix nanoseconds, the content of each token.
	stampDigits = 19
	before      = `data: {"id":"chatcmpl-7c1f2a9be0d34f5c8a6b1d2e3f405162","object":"chat.completion.chunk","created":1763600000,"model":"m","choices":[{"index":0,"delta":{"content":"`
	after       = `},"logprobs":null,"finish_reason":null,"token_ids":null}]}` + "\n\n"
)

// server writes streams of a scenario. It counts the tokens.
type server struct {
	scenario scenario
	tokens   atomic.Int64
}

// serve prints the address and serves until its input ends.
func serve(s scenario) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	srv := &server{scenario: s}
	go srv.accept(l)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
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
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if err := s.answer(c, r, body); err != nil {
			return
		}
	}
}

func (s *server) answer(c io.Writer, r *http.Request, body []byte) error {
	switch {
	case r.Method == http.MethodPost:
		return s.stream(c, min(s.scenario.tokens, tokensOf(body)))
	case r.URL.Path == "/tokens":
		return whole(c, strconv.FormatInt(s.tokens.Load(), 10))
	case strings.HasSuffix(r.URL.Path, "/models"):
		return whole(c, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
	}
	return whole(c, "{}")
}

func whole(c io.Writer, body string) error {
	_, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return err
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

// chunkOf returns the chunk of a token with more members of the delta, and the place of the time in it.
func chunkOf(members string) (chunk, stamp []byte) {
	head := fmt.Sprintf("%x\r\n%s", len(before)+stampDigits+len(`"`+members+after), before)
	chunk = fmt.Appendf(nil, "%s%0*d\"%s%s\r\n", head, stampDigits, 0, members, after)
	return chunk, chunk[len(head):][:0:stampDigits]
}

// stream writes a turn: each token is one write(2) of one chunk with the time directly before it.
func (s *server) stream(c io.Writer, tokens int) error {
	chunk, stamp := chunkOf("")
	if _, err := io.WriteString(c, head); err != nil {
		return err
	}
	next := time.Now()
	if s.scenario.together {
		next = next.Truncate(s.scenario.gap)
	}
	for range tokens {
		next = next.Add(s.scenario.gap)
		if s.scenario.varied {
			chunk, stamp = chunkOf(`,"pad":"` + strings.Repeat("x", rand.IntN(500)) + `"`)
		}
		time.Sleep(time.Until(next))
		strconv.AppendInt(stamp, time.Now().UnixNano(), 10)
		if _, err := c.Write(chunk); err != nil {
			return err
		}
		s.tokens.Add(1)
	}
	usage := fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":{"prompt_tokens":16,"completion_tokens":%d,"total_tokens":%d}}`+"\n\ndata: [DONE]\n\n", tokens, tokens+16)
	_, err := fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(usage), usage)
	return err
}
