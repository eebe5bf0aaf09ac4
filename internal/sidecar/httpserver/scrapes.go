package httpserver

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
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

// rendering is an http.ResponseWriter that keeps what a handler writes.
type rendering struct {
	header http.Header
	status int
	body   bytes.Buffer
	start  time.Time
}

func (r *rendering) Header() http.Header         { return r.header }
func (r *rendering) WriteHeader(status int)      { r.status = status }
func (r *rendering) Write(p []byte) (int, error) { return r.body.Write(p) }

// compressed is a rendering that is compressed while it is written.
type compressed struct {
	*rendering
	gzip *gzip.Writer
}

func (c compressed) Write(p []byte) (int, error) { return c.gzip.Write(p) }

// render returns a variant of what h serves. size is the expected one in bytes. It compresses itself: the level of
// promhttp takes a third of the time of a scrape.
func (v variant) render(h http.Handler, size int) *rendering {
	r := &rendering{header: http.Header{}, status: http.StatusOK, start: time.Now()}
	r.body.Grow(size)
	if v.gzip {
		c := compressed{rendering: r}
		c.gzip, _ = gzip.NewWriterLevel(&r.body, gzip.BestSpeed) // the level is valid
		h.ServeHTTP(c, v.request())
		_ = c.gzip.Close() // a buffer takes all
		r.header.Set("Content-Encoding", "gzip")
	} else {
		h.ServeHTTP(r, v.request())
	}
	r.header.Add("Vary", "Accept-Encoding")
	return r
}

// Scrapes serves the metrics of h, which does not compress them. It renders each variant at most once a second. A request
// gets a rendering that is less than a second old, or that began after the request.
func Scrapes(h http.Handler) http.Handler {
	turn := make(chan struct{}, 1) // one at a time
	recent, size := map[variant]*rendering{}, map[variant]int{}
	shared := func(ctx context.Context, v variant) *rendering {
		arrived := time.Now()
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		defer func() { <-turn }()
		if r := recent[v]; r != nil && (r.start.After(arrived) || time.Since(r.start) < freshFor) {
			return r
		}
		maps.DeleteFunc(recent, func(_ variant, r *rendering) bool { return time.Since(r.start) >= freshFor })
		r := v.render(h, size[v]+size[v]/16)
		if size[v] = r.body.Len(); r.status == http.StatusOK {
			recent[v] = r
		}
		return r
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("name[]") {
			http.Error(w, noFilter, http.StatusBadRequest)
			return
		}
		answer := shared(r.Context(), variantOf(r.Header))
		if answer == nil { // the client has gone
			return
		}
		maps.Copy(w.Header(), answer.header)
		w.Header().Set("Content-Length", strconv.Itoa(answer.body.Len()))
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.body.Bytes()) // an error means that the client has gone
	})
}

// variantOf returns the best variant that a client accepts. It ignores name escaping schemes, because
// no metric name needs escaping.
func variantOf(h http.Header) variant {
	accepted := string(expfmt.NegotiateAccept(h, formats()...))
	i := slices.IndexFunc(formats(), func(f expfmt.Format) bool { return strings.HasPrefix(accepted, string(f)+";") })
	return variant{formats()[i], acceptsGzip(h)}
}

// request returns a request that depends only on the variant's format.
func (v variant) request() *http.Request {
	r, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "/metrics", http.NoBody) // the URL is valid
	r.Header.Set("Accept", string(v.format))
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
