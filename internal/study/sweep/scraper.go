package sweep

import (
	"context"
	"log/slog"
	"time"

	"synthetic/internal/load"
	"synthetic/internal/serverside"
	"synthetic/internal/study/runs"
)

// scrapeEvery is the interval between reads of the deployment's gauges.
const scrapeEvery = 5 * time.Second

// scraper reads a deployment's own metrics while a level is measured, at the edges of snapshots
// and between them.
type scraper struct {
	client *serverside.Client
	urls   []string
	log    *slog.Logger

	samples map[string][]serverside.Sample
	warned  map[string]bool
}

func newScraper(client *serverside.Client, urls []string, log *slog.Logger) *scraper {
	return &scraper{
		client: client, urls: urls, log: log,
		samples: map[string][]serverside.Sample{}, warned: map[string]bool{},
	}
}

// follow scrapes until ctx ends: at once, every few seconds, and at the ends of snapshots of
// the given length (0 for unknown).
func (s *scraper) follow(ctx context.Context, length time.Duration) {
	begin := time.Now()
	for len(s.urls) > 0 && ctx.Err() == nil {
		s.scrape(ctx)
		elapsed := time.Since(begin)
		next := scrapeEvery - elapsed%scrapeEvery
		if length > 0 {
			next = min(next, length-elapsed%length)
		}
		load.Pause(ctx, next)
	}
}

// scrape reads every endpoint once. It logs the first failure of each.
func (s *scraper) scrape(ctx context.Context) {
	for _, u := range s.urls {
		sample, err := s.client.Scrape(ctx, u)
		if err == nil {
			s.samples[u] = append(s.samples[u], sample)
		} else if ctx.Err() == nil && !s.warned[u] {
			s.warned[u] = true
			s.log.Warn("The deployment's own metrics cannot be read; their figures are not known", "err", err)
		}
	}
}

// attach adds to each snapshot the summary of the samples from the one nearest to its start to
// the one nearest to its end.
func (s *scraper) attach(snapshots []runs.Snapshot) {
	for i := range snapshots {
		from := snapshots[i].Started
		to := from.Add(inSeconds(snapshots[i].Seconds))
		for _, u := range s.urls {
			if all := s.samples[u]; len(all) > 0 {
				within := all[nearest(all, from) : nearest(all, to)+1]
				snapshots[i].Server = append(snapshots[i].Server, serverside.Summarise(u, within))
			}
		}
	}
}

func nearest(samples []serverside.Sample, t time.Time) (best int) {
	for i, s := range samples {
		if s.At.Sub(t).Abs() < samples[best].At.Sub(t).Abs() {
			best = i
		}
	}
	return best
}
