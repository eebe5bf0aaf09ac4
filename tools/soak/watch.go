//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

const progressEvery = 10 * time.Second

// sampleEvery is often enough for short runs and no more than 20,000 in long ones.
func (s *soak) sampleEvery() time.Duration { return max(2*time.Second, s.duration/20_000) }

// watch samples until ctx is done, and says each ten seconds how it goes.
func (s *soak) watch(ctx context.Context) {
	tick := time.NewTicker(s.sampleEvery())
	defer tick.Stop()
	for said := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		one, ok := s.sample(ctx)
		if !ok {
			continue
		}
		where := s.phaseAt(time.Duration(one.At * float64(time.Second)))
		one.Phase, one.Calm = where.Name, where.Calm
		s.mu.Lock()
		s.samples = append(s.samples, one)
		s.mu.Unlock()
		if time.Since(said) >= progressEvery {
			said = time.Now()
			fmt.Println(s.progress(one))
		}
	}
}

// settling is the beginning of a calm part, in which what was wrong fades.
const settling = 6 * time.Second

func (s *soak) phaseAt(at time.Duration) phase {
	for _, p := range s.plan.Phases {
		if at < p.To {
			p.Calm = p.Calm && at > p.From+settling
			return p
		}
	}
	return phase{Name: "end"}
}

func (s *soak) progress(one sample) string {
	firing := 0
	for _, p := range s.mail.all() {
		if !p.Resolved {
			firing++
		}
	}
	return fmt.Sprintf("%6.0fs of %.0fs  life %d, %-10s RSS %3.0f MB, heap %3.0f MB, %4.0f goroutines, %4.0f fds, %6.0f series, scrape %3.0f ms, ready %v, %d alerts fire",
		one.At, s.duration.Seconds(), one.Life, one.Phase+":", one.RSS/1e6, one.Heap/1e6, one.Goroutines, one.Open, one.Series, 1e3*one.Scrape, one.Ready, firing)
}
