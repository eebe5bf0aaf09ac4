package httplimit

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
)

// formats returns the supported formats of /metrics, best first.
func formats() []expfmt.Format {
	return []expfmt.Format{expfmt.FmtOpenMetrics_1_0_0, expfmt.FmtOpenMetrics_0_0_1, expfmt.FmtProtoDelim, expfmt.FmtText}
}

// noFilter answers name[] parameters. Each set of names would need its own rendering.
const noFilter = "name[] is not supported: remove it, and drop unwanted metrics with metric_relabel_configs"

type variant struct {
	format expfmt.Format
	gzip   bool
}

type scrapes struct {
	handler http.Handler
	recent  map[variant]*answer // of the last second
}

// Scrapes serves the metrics of h. It renders each variant at most once a second; requests within a
// second of a rendering get the same bytes.
func Scrapes(h http.Handler) http.Handler {
	s := &scrapes{handler: h, recent: map[variant]*answer{}}
	serve := oneAtATime(s.page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("name[]") {
			http.Error(w, noFilter, http.StatusBadRequest)
			return
		}
		serve(w, r)
	})
}

func (s *scrapes) page(r *http.Request) (*answer, error) {
	maps.DeleteFunc(s.recent, func(_ variant, a *answer) bool { return time.Since(a.start) >= freshFor })
	v := variantOf(r.Header)
	if a := s.recent[v]; a != nil {
		return a, nil
	}
	a, err := render(s.handler, v.request(r.Context()))
	if err == nil && a.status == http.StatusOK {
		s.recent[v] = a
	}
	return a, err
}

// variantOf returns the best variant that a client accepts. It ignores name escaping schemes, because
// no metric name needs escaping.
func variantOf(h http.Header) variant {
	accepted := string(expfmt.NegotiateAccept(h, formats()...))
	i := slices.IndexFunc(formats(), func(f expfmt.Format) bool { return strings.HasPrefix(accepted, string(f)+";") })
	return variant{formats()[i], acceptsGzip(h)}
}

// request returns a request that depends only on the variant.
func (v variant) request(ctx context.Context) *http.Request {
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "/metrics", http.NoBody) // the URL is valid
	r.Header.Set("Accept", string(v.format))
	if v.gzip {
		r.Header.Set("Accept-Encoding", "gzip")
	}
	return r
}

func acceptsGzip(h http.Header) bool {
	for offer := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(offer, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
			return err != nil || q > 0 // without a weight, it is 1
		}
	}
	return false
}
