//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	crowd       = 50
	slowReaders = 5
	slowFor     = 8 * time.Second
)

// crowdIn asks for every page at once, fifty times.
func (s *soak) crowdIn(ctx context.Context) {
	s.crowded.Add(1)
	defer s.crowded.Add(-1)
	paths := []string{"/metrics", "/", "/turns", "/metrics", "/alerts", "/api/status", "/api/alerts"}
	var all sync.WaitGroup
	for i := range crowd {
		all.Go(func() {
			path := paths[i%len(paths)]
			_, body, err := s.program.get(ctx, path)
			if err == nil && s.keys.told(string(body)) {
				s.program.alarm("a key on " + path)
			}
		})
	}
	all.Wait()
}

// dawdle reads pages a few bytes at a time, and goes before their end.
func (s *soak) dawdle(ctx context.Context) {
	s.crowded.Add(1)
	defer s.crowded.Add(-1)
	var all sync.WaitGroup
	for range slowReaders {
		all.Go(func() {
			c, err := net.DialTimeout("tcp", s.program.address, time.Second)
			if err != nil {
				return // it is between two lives
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(slowFor))
			fmt.Fprintf(c, "GET /metrics HTTP/1.1\r\nHost: soak\r\n\r\n")
			for buf := make([]byte, 512); ; {
				if _, err := c.Read(buf); err != nil {
					return
				}
				select {
				case <-ctx.Done():
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	all.Wait()
}
