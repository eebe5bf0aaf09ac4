//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

const progressEvery = 10 * time.Second

// sampleEvery is 2 s, or longer so that a run has at most 20,000 samples.
func (s *soak) sampleEvery() time.Duration { return max(2*time.Second, s.duration/20_000) }

// watch takes samples until ctx is done and prints the state every ten seconds.
func (s *soak) watch(ctx context.Context) {
	tick := time.NewTicker(s.sampleEvery())
	defer tick.Stop()
	for printed := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		current, ok := s.sample(ctx)
		if !ok {
			continue
		}
		phase := s.phaseAt(time.Duration(current.At * float64(time.Second)))
		current.Phase, current.Calm = phase.Name, phase.Calm
		s.mu.Lock()
		s.samples = append(s.samples, current)
		s.mu.Unlock()
		if time.Since(printed) >= progressEvery {
			printed = time.Now()
			fmt.Println(s.progress(current))
		}
	}
}

// settling is the beginning of a calm part, when the effects of faults end.
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

func (s *soak) progress(current sample) string {
	firing := 0
	for _, p := range s.mail.all() {
		if p.Ends > current.At {
			firing++
		}
	}
	return fmt.Sprintf("%6.0fs of %.0fs  life %d, %-10s RSS %3.0f MB, heap %3.0f MB, %4.0f goroutines, %4.0f fds, %6.0f series, scrape %3.0f ms, ready %v, %d alerts fire",
		current.At, s.duration.Seconds(), current.Life, current.Phase+":", current.RSS/1e6, current.Heap/1e6, current.Goroutines, current.Open, current.Series, 1e3*current.Scrape, current.Ready, firing)
}
