package sidecar_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/simulate"
)

// keyed is a deployment that refuses the key while it is broken.
type keyed struct {
	http.Handler
	mu     sync.Mutex
	broken bool
	good   []time.Time // when turns ended since the last repair
}

func (k *keyed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	broken := k.broken
	k.mu.Unlock()
	if broken {
		http.Error(w, `{"error":{"message":"invalid key"}}`, http.StatusUnauthorized)
		return
	}
	k.Handler.ServeHTTP(w, r)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.good = append(k.good, time.Now())
}

func (k *keyed) setBroken(broken bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.broken, k.good = broken, nil
}

// TestPageEndsAfterRepair: six minutes of refused keys are one page, which ends within two minutes and
// one evaluation of the second good turn, at the default rate of two conversations a minute.
func TestPageEndsAfterRepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := newSite(t, lastingPager)
		defer end()
		var err error
		if s.cfg, err = config.Parse("synthetic.yml", []byte(strings.Replace(alertsConfig, "rate: 0.2", "rate: 0.0333", 1)+lastingPager), "."); err != nil {
			t.Fatal(err)
		}
		deployment := &keyed{Handler: s.target}
		s.wires["deployment:80"] = simulate.NewPipes()
		defer simulate.Serve(s.wires["deployment:80"], deployment)()
		s.saveBaseline()
		_, stop := s.begin()
		time.Sleep(10 * time.Minute)
		deployment.setBroken(true)
		time.Sleep(6 * time.Minute)
		deployment.setBroken(false)
		time.Sleep(5 * time.Minute)
		stop()
		second := deployment.good[1]
		for _, a := range s.box.All() {
			switch {
			case a.Labels["alertname"] != "SyntheticTargetDown":
				t.Errorf("another alert: %v", a.Labels)
			case a.Firing() && a.At.After(second.Add(2*time.Minute+15*time.Second)):
				t.Errorf("the page was sent %v after the second good turn", a.At.Sub(second))
			}
		}
		if len(s.box.Of("SyntheticTargetDown")) == 0 {
			t.Error("no page")
		}
	})
}
