package httpserver

import (
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCrossSite checks that only requests from pages of other sites are refused, and only if they
// change something.
func TestCrossSite(t *testing.T) {
	h := Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "done") }), maxBody)
	for name, tc := range map[string]struct {
		method  string
		headers map[string]string
		code    int
		says    string
	}{
		"curl":                     {http.MethodPost, nil, 200, "done"},
		"same origin":              {http.MethodPost, map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://example.com"}, 200, "done"},
		"the address bar":          {http.MethodPost, map[string]string{"Sec-Fetch-Site": "none"}, 200, "done"},
		"another site":             {http.MethodPost, map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403, "another site (Origin: \"https://evil.example\")"},
		"another site of a domain": {http.MethodPost, map[string]string{"Sec-Fetch-Site": "same-site"}, 403, "Sec-Fetch-Site: \"same-site\""},
		"an old browser":           {http.MethodPost, map[string]string{"Origin": "https://evil.example"}, 403, "with curl"},
		"an old browser, here":     {http.MethodPost, map[string]string{"Origin": "http://example.com"}, 200, "done"},
		"a frame of another site":  {http.MethodGet, map[string]string{"Sec-Fetch-Site": "cross-site"}, 200, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := httptest.NewRequest(tc.method, "/", nil), httptest.NewRecorder()
			for k, v := range tc.headers {
				r.Header.Set(k, v)
			}
			h.ServeHTTP(w, r)
			if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("%d %s, want %d and %q", w.Code, w.Body, tc.code, tc.says)
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("a browser may guess the content type")
			}
		})
	}
}

// TestOwnSite checks which requests may change something: none of a browser that a page of another site
// may have sent, with GET or POST, and none whose Host such a page may have led here.
func TestOwnSite(t *testing.T) {
	h := OwnSite(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "done") }),
		func(r *http.Request) bool { return HostOf(r.Host) == "own.example.com" })
	header := func(pairs ...string) http.Header {
		out := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			out.Set(pairs[i], pairs[i+1])
		}
		return out
	}
	for name, tc := range map[string]struct {
		host    string
		headers http.Header
		code    int
		says    string
	}{
		"Prometheus":                  {"10.0.0.1:9877", header("User-Agent", "Prometheus/3.0"), 200, "done"},
		"by a Service":                {"synthetic.probing.svc:9877", nil, 200, "done"},
		"by a Service, in full":       {"Synthetic.probing.svc.cluster.local.:9877", nil, 200, "done"},
		"by a short name":             {"synthetic", nil, 200, "done"},
		"IPv6":                        {"[::1]:9877", nil, 200, "done"},
		"the name that is trusted":    {"own.example.com:9877", nil, 200, "done"},
		"a name of the public DNS":    {"evil.example.com:9877", nil, 403, "a web page may have led its Host, \"evil.example.com:9877\""},
		"its suffix is none of ours":  {"evil.example.svc.com", nil, 403, "use the IP address"},
		"another site":                {"10.0.0.1", header("Sec-Fetch-Site", "cross-site"), 403, "another site"},
		"another origin":              {"10.0.0.1", header("Origin", "https://evil.example"), 403, "another site"},
		"a page of this address":      {"10.0.0.1", header("Sec-Fetch-Site", "same-origin", "Origin", "http://10.0.0.1"), 200, "done"},
		"a page with another address": {"evil.example.com", header("Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example.com"), 403, "Host"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r, w := httptest.NewRequest(method, "/", nil), httptest.NewRecorder()
			r.Host = tc.host
			maps.Copy(r.Header, tc.headers)
			if h.ServeHTTP(w, r); w.Code != tc.code || !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("%s, %s: %d %s, want %d and %q", name, method, w.Code, w.Body, tc.code, tc.says)
			}
		}
	}
	for method, want := range map[string]int{http.MethodGet: 403, http.MethodPost: 200} {
		r, w := httptest.NewRequest(method, "http://10.0.0.1/", nil), httptest.NewRecorder()
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)")
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s of a browser without Origin: %d %s, want %d", method, w.Code, w.Body, want)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	var read int64
	h := Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { read, _ = io.Copy(io.Discard, r.Body) }), maxBody)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 2*maxBody))))
	if read != maxBody {
		t.Errorf("%d bytes were read, want %d", read, maxBody)
	}
}

// closedWithin returns how long the server keeps a connection open.
func closedWithin(c net.Conn) time.Duration {
	began := time.Now()
	_, _ = io.Copy(io.Discard, c)
	return time.Since(began)
}

// TestSlowPeers checks that connections are closed whose client neither sends nor reads.
func TestSlowPeers(t *testing.T) {
	for name, tc := range map[string]struct {
		says   string
		within time.Duration
	}{
		"sends nothing":      {"", headerTimeout},
		"half a header":      {"GET / HTTP/1.1\r\nHost:", headerTimeout},
		"half a body":        {"POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf", readTimeout},
		"no body, not asked": {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", readTimeout},
		"idle":               {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", idleTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, stop := open(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/read" {
						_, _ = io.Copy(io.Discard, r.Body)
					}
				}))
				defer stop()
				c := p.connect(tc.says)
				defer c.Close()
				if took := closedWithin(c); took > tc.within+time.Second {
					t.Errorf("the connection was closed after %v, want %v", took, tc.within)
				}
			})
		})
	}
}
