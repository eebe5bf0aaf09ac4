package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPortInUse: a process that cannot listen does not probe. Otherwise a pod that restarts
// in a loop over its port would start conversations each time.
func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the target was asked for %s", r.URL)
		http.Error(w, "", http.StatusTeapot)
	}))
	defer target.Close()
	config := configFor(t, "", map[string]string{"a": target.URL})
	for _, args := range [][]string{
		{"run", "--config.file=" + config, "--web.listen-address=127.0.0.1:0", "--web.listen-address=" + taken.Addr().String()},
		{"simulate", "--web.listen-address=" + taken.Addr().String()},
		{"demo", "--web.listen-address=" + taken.Addr().String()},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), args, &out, &errs)
		if code != exitFailure || !strings.Contains(errs.String(), taken.Addr().String()) || !strings.Contains(errs.String(), "choose another --web.listen-address") {
			t.Errorf("%s: code %d, errors %s", args[0], code, errs.String())
		}
	}
}
