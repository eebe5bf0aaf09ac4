package lag_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe/lag"
)

// TestMonitor runs in virtual time, where nothing is late.
func TestMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := lag.New()
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := m.Run(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // a stopped monitor sees no lateness
		if longest, lost := m.Between(begin, time.Now()); longest != 0 || lost != 0 || m.Lag() != 0 {
			t.Errorf("longest %v, lost %v, lag %v", longest, lost, m.Lag())
		}
	})
}

// TestMonitorNeverRan checks that a monitor which never ran reports no lateness.
func TestMonitorNeverRan(t *testing.T) {
	for _, m := range []*lag.Monitor{nil, lag.New()} {
		if longest, lost := m.Between(time.Now().Add(-time.Hour), time.Now()); longest != 0 || lost != 0 || m.Lag() != 0 {
			t.Errorf("longest %v, lost %v, lag %v", longest, lost, m.Lag())
		}
	}
}
