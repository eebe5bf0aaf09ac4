package simulate

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// tally observes what a cluster does, for the histograms of its engines and
// its frontend. A cluster's own counters are read when they are asked for. The
// driver's lock guards what is no histogram.
type tally struct {
	vllm    vllmHistograms
	dynamo  dynamoHistograms
	engines []engineTally
	front   frontendTally
	routed  bool // by what is cached: hit rates are observed
}

// engineTally is what one worker did.
type engineTally struct {
	ttft, itl, tpot, e2e prometheus.Observer
	finished             map[string]uint64
}

// frontendTally is what the frontend did.
type frontendTally struct {
	ttft, itl, e2e, input, output, cached prometheus.Observer
	inFlight, queued                      int // queued have no first token
	tokens                                uint64
	ended                                 map[cluster.Kind]uint64
}

func newTally(config cluster.Config, model string) *tally {
	t := &tally{
		vllm: newVLLMHistograms(), dynamo: newDynamoHistograms(),
		routed: config.Router.Policy == cluster.KVAware,
		front:  frontendTally{ended: make(map[cluster.Kind]uint64)},
	}
	for id := range config.Workers {
		engine := strconv.Itoa(id)
		t.engines = append(t.engines, engineTally{
			ttft:     t.vllm.ttft.WithLabelValues(model, engine),
			itl:      t.vllm.itl.WithLabelValues(model, engine),
			tpot:     t.vllm.tpot.WithLabelValues(model, engine),
			e2e:      t.vllm.e2e.WithLabelValues(model, engine),
			finished: make(map[string]uint64),
		})
	}
	f := &t.front
	f.ttft, f.itl = t.dynamo.ttft.WithLabelValues(model), t.dynamo.itl.WithLabelValues(model)
	f.e2e = t.dynamo.e2e.WithLabelValues(model)
	f.input, f.output = t.dynamo.input.WithLabelValues(model), t.dynamo.output.WithLabelValues(model)
	f.cached = t.dynamo.cached.WithLabelValues(model)
	return t
}

// began counts a request that the frontend took in.
func (t *tally) began() {
	t.front.inFlight++
	t.front.queued++
}

// observe brings tally and call up to date with an event, which came after the
// request had been at its engine for some time: an engine's histograms do not
// see what the frontend and the network take.
func (t *tally) observe(c *call, e cluster.Event, atEngine time.Duration) {
	if e.Kind == cluster.Tokens {
		t.tokens(c, e, atEngine)
		return
	}
	f := &t.front
	f.inFlight--
	f.ended[e.Kind]++
	if c.output == 0 {
		f.queued--
	} else {
		f.output.Observe(float64(c.output))
	}
	f.e2e.Observe((e.At - c.sent).Seconds())
	if e.Worker >= 0 {
		t.engines[e.Worker].ended(c, e, atEngine)
	}
}

// tokens observes new tokens of an answer.
func (t *tally) tokens(c *call, e cluster.Event, atEngine time.Duration) {
	f, w := &t.front, &t.engines[e.Worker]
	if c.output == 0 {
		f.queued--
		f.ttft.Observe((e.At - c.sent).Seconds())
		f.input.Observe(float64(c.prompt))
		f.cached.Observe(float64(e.Cached))
		w.ttft.Observe(atEngine.Seconds())
		if t.routed {
			t.dynamo.hitRate.Observe(float64(e.Cached) / float64(c.prompt))
		}
		c.first, c.burst = e.At, e.Tokens
	} else {
		gap := (e.At - c.last).Seconds()
		f.itl.Observe(gap)
		w.itl.Observe(gap)
	}
	c.last = e.At
	c.output += e.Tokens
	f.tokens += uint64(e.Tokens)
}

// ended observes the end of a request that was at the engine for so long.
func (w *engineTally) ended(c *call, e cluster.Event, took time.Duration) {
	switch e.Kind {
	case cluster.Done:
		w.finished[c.finish]++
		w.e2e.Observe(took.Seconds())
		if more := c.output - c.burst; more > 0 {
			w.tpot.Observe((c.last - c.first).Seconds() / float64(more))
		}
	case cluster.Expired, cluster.Canceled:
		w.finished["abort"]++
	default:
		w.finished["error"]++
	}
}
