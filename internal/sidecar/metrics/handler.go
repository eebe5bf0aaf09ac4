package metrics

import (
	"bufio"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves the families of Gatherer through promhttp: OpenMetrics with
// exemplars, protobuf with native histograms, or text, as the scraper asks.
func (r *Recorder) Handler(opts promhttp.HandlerOpts, others ...prometheus.Gatherer) http.Handler {
	opts.EnableOpenMetrics = true
	return &handler{
		inner:   promhttp.HandlerForTransactional(r.Gatherer(others...), opts),
		buffers: sync.Pool{New: func() any { return bufio.NewWriterSize(nil, bufferSize) }},
	}
}

// bufferSize is the size of the writes to the network. The encoders would
// otherwise write 4 kB at a time: well over a thousand writes for a scrape of
// 200 targets, at more cost than all our part of it.
const bufferSize = 64 << 10

// handler puts a large buffer between the encoders and the network.
type handler struct {
	inner   http.Handler
	buffers sync.Pool
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b := h.buffers.Get().(*bufio.Writer)
	b.Reset(w)
	h.inner.ServeHTTP(&response{ResponseWriter: w, buffer: b}, r)
	// A client that went away is not ours to report: promhttp would have
	// nowhere to say it either.
	_ = b.Flush()
	b.Reset(nil)
	h.buffers.Put(b)
}

// response is a ResponseWriter with the methods that make the text encoders
// write into it directly, instead of through a buffer of their own.
type response struct {
	http.ResponseWriter
	buffer *bufio.Writer
}

func (r *response) Write(p []byte) (int, error)       { return r.buffer.Write(p) }
func (r *response) WriteString(s string) (int, error) { return r.buffer.WriteString(s) }
func (r *response) WriteRune(c rune) (int, error)     { return r.buffer.WriteRune(c) }
func (r *response) WriteByte(c byte) error            { return r.buffer.WriteByte(c) }
