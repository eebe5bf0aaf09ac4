package sweep

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"synthetic/internal/serverside"
	"synthetic/internal/study/runfile"
)

// scrapeEvery is how often the deployment's gauges are read.
const scrapeEvery = 5 * time.Second

// scraper reads a deployment's own metrics while a level is measured, at the
// edges of its snapshots and in between.
type scraper struct {
	client *serverside.Client
	urls   []string
	log    *slog.Logger
	edges  chan time.Time

	mu      sync.Mutex
	samples map[string][]serverside.Sample
	warned  map[string]bool
}

func newScraper(client *serverside.Client, urls []string, log *slog.Logger) *scraper {
	return &scraper{
		client: client, urls: urls, log: log, edges: make(chan time.Time, 1),
		samples: map[string][]serverside.Sample{}, warned: map[string]bool{},
	}
}

// follow scrapes until ctx is done: at once, every few seconds, and at each
// multiple of length (0 for none) since the start, where a snapshot ends.
func (s *scraper) follow(ctx context.Context, length time.Duration) {
	if len(s.urls) == 0 {
		return
	}
	begin := time.Now()
	for ctx.Err() == nil {
		s.scrape(ctx)
		elapsed := time.Since(begin)
		next := scrapeEvery - elapsed%scrapeEvery
		if length > 0 {
			next = min(next, length-elapsed%length)
		}
		wait := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-wait.C:
		case <-s.edges:
		}
		wait.Stop()
	}
}

// edge asks for a scrape now; it never blocks.
func (s *scraper) edge(now time.Time) {
	select {
	case s.edges <- now:
	default: // one is waiting already
	}
}

// scrape reads every endpoint once. An endpoint that cannot be read is named
// once and tried again.
func (s *scraper) scrape(ctx context.Context) {
	for _, u := range s.urls {
		sample, err := s.client.Scrape(ctx, u)
		s.mu.Lock()
		switch {
		case err == nil:
			s.samples[u] = append(s.samples[u], sample)
		case ctx.Err() == nil && !s.warned[u]:
			s.warned[u] = true
			s.log.Warn("The deployment's own metrics cannot be read; their figures are not known", "err", err)
		}
		s.mu.Unlock()
	}
}

// attach adds to each snapshot what the deployment said over it: the samples
// nearest to its ends and those between.
func (s *scraper) attach(snapshots []runfile.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range snapshots {
		from := snapshots[i].Started
		to := from.Add(time.Duration(snapshots[i].Seconds * float64(time.Second)))
		for _, u := range s.urls {
			if within := between(s.samples[u], from, to); len(within) > 0 {
				snapshots[i].Server = append(snapshots[i].Server, serverside.Summarise(u, within))
			}
		}
	}
}

// between returns the samples from the one nearest to from to the one nearest
// to to.
func between(samples []serverside.Sample, from, to time.Time) []serverside.Sample {
	first, last := nearest(samples, from), nearest(samples, to)
	if first < 0 || last < first {
		return nil
	}
	return samples[first : last+1]
}

func nearest(samples []serverside.Sample, t time.Time) int {
	best := -1
	for i, s := range samples {
		if best < 0 || s.At.Sub(t).Abs() < samples[best].At.Sub(t).Abs() {
			best = i
		}
	}
	return best
}
