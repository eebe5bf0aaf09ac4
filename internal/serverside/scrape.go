// Package serverside reads what a deployment says of itself: its metrics over
// the same intervals that the client measures, and its configuration. Names of
// metrics come and go with versions: what is not there is not known, and the
// families that were found are stated.
package serverside

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
)

const (
	// patience bounds one scrape.
	patience = 5 * time.Second
	// maxPage bounds the bytes of an answer.
	maxPage = 32 << 20
)

// Client asks the side doors of a deployment. Use NewClient; Close it.
type Client struct {
	target target.Target
	base   *url.URL // of the target
	auth   *target.Authorizer
	http   *http.Client
}

// NewClient returns a client with the target's key, headers and TLS settings;
// dial opens its connections, nil means TCP.
func NewClient(t target.Target, dial func(ctx context.Context, network, addr string) (net.Conn, error)) (*Client, error) {
	base, err := url.Parse(t.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("reading the target's address: %w", err)
	}
	if _, err := promconfig.NewTLSConfig(&t.HTTP.TLSConfig); err != nil {
		return nil, err
	}
	return &Client{target: t, base: base, auth: target.NewAuthorizer(t), http: &http.Client{
		Transport:     wire.New(wire.Options{HTTP: t.HTTP, Dial: dial, DisableReuse: true}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close frees the connections.
func (c *Client) Close() {
	c.auth.Close()
	c.http.CloseIdleConnections()
}

// get returns the body of a page.
func (c *Client) get(ctx context.Context, page string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, fmt.Errorf("asking %q: %w", page, err)
	}
	req.Header.Set("User-Agent", "synthetic")
	if err := c.authorise(req); err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking %q: %w", page, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking %q: status %s", page, resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", page, err)
	}
	return body, nil
}

// authorise adds key and headers, but only for the target's own host, and never
// in the clear where the target is asked over TLS.
func (c *Client) authorise(req *http.Request) error {
	if req.URL.Host != c.base.Host || req.URL.Scheme != c.base.Scheme {
		return nil
	}
	header, err := c.auth.Header(req.Context())
	if err == nil {
		req.Header = header
	}
	return err
}

// Sample is what one endpoint said at one moment.
type Sample struct {
	// At is when its answer was in.
	At time.Time
	// Families that were found, of those that are known.
	Families []string
	values   map[role]float64
	// totals are sum and count of the histograms read as a mean.
	totals  map[role][2]float64
	buckets map[role][]bucket
	labels  []setting
}

// Scrape reads the metrics at a URL.
func (c *Client) Scrape(ctx context.Context, page string) (Sample, error) {
	body, err := c.get(ctx, page)
	if err != nil {
		return Sample{}, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(body)))
	if err != nil {
		return Sample{}, fmt.Errorf("reading the metrics of %q: %w", page, err)
	}
	s := sampleOf(families)
	s.At = time.Now()
	return s, nil
}

// sampleOf keeps what is known of the families of one page.
func sampleOf(families map[string]*dto.MetricFamily) Sample {
	s := Sample{values: map[role]float64{}, totals: map[role][2]float64{}, buckets: map[role][]bucket{}}
	found := map[string]bool{}
	for _, e := range engines() {
		for _, f := range e.families {
			if mf := families[f.name]; mf != nil && len(mf.Metric) > 0 {
				found[f.name] = true
				s.take(f, mf)
			}
		}
	}
	s.Families = slices.Sorted(maps.Keys(found))
	return s
}

// take keeps a family's figure, unless an earlier family of its role is there.
func (s *Sample) take(f family, mf *dto.MetricFamily) {
	if _, taken := s.values[f.role]; taken {
		return
	}
	switch f.read {
	case counts, level:
		s.values[f.role] = total(mf)
	case sums:
		s.values[f.role], _ = sumAndCount(mf)
	case share:
		s.values[f.role] = ratio(total(mf) / float64(len(mf.Metric)))
	case mean:
		sum, count := sumAndCount(mf)
		if _, taken := s.totals[f.role]; !taken {
			s.totals[f.role] = [2]float64{sum, count}
		}
	case histogram:
		if s.buckets[f.role] == nil {
			s.buckets[f.role] = bucketsOf(mf)
		}
	case labelled:
		s.labels = append(s.labels, settingsOf(f.name, mf)...)
	}
}

// ratio is a share of 0 … 1; what is above can only be a percentage.
func ratio(v float64) float64 {
	if v > 1 {
		return v / 100
	}
	return v
}

func total(mf *dto.MetricFamily) float64 {
	sum := 0.0
	for _, m := range mf.Metric {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
	}
	return sum
}

func sumAndCount(mf *dto.MetricFamily) (sum, count float64) {
	for _, m := range mf.Metric {
		sum += m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
		count += float64(m.GetHistogram().GetSampleCount() + m.GetSummary().GetSampleCount())
	}
	return sum, count
}
