// Package serverside reads a deployment's own metrics over the intervals that the client
// measures, and its configuration. Metric names change with versions: missing ones are treated
// as unknown, and results list the families that were found.
package serverside

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
	"synthetic/internal/redact"
)

const (
	// requestTimeout bounds one request.
	requestTimeout = 5 * time.Second
	// maxDescription bounds the bytes of a JSON answer.
	maxDescription = 1 << 20
)

// Client reads metrics and descriptions of a deployment. The caller must Close it.
type Client struct {
	target target.Target
	base   *url.URL // of the target
	auth   *target.Authorizer
	http   *http.Client
}

// NewClient returns a client with the target's key, headers and TLS settings. dial opens its
// connections; nil means TCP.
func NewClient(t target.Target, dial func(ctx context.Context, network, addr string) (net.Conn, error)) (*Client, error) {
	base, err := url.Parse(t.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("reading the target's address: %w", err)
	}
	if _, err := promconfig.NewTLSConfig(&t.HTTP.TLSConfig); err != nil {
		return nil, err
	}
	return &Client{target: t, base: base, auth: target.NewAuthorizer(t, ""), http: &http.Client{
		Transport:     wire.New(wire.Options{HTTP: t.HTTP, Dial: dial, DisableReuse: true}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes the connections.
func (c *Client) Close() {
	c.auth.Close()
	c.http.CloseIdleConnections()
}

// get requests a page and passes its body to read. The error contains no secrets.
func (c *Client) get(ctx context.Context, page string, read func(context.Context, io.Reader) error) (err error) {
	defer func() { err = redact.Error(err) }()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return fmt.Errorf("asking %q: %w", page, err)
	}
	req.Header.Set("User-Agent", target.UserAgent())
	// The key and the headers are only for the target's own host, and never sent without TLS if the target uses TLS.
	if req.URL.Host == c.base.Host && req.URL.Scheme == c.base.Scheme {
		if req.Header, err = c.auth.Header(ctx); err != nil {
			return err
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("asking %q: %w", page, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking %q: status %d %s", page, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	if err := read(ctx, resp.Body); err != nil {
		return fmt.Errorf("reading %q: %w", page, err)
	}
	return nil
}

// Sample holds the metrics of one endpoint at one time.
type Sample struct {
	// At is when the answer was complete.
	At time.Time
	// Families are the known families that were found.
	Families []string
	values   map[role]float64
	// front holds the roles whose value comes from a frontend or router.
	front map[role]bool
	// running and progress are the values of these roles, by engine.
	running, progress map[string]float64
	// grew is when the progress of an engine last grew; at the first reading, At. busy is the first of
	// the consecutive readings at which an engine had running requests.
	grew, busy map[string]time.Time
	buckets    map[role][]bucket
	settings   []Setting
}

// Scrape reads the metrics at a URL.
func (c *Client) Scrape(ctx context.Context, page string) (s Sample, err error) {
	err = c.get(ctx, page, func(ctx context.Context, body io.Reader) error {
		found, err := readPage(ctx, body)
		s = newSample(found)
		s.At = time.Now()
		return err
	})
	return s, err
}

// newSample takes the figures of the families of a page.
func newSample(found map[string]*dto.MetricFamily) Sample {
	s := Sample{values: map[role]float64{}, front: map[role]bool{}, buckets: map[role][]bucket{}}
	for _, f := range families() {
		if mf := found[f.name]; len(mf.GetMetric()) > 0 {
			mf.Metric = parts(mf.Metric)
			s.Families = append(s.Families, f.name)
			s.add(f, mf)
		}
	}
	slices.Sort(s.Families)
	return s
}

// add adds a family's figure, unless an earlier family has the same role.
func (s *Sample) add(f family, mf *dto.MetricFamily) {
	if _, exists := s.values[f.role]; exists {
		return
	}
	var value, sum, count, highest float64
	byEngine := map[string]float64{}
	for _, m := range mf.Metric {
		v := valueOf(m)
		value += v
		highest = max(highest, v)
		byEngine[engineOf(m)] += v
		sum += m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
		count += float64(m.GetHistogram().GetSampleCount() + m.GetSummary().GetSampleCount())
	}
	mean := value / float64(len(mf.Metric))
	s.front[f.role] = f.front()
	if f.role == running {
		s.running = byEngine
	}
	switch f.read {
	case total:
		s.values[f.role] = value
	case live:
		s.values[f.role] = value
		if s.progress == nil {
			s.progress, s.values[progress], s.front[progress] = byEngine, value, f.front()
		}
	case sums:
		s.values[f.role] = sum
	case share:
		s.values[f.role] = ratio(mean)
		if f.role == kvUsage {
			s.values[kvFullest], s.front[kvFullest] = ratio(highest), f.front()
		}
	case percent:
		s.values[f.role] = mean / 100
	case sumsAndCounts:
		s.values[f.role], s.values[f.role+1] = sum, count
		s.front[f.role+1] = f.front()
	case histogram:
		s.values[f.role], s.buckets[f.role] = sum, bucketsOf(mf)
	case labelled:
		s.settings = append(s.settings, settingsOf(f.name, mf)...)
	}
}

// engineOf returns which of the engines of a page a series belongs to: one of vLLM's engines, or a
// data-parallel rank of SGLang.
func engineOf(m *dto.Metric) string {
	for _, l := range m.Label {
		if n := l.GetName(); n == "engine" || n == "dp_rank" {
			return l.GetValue()
		}
	}
	return ""
}

// parts returns the series whose figures add up. Each rank of a tensor or pipeline has the figures of its whole
// engine, so one of them counts. SGLang exports the total of all priorities, with an empty one, beside their parts.
func parts(all []*dto.Metric) []*dto.Metric {
	type series struct{ engine, priority string }
	var out []*dto.Metric
	kept := map[series]int{}
	for _, m := range all {
		var key strings.Builder
		priority := ""
		for _, l := range m.Label {
			switch l.GetName() {
			case "priority":
				priority = l.GetValue()
			case "tp_rank", "pp_rank", "moe_ep_rank":
			default:
				fmt.Fprintf(&key, "%q=%q,", l.GetName(), l.GetValue())
			}
		}
		of := series{key.String(), priority}
		i, repeats := kept[of]
		switch {
		case !repeats:
			kept[of] = len(out)
			out = append(out, m)
		case valueOf(m) > valueOf(out[i]):
			out[i] = m
		}
	}
	for of, i := range kept {
		if _, total := kept[series{engine: of.engine}]; of.priority != "" && total {
			out[i] = nil
		}
	}
	return slices.DeleteFunc(out, func(m *dto.Metric) bool { return m == nil })
}

// ratio returns a share of at most 1. Some caches are used to 1.0003; more than 1.5 must be a percentage.
func ratio(v float64) float64 {
	if v > 1.5 {
		return v / 100
	}
	return min(v, 1)
}

func valueOf(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
}
