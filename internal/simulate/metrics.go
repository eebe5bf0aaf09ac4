package simulate

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// collector gives a deployment's counts under the names of real servers:
// vLLM's, and with a cluster those of Dynamo's frontend as well.
type collector struct{ *Deployment }

// Describe implements prometheus.Collector. It describes nothing, for the
// label values follow the options: the collector is an unchecked one.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (d collector) Collect(out chan<- prometheus.Metric) {
	o, driver := d.serving()
	if driver != nil {
		driver.collect(out, o)
		return
	}
	s := d.Stats()
	d.meter.ttft.Collect(out)
	d.meter.itl.Collect(out)
	d.meter.e2e.Collect(out)
	p := vllmPage{out, o.Model, engineID}
	p.load(s.Running, s.Waiting, d.meter.kvUse(o.CacheBlocks))
	p.tokens(uint64(s.PromptTokens), uint64(s.CachedTokens), uint64(s.OutputTokens))
	p.finished(func(reason string) float64 { return float64(s.Finished[reason]) })
}

// emit writes one sample, with its labels as names and values in turn.
func emit(out chan<- prometheus.Metric, kind prometheus.ValueType, name, help string, v float64, labels ...string) {
	var names, values []string
	for i := 0; i < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, v, values...)
}

// kvUse is the share of so many blocks that the running requests hold, at
// most 1.
func (m *meter) kvUse(blocks int) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if blocks <= 0 {
		return 0
	}
	return min(1, float64(m.held)/float64(blocks*blockTokens))
}

// collect gives the state of a cluster.
func (d *driver) collect(out chan<- prometheus.Metric, o Options) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp()
	d.collectVLLM(out, o.Model)
	d.collectDynamo(out, o)
}

func (d *driver) collectVLLM(out chan<- prometheus.Metric, model string) {
	h := d.tally.vllm
	for _, v := range []*prometheus.HistogramVec{h.ttft, h.itl, h.tpot, h.e2e} {
		v.Collect(out)
	}
	for id := range d.cluster.Workers() {
		s := d.cluster.Worker(id)
		p := vllmPage{out, model, strconv.Itoa(id)}
		p.load(s.Running, s.Waiting, float64(s.KVUsed)/float64(s.KVBlocks))
		p.tokens(s.PromptTokens, s.CachedTokens, s.OutputTokens)
		p.counter("num_preemptions_total", "Times that a sequence lost its KV memory to another.", s.Preemptions)
		if d.config.Engine.Speculation.Draft > 0 {
			p.speculation(s)
		}
		p.finished(func(reason string) float64 { return float64(d.tally.engines[id].finished[reason]) })
		p.configuration(d.config.Engine.BlockTokens, s.KVBlocks)
	}
}

func (d *driver) collectDynamo(out chan<- prometheus.Metric, o Options) {
	h := d.tally.dynamo
	for _, v := range []*prometheus.HistogramVec{h.ttft, h.itl, h.e2e, h.input, h.output, h.cached} {
		v.Collect(out)
	}
	if d.config.Router.Policy == cluster.KVAware {
		h.hitRate.Collect(out)
	}
	p := dynamoPage{out, o.Model}
	p.front(&d.tally.front)
	for id := range d.cluster.Workers() {
		s := d.cluster.Worker(id)
		p.worker(id, s.KVUsed, s.KVBlocks)
		if id == 0 {
			p.engine(d.config.Engine, s.KVBlocks, o.MaxModelLen)
		}
	}
}
