package stage

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"synthetic/tools/alertquality/engine"
)

// Evaluate evaluates the rules on the scrapes and returns the firing alerts by the time of each scrape: the
// name of each with its target, workload and SLO. It uses the replay of tools/alertquality.
func Evaluate(t *testing.T, ruleFile []byte, scrapes []Scrape) map[time.Time][]string {
	t.Helper()
	rules, err := engine.Load(ruleFile, ScrapeEvery)
	if err != nil {
		t.Fatal(err)
	}
	from, to := scrapes[0].At, scrapes[len(scrapes)-1].At.Add(ScrapeEvery)
	spans, err := rules.Replay(t.Context(), &scraped{left: scrapes}, from, to)
	if err != nil {
		t.Fatal(err)
	}
	firing := map[time.Time][]string{}
	for _, s := range scrapes {
		var names []string
		for _, span := range spans {
			if !s.At.Before(span.From) && s.At.Before(span.To) {
				names = append(names, nameOf(span))
			}
		}
		slices.Sort(names)
		firing[s.At] = names
	}
	return firing
}

func nameOf(s engine.Span) string {
	words := []string{s.Alert}
	for _, l := range []string{"target", "workload", "slo"} {
		if v := s.Labels.Get(l); v != "" {
			words = append(words, v)
		}
	}
	return strings.Join(words, " ")
}

// scraped is a engine.Source of scrapes.
type scraped struct {
	left []Scrape
	// last holds the series of the last scrape. Series that the next scrape lacks become stale.
	last map[uint64]labels.Labels
}

// Advance implements engine.Source.
func (s *scraped) Advance(store *engine.Store, to time.Time) error {
	for ; len(s.left) > 0 && !s.left[0].At.After(to); s.left = s.left[1:] {
		seen := map[uint64]labels.Labels{}
		for _, sample := range s.left[0].Samples {
			if !store.Wants(sample.Labels.Get(model.MetricNameLabel)) {
				continue
			}
			l := labels.NewBuilder(sample.Labels).Set("instance", "prober").Set("job", "synthetic").Labels()
			seen[l.Hash()] = l
			store.Add(l, s.left[0].At, sample.Value)
		}
		for hash, l := range s.last {
			if _, still := seen[hash]; !still {
				store.Add(l, s.left[0].At, math.Float64frombits(value.StaleNaN))
			}
		}
		s.last = seen
	}
	return nil
}
