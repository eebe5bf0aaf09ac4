package main

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestPublicView: the public address of a running sidecar has two routes, shows no error text and no address, and has
// connections of its own.
func TestPublicView(t *testing.T) {
	_, a := fastDeployment(t)
	file := configFor(t, "/v1", map[string]string{"a": a.URL, "b": "http://127.0.0.1:1"})
	p := sidecarRun(t, file, "--web.public-listen-address=127.0.0.1:0", "--web.enable-lifecycle")
	public := &program{t: t, err: p.err, base: "http://" + p.err.find(t, `public_address=(\S+)`)}
	p.until("turns of both targets", func(n map[string]float64) bool {
		good, _ := sum(n, "synthetic_turns_total", `target="a"`)
		bad, _ := sum(n, "synthetic_turn_failures_total", `target="b"`)
		return good > 2 && bad > 2
	})
	for path, want := range map[string]int{
		"/": 200, "/badge.svg": 200, "/badge.svg?target=b": 200, "/badge.svg?target=c": 404,
		"/metrics": 404, "/turns": 404, "/alerts": 404, "/api/status": 404, "/-/healthy": 404, "/probe?target=x&module=y": 404, "/debug/pprof/": 404,
	} {
		code, body := public.get(path)
		if code != want {
			t.Errorf("%s answers %d, want %d: %s", path, code, want, body)
		}
		for _, private := range []string{"127.0.0.1", "refused", "chat", "simulated"} {
			if strings.Contains(body, private) {
				t.Errorf("%s shows %q: %s", path, private, body)
			}
		}
	}
	for _, path := range []string{"/-/reload", "/-/judge?id=x&false=true", "/"} {
		if code, _ := public.do(http.MethodPost, path); code != http.StatusNotFound && code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s answers %d", path, code)
		}
	}
	dial := func() {
		c, err := net.Dial("tcp", strings.TrimPrefix(public.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	for range 40 {
		dial()
	}
	p.until("a full public view beside an open port", func(n map[string]float64) bool {
		dial() // takes the place of a connection of the requests above that closes only now
		used, _ := sum(n, "synthetic_bound_used", `bound="public_connections"`)
		limit, _ := sum(n, "synthetic_bound_limit", `bound="public_connections"`)
		own, _ := sum(n, "synthetic_bound_used", `bound="inbound_connections"`)
		return used == 32 && limit == 32 && own < 10
	})
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d; log:\n%s", code, p.err)
	}
}
