package main

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestAccept accepts the present level of a running sidecar.
func TestAccept(t *testing.T) {
	_, a := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.enable-lifecycle")
	closed := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}))
	for name, tt := range map[string]struct {
		args      string
		code      int
		out, errs string
	}{
		"accepted":    {"--target=a --since=1h --url=" + p.base, exitOK, `^a \(workload chat\): the level since \S+Z is the new baseline; .+\n$`, `^$`},
		"unknown":     {"--target=b --url=" + p.base, exitUsage, `^$`, `^synthetic: there is no target "b": name one of a`},
		"no time":     {"--target=a --since=soon --url=" + p.base, exitUsage, `^$`, `neither a time nor a duration`},
		"not enabled": {"--target=a --url=" + closed.base, exitUsage, `^$`, `start synthetic run with --web.enable-lifecycle`},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			args := append([]string{"accept"}, strings.Fields(tt.args)...)
			code := run(t.Context(), args, &out, &errs)
			if code != tt.code || !regexp.MustCompile(tt.out).MatchString(out.String()) || !regexp.MustCompile("(?s)"+tt.errs).MatchString(errs.String()) {
				t.Errorf("code %d, output %q, errors %q", code, out.String(), errs.String())
			}
		})
	}
}

// TestCheckHealth asks sidecars that probe, and others.
func TestCheckHealth(t *testing.T) {
	_, a := fastDeployment(t)
	config := configFor(t, "", map[string]string{"a": a.URL})
	plain := sidecarRun(t, config)
	below := sidecarRun(t, config, "--web.route-prefix=/probes/llm/")
	answering := func(status int) string {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not ready: a loop is stuck", status) })
		server := httptest.NewTLSServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	for name, tt := range map[string]struct {
		url       string
		code      int
		out, errs string
	}{
		"probes":    {plain.base, exitOK, "^synthetic is ready\n$", "^$"},
		"prefix":    {below.base + "/probes/llm", exitOK, "^synthetic is ready\n$", "^$"},
		"no prefix": {below.base, exitUsage, "^$", "there is no sidecar at .*--web.route-prefix"},
		"stuck":     {answering(503), exitFailure, "^$", "the sidecar answers 503: not ready: a loop is stuck"},
		"password":  {answering(401), exitUsage, "^$", "requires a password: .*--http.config.file"},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), []string{"check", "health", "--url=" + tt.url}, &out, &errs)
		if code != tt.code || !regexp.MustCompile(tt.out).MatchString(out.String()) || !regexp.MustCompile(tt.errs).MatchString(errs.String()) {
			t.Errorf("%s: code %d, output %q, errors %q", name, code, out.String(), errs.String())
		}
	}
}

// TestRoutePrefix: every page is below the prefix, with all of its links, and / leads there.
func TestRoutePrefix(t *testing.T) {
	_, a := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": a.URL}), "--web.route-prefix=/probes/llm", "--web.enable-lifecycle")
	_, page := p.get("/probes/llm")
	if _, root := p.get("/"); !strings.Contains(root, "<main") || !strings.Contains(page, "<main") {
		t.Error("/ or the prefix does not lead to the page")
	}
	links := regexp.MustCompile(`(?:href|src|action)="([^#"][^"]*)"`).FindAllStringSubmatch(page, -1)
	paths := []string{"metrics", "-/healthy", "-/ready", "api/status", "runbooks/SyntheticTargetDown"}
	for _, l := range links {
		paths = append(paths, html.UnescapeString(l[1]))
	}
	if len(links) < 5 {
		t.Errorf("the page has %d links", len(links))
	}
	base, err := url.Parse(p.base + "/probes/llm/")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		u, err := base.Parse(path)
		if err != nil || !strings.HasPrefix(u.Path, base.Path) {
			t.Errorf("%s leads to %s (%v)", path, u, err)
			continue
		}
		if status, _ := p.get(u.RequestURI()); status != http.StatusOK {
			t.Errorf("%s answers %d", u, status)
		}
		if status, _ := p.get(strings.TrimPrefix(u.RequestURI(), "/probes/llm")); status != http.StatusNotFound && u.Path != base.Path {
			t.Errorf("%s is served without the prefix, too: %d", u, status)
		}
	}
	if status, text := p.do(http.MethodPost, "/probes/llm/-/reload"); status != http.StatusOK {
		t.Errorf("reload answers %d: %s", status, text)
	}
}
