package probe_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"synthetic/internal/probe"
)

// http2Peer is the server's end of one HTTP/2 connection.
type http2Peer struct {
	*http2.Framer
	net.Conn
}

// http2Attack is how a server treats a request over HTTP/2.
type http2Attack struct {
	name string
	// greet is sent before the client has sent something.
	greet func(*http2Peer)
	// do answers the request of a stream. If early is true, the request is not complete yet.
	do    func(p *http2Peer, stream uint32)
	early bool
	// unsent attacks can prevent the request. Those that are not patient need a short deadline.
	unsent, impatient bool
	want              probe.Outcome
	text              string // part of the error
}

// respond sends response headers and a part of the answer.
func (p *http2Peer) respond(stream uint32, status, body string, end bool) {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	_ = e.WriteField(hpack.HeaderField{Name: ":status", Value: status})
	_ = e.WriteField(hpack.HeaderField{Name: "location", Value: "https://login.invalid/?next=1"})
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Bytes(), EndHeaders: true})
	_ = p.WriteData(stream, end, []byte(body))
}

// cut ends the connection. Close would discard the last frames if the client is still sending.
func (p *http2Peer) cut() { _ = p.Conn.(*tls.Conn).CloseWrite() }

// serve speaks HTTP/2 on a connection. It answers requests until *left is 0, and attacks after that.
func (a http2Attack) serve(c net.Conn, requests, left *atomic.Int32) {
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	p := &http2Peer{http2.NewFramer(c, c), c}
	_ = p.WriteSettings()
	if a.greet != nil {
		a.greet(p)
	}
	attacked := false
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return
		}
		ended := false
		switch f := f.(type) {
		case *http2.HeadersFrame:
			requests.Add(1)
			attacked = left.Add(-1) < 0
			ended = f.StreamEnded()
		case *http2.DataFrame:
			ended = f.StreamEnded()
		default:
			continue
		}
		stream := f.Header().StreamID
		switch {
		case !attacked && ended:
			p.respond(stream, "200", hello+finish+done, true)
		case attacked && (ended || a.early):
			a.do(p, stream)
			_, _ = io.Copy(io.Discard, c)
			return
		}
	}
}

// goAway sends GOAWAY. With cut it closes the connection, too.
func goAway(code http2.ErrCode, newer, cut bool) func(*http2Peer, uint32) {
	return func(p *http2Peer, stream uint32) {
		last := uint32(0)
		if newer {
			last = stream
		}
		_ = p.WriteGoAway(last, code, []byte("REFUSED_STREAM"))
		if cut {
			p.cut()
		}
	}
}

func rst(code http2.ErrCode, answer string) func(*http2Peer, uint32) {
	return func(p *http2Peer, stream uint32) {
		if answer != "" {
			p.respond(stream, "200", answer, false)
		}
		_ = p.WriteRSTStream(stream, code)
	}
}

// http2Attacks returns the attacks with every error code, and others.
func http2Attacks() (all []http2Attack) {
	for code := range http2.ErrCodeHTTP11Required + 1 {
		name := code.String()
		want := probe.ConnectError
		if code == http2.ErrCodeEnhanceYourCalm {
			want = probe.HTTP429
		}
		add := func(kind string, want probe.Outcome, early bool, do func(*http2Peer, uint32)) {
			all = append(all, http2Attack{name: name + " " + kind, do: do, early: early, want: want, text: name})
		}
		add("at once", want, true, rst(code, ""))
		add("after the request", want, false, rst(code, ""))
		add("after the headers", probe.Truncated, false, rst(code, role))
		add("during the answer", probe.Truncated, false, rst(code, hello))
		add("as GOAWAY, not processed", want, false, goAway(code, false, false))
		add("as GOAWAY at once", want, true, goAway(code, false, true))
		add("as GOAWAY, processed", want, false, goAway(code, true, true))
	}
	answer := func(p *http2Peer, stream uint32) { p.respond(stream, "200", hello+finish+done, true) }
	refuse := rst(http2.ErrCodeRefusedStream, "")
	hold := func(*http2Peer, uint32) {}
	status := func(code string) func(*http2Peer, uint32) {
		return func(p *http2Peer, stream uint32) { p.respond(stream, code, "", true) }
	}
	repeat := func(write func(*http2Peer) error, then func(*http2Peer, uint32)) func(*http2Peer, uint32) {
		return func(p *http2Peer, stream uint32) {
			for range 2000 {
				if write(p) != nil {
					return
				}
			}
			then(p, stream)
		}
	}
	settings := func(p *http2Peer) error {
		return p.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14})
	}
	ping := func(p *http2Peer) error { return p.WritePing(false, [8]byte{}) }
	limit := func(id http2.SettingID) func(*http2Peer) {
		return func(p *http2Peer) { _ = p.WriteSettings(http2.Setting{ID: id}) }
	}
	return append(all,
		http2Attack{name: "a flood of settings", do: repeat(settings, answer), want: probe.Success},
		http2Attack{name: "a flood of pings", do: repeat(ping, answer), want: probe.Success},
		http2Attack{name: "a flood of settings, then a refusal", do: repeat(settings, refuse), want: probe.ConnectError, text: "REFUSED_STREAM"},
		http2Attack{name: "an orderly GOAWAY", do: func(p *http2Peer, stream uint32) {
			goAway(http2.ErrCodeNo, true, false)(p, stream)
			answer(p, stream)
		}, want: probe.Success},
		http2Attack{name: "no answer", do: hold, impatient: true, want: probe.TimeoutFirstToken},
		http2Attack{name: "a window of 0", greet: limit(http2.SettingInitialWindowSize), early: true, do: hold, impatient: true, want: probe.TimeoutFirstToken},
		http2Attack{name: "no stream permitted", greet: limit(http2.SettingMaxConcurrentStreams), early: true, do: refuse, unsent: true, want: probe.ConnectError},
		http2Attack{name: "GOAWAY before the request", greet: func(p *http2Peer) { goAway(http2.ErrCodeNo, false, false)(p, 1) },
			do: hold, unsent: true, want: probe.ConnectError},
		http2Attack{name: "closed before the request", greet: (*http2Peer).cut, do: hold, unsent: true, want: probe.ConnectError},
		http2Attack{name: "cut after the request", do: func(p *http2Peer, _ uint32) { p.cut() }, want: probe.ConnectError},
		http2Attack{name: "cut during the answer", do: func(p *http2Peer, stream uint32) {
			p.respond(stream, "200", hello, false)
			p.cut()
		}, want: probe.Truncated},
		http2Attack{name: "an invalid frame", do: func(p *http2Peer, _ uint32) { _ = p.WriteRawFrame(http2.FrameSettings, 0, 0, []byte("x")) }, want: probe.Malformed},
		http2Attack{name: "data before the headers", do: func(p *http2Peer, stream uint32) { _ = p.WriteData(stream, true, []byte(hello)) }, want: probe.Malformed},
		http2Attack{name: "no status", do: status("000"), want: probe.Malformed, text: "HTTP 000"},
		http2Attack{name: "a redirect", do: status("302"), want: probe.Malformed, text: "redirect to https://login.invalid, not followed"},
		http2Attack{name: "too many requests", do: status("429"), want: probe.HTTP429, text: "HTTP 429"},
	)
}

// TestHTTP2Attacks checks that the server gets one request for each turn, on a new and on a kept
// connection, and that the outcome names the reason.
func TestHTTP2Attacks(t *testing.T) {
	log.SetOutput(io.Discard) // of net/http
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	config := &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}}
	all := http2Attacks()
	if len(all) < 100 {
		t.Errorf("%d attacks", len(all))
	}
	for _, a := range all {
		for before := range int32(2) {
			if before > 0 && a.greet != nil {
				continue // it is about new connections
			}
			t.Run(fmt.Sprintf("%s, after %d requests", a.name, before), func(t *testing.T) { a.endure(t, config, before) })
		}
	}
}

// endure runs a turn against the attack, in a conversation with as many answered turns before it.
func (a http2Attack) endure(t *testing.T, config *tls.Config, before int32) {
	var requests, left atomic.Int32
	left.Store(before)
	addr, stop := accept(t, func(c net.Conn) { a.serve(tls.Server(c, config), &requests, &left) })
	defer stop()
	o := options(addr)
	o.Target.BaseURL = "https://" + addr + "/v1"
	o.Target.HTTP = promconfig.HTTPClientConfig{EnableHTTP2: true, TLSConfig: promconfig.TLSConfig{InsecureSkipVerify: true}}
	if a.impatient {
		t.Parallel()
		o.Workload.Timeouts.FirstToken = 5 * time.Second
	}
	results, _ := converse(t.Context(), t, o, int(before)+1)
	if len(results) != int(before)+1 {
		t.Fatalf("%d turns: %+v", len(results), results)
	}
	if n := int(requests.Load()); n != len(results) && !(a.unsent && n == 0) {
		t.Errorf("%d requests for %d turns", n, len(results))
	}
	last := results[len(results)-1]
	if last.Outcome != a.want || !strings.Contains(last.Err, a.text) {
		t.Errorf("outcome %s (%s), want %s with %q", last.Outcome, last.Err, a.want, a.text)
	}
}
