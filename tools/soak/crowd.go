//go:build linux

package main

import (
	"context"
	"sync"
	"time"
)

const (
	crowd       = 50
	slowReaders = 5
	slowFor     = 8 * time.Second
)

// crowdIn requests every page fifty times at once.
func (s *soak) crowdIn(ctx context.Context) {
	s.crowded.Add(1)
	defer s.crowded.Add(-1)
	paths := []string{"/metrics", "/", "/metrics", "/api/status"}
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() {
			path := paths[i%len(paths)]
			_, body, err := s.program.get(ctx, path)
			if err == nil && s.keys.leaks(string(body)) {
				s.program.alarm("a key on " + path)
			}
		})
	}
	all.Wait()
}

// readSlowly reads /metrics a little at a time and disconnects before the end.
func (s *soak) readSlowly(ctx context.Context) {
	s.crowded.Add(1)
	defer s.crowded.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, slowFor)
	defer cancel()
	var all sync.WaitGroup
	for range slowReaders {
		all.Go(func() { attack{slow: true}.scrape(ctx, s.program.address) })
	}
	all.Wait()
}
