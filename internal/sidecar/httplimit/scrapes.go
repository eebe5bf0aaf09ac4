package httplimit

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
)

// formats lists the formats of /metrics, best first. A client cannot ask for others.
func formats() []expfmt.Format {
	return []expfmt.Format{expfmt.FmtOpenMetrics_1_0_0, expfmt.FmtOpenMetrics_0_0_1, expfmt.FmtProtoDelim, expfmt.FmtText}
}

// noFilter is the answer to name[] parameters: each set of names would need a rendering of its
// own.
const noFilter = "name[] is not offered here: leave it out, and drop what is not wanted with metric_relabel_configs"

// variant is a format with or without compression.
type variant struct {
	format expfmt.Format
	gzip   bool
}

// scrapes holds the renderings of the last second.
type scrapes struct {
	render http.Handler
	one    turn // also guards kept
	kept   map[variant]*answer
}

// Scrapes serves what render writes, rendered at most once a second for each variant. Requests
// within a second of a rendering get the same bytes.
func Scrapes(render http.Handler) http.Handler {
	return &scrapes{render: render, one: newTurn(), kept: map[variant]*answer{}}
}

func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("name[]") {
		http.Error(w, noFilter, http.StatusBadRequest)
		return
	}
	a, err := s.page(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	a.send(w)
}

// page returns a fresh rendering of what r asks for.
func (s *scrapes) page(r *http.Request) (*answer, error) {
	give, err := s.one.take(r.Context())
	if err != nil {
		return nil, err
	}
	defer give()
	maps.DeleteFunc(s.kept, func(_ variant, a *answer) bool { return time.Since(a.made) >= freshFor })
	v := variantOf(r.Header)
	if a := s.kept[v]; a != nil {
		return a, nil
	}
	a, err := render(s.render, v.request(r.Context()))
	if err == nil && a.status == http.StatusOK {
		s.kept[v] = a
	}
	return a, err
}

// variantOf returns the variant that a client asks for. Name escaping schemes make no
// difference, because no metric name needs escaping.
func variantOf(h http.Header) variant {
	asked := string(expfmt.NegotiateAccept(h, formats()...))
	i := slices.IndexFunc(formats(), func(f expfmt.Format) bool { return strings.HasPrefix(asked, string(f)+";") })
	return variant{formats()[i], acceptsGzip(h)}
}

// request returns a request for this variant alone.
func (v variant) request(ctx context.Context) *http.Request {
	out := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/metrics"}, Header: http.Header{"Accept": {string(v.format)}}}
	if v.gzip {
		out.Header.Set("Accept-Encoding", "gzip")
	}
	return out.WithContext(ctx)
}

// acceptsGzip reports whether a client accepts gzip.
func acceptsGzip(h http.Header) bool {
	for _, line := range h.Values("Accept-Encoding") {
		for offer := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(offer, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				return weight(parameters) > 0
			}
		}
	}
	return false
}

// weight returns the q parameter of an offer, 1 by default.
func weight(parameters string) float64 {
	text, found := strings.CutPrefix(strings.TrimSpace(parameters), "q=")
	if q, err := strconv.ParseFloat(text, 64); found && err == nil {
		return q
	}
	return 1
}
