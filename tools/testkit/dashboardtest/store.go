package dashboardtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
)

// Formats that a scrape may ask for.
const (
	// Text is the text format, which has only classic buckets.
	Text = "text/plain; version=0.0.4"
	// Protobuf has native histograms and classic buckets.
	Protobuf = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
)

// Store is a Prometheus storage that scrapes handlers.
type Store struct {
	*teststorage.TestStorage
	// Format is the format that scrapes ask for.
	Format string
}

// Open returns an empty store that is closed at the end of the test.
func Open(t testing.TB, format string) *Store {
	t.Helper()
	return &Store{TestStorage: teststorage.New(t), Format: format}
}

// Scrape stores the metrics of a handler at a time, with the job "synthetic" and an
// instance.
func (s *Store) Scrape(h http.Handler, instance string, at time.Time) error {
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", s.Format)
	page := httptest.NewRecorder()
	h.ServeHTTP(page, req)
	if page.Code != http.StatusOK {
		return fmt.Errorf("scraping: status %d: %s", page.Code, page.Body)
	}
	p, err := textparse.New(page.Body.Bytes(), page.Header().Get("Content-Type"), nil, textparse.ParserOptions{
		KeepClassicOnClassicAndNativeHistograms: true,
	})
	if err != nil {
		return fmt.Errorf("scraping: %w", err)
	}
	app := s.Appender(context.Background())
	if err := appendAll(app, p, instance, at.UnixMilli()); err != nil {
		return errors.Join(fmt.Errorf("storing a scrape: %w", err), app.Rollback())
	}
	return app.Commit()
}

// Put stores a sample of a recording rule or an alert.
func (s *Store) Put(at time.Time, value float64, nameValue ...string) error {
	app := s.Appender(context.Background())
	if _, err := app.Append(0, labels.FromStrings(nameValue...), at.UnixMilli(), value); err != nil {
		return errors.Join(err, app.Rollback())
	}
	return app.Commit()
}

func appendAll(app storage.Appender, p textparse.Parser, instance string, ms int64) error {
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch entry {
		case textparse.EntrySeries:
			_, _, v := p.Series()
			if _, err := app.Append(0, scraped(p, instance), ms, v); err != nil {
				return err
			}
		case textparse.EntryHistogram:
			_, _, h, fh := p.Histogram()
			if _, err := app.AppendHistogram(0, scraped(p, instance), ms, h, fh); err != nil {
				return err
			}
		}
	}
}

// scraped returns the labels of the parser's series with those of the scrape target.
func scraped(p textparse.Parser, instance string) labels.Labels {
	var l labels.Labels
	p.Labels(&l)
	b := labels.NewBuilder(l)
	b.Set("job", "synthetic").Set("instance", instance)
	return b.Labels()
}
