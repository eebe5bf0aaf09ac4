//go:build e2e

package e2e

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// scrapeEvery is much shorter than the pauses of the plan.
const scrapeEvery = 150 * time.Millisecond

// reading is a scrape of the deployment that took place between begin and end.
type reading struct {
	begin, end time.Time
	families   families
}

// recorder scrapes a metrics page until it is stopped.
type recorder struct {
	url  string
	stop context.CancelFunc
	work sync.WaitGroup
	// in order; complete once stopped
	readings []reading
}

// record starts to scrape. The test stops it with finish; cleanup stops it, too.
func record(t *testing.T, url string) *recorder {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &recorder{url: url, stop: stop}
	r.work.Go(func() {
		tick := time.NewTicker(scrapeEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			r.scrape(ctx)
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
	t.Cleanup(func() {
		stop()
		r.work.Wait()
	})
	return r
}

// scrape leaves out failed scrapes. A missing edge of a window shows when it is needed.
func (r *recorder) scrape(ctx context.Context) {
	begin := time.Now()
	if f, err := tryScrape(ctx, r.url); err == nil {
		r.readings = append(r.readings, reading{begin, time.Now(), f})
	}
}

// finish stops scraping and takes one last reading.
func (r *recorder) finish(t *testing.T) {
	t.Helper()
	r.stop()
	r.work.Wait()
	begin := time.Now()
	r.readings = append(r.readings, reading{begin, time.Now(), scrape(t, r.url)})
}

// around returns the last readings before from and before next; the latter must have
// started after to. Their difference is what the server counted between from and to, if it
// was idle before and after.
func (r *recorder) around(t *testing.T, from, to, next time.Time) (before, after families) {
	t.Helper()
	first, last := r.lastBefore(from), r.lastBefore(next)
	if first < 0 || r.readings[last].begin.Before(to) {
		t.Fatalf("no reading of %s before %v, or between %v and %v", r.url, from, to, next)
	}
	return r.readings[first].families, r.readings[last].families
}

// lastBefore returns the index of the last reading that ended before a time, or -1.
func (r *recorder) lastBefore(at time.Time) int {
	n, _ := slices.BinarySearchFunc(r.readings, at, func(have reading, at time.Time) int {
		return have.end.Compare(at)
	})
	return n - 1
}
