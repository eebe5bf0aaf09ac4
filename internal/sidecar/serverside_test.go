package sidecar_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
)

// TestPageDrawsServerFigures: the page of a target draws the server's own figures if its metrics are read.
func TestPageDrawsServerFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := newSite(t, forgetfulPager)
		defer end()
		var err error
		if s.cfg, err = config.Parse("synthetic.yml", []byte(strings.Replace(alertsConfig, "model: m}", "model: m, server_metrics: {}}", 1)+forgetfulPager), "."); err != nil {
			t.Fatal(err)
		}
		prober, stop := s.begin()
		defer stop()
		time.Sleep(5 * time.Minute)
		_, page := read(prober, http.MethodGet, "/")
		for _, want := range []string{"server: requests", "server: KV cache in use"} {
			if !strings.Contains(page, "<title>"+want+"</title>") {
				t.Errorf("the page has no chart %q", want)
			}
		}
	})
}
