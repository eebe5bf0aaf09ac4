package simulate

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// tally observes what a cluster does, for the histograms of its engines and
// its frontend. A cluster's own counters are read when they are asked for. The
// driver's lock guards what is no histogram.
type tally struct {
	vllm, dynamo histograms
	hitRate      histograms // none unless routed by what is cached
	engines      []engineTally
	front        frontendTally
}

// engineTally is what one worker did.
type engineTally struct {
	latency  []prometheus.Observer
	finished map[string]int
}

// frontendTally is what the frontend did.
type frontendTally struct {
	seen             []prometheus.Observer
	inFlight, queued int // queued have no first token
	tokens           uint64
	ended            map[cluster.Kind]uint64
}

func newTally(config cluster.Config, model string) *tally {
	t := &tally{vllm: vllmHistograms(), dynamo: dynamoHistograms()}
	if config.Router.Policy == cluster.KVAware {
		t.hitRate = hitRates()
		t.hitRate.of() // is there before the first request
	}
	for id := range config.Workers {
		t.engines = append(t.engines, engineTally{t.vllm.of(model, strconv.Itoa(id)), map[string]int{}})
	}
	t.front = frontendTally{seen: t.dynamo.of(model), ended: map[cluster.Kind]uint64{}}
	return t
}

// observe brings tally and call up to date with an event. An engine's
// histograms do not see what the frontend and the network take.
func (t *tally) observe(c *call, e cluster.Event) {
	if e.Kind == cluster.Tokens {
		t.tokens(c, e)
		return
	}
	f := &t.front
	f.inFlight--
	f.ended[e.Kind]++
	if c.output == 0 {
		f.queued--
	} else {
		f.seen[output].Observe(float64(c.output))
	}
	f.seen[e2e].Observe((e.At - c.sent).Seconds())
	if e.Worker >= 0 {
		t.engines[e.Worker].ended(c, e)
	}
}

// tokens observes new tokens of an answer.
func (t *tally) tokens(c *call, e cluster.Event) {
	f, w := &t.front, &t.engines[e.Worker]
	if c.output == 0 {
		f.queued--
		f.seen[ttft].Observe((e.At - c.sent).Seconds())
		f.seen[input].Observe(float64(c.prompt))
		f.seen[cached].Observe(float64(e.Cached))
		w.latency[ttft].Observe(e.AtWorker.Seconds())
		for _, rate := range t.hitRate.of() {
			rate.Observe(float64(e.Cached) / float64(c.prompt))
		}
		c.first, c.burst = e.At, e.Tokens
	} else {
		gap := (e.At - c.last).Seconds()
		f.seen[itl].Observe(gap)
		w.latency[itl].Observe(gap)
	}
	c.last = e.At
	c.output += e.Tokens
	f.tokens += uint64(e.Tokens)
}

// ended observes the end of a request that was at the engine.
func (w *engineTally) ended(c *call, e cluster.Event) {
	switch e.Kind {
	case cluster.Done:
		w.finished[c.finish]++
		w.latency[e2e].Observe(e.AtWorker.Seconds())
		if more := c.output - c.burst; more > 0 {
			w.latency[tpot].Observe((c.last - c.first).Seconds() / float64(more))
		}
	case cluster.Expired, cluster.Canceled:
		w.finished["abort"]++
	default:
		w.finished["error"]++
	}
}
