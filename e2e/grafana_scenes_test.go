//go:build e2e && grafana

package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"synthetic/internal/config"
	"synthetic/internal/probe/lag"
	"synthetic/internal/rules"
	prober "synthetic/internal/sidecar"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/simulate/demo"
	"synthetic/tools/testkit/promtest"
	"synthetic/tools/testkit/stage"
)

// boardScene is a state of a target that dashboards show. The sidecar probes a simulated deployment in
// virtual time up to now, and the rules are evaluated on its metrics.
type boardScene struct {
	name      string
	length    time.Duration
	incidents []simulate.Incident
	// rollout changes the deployment a while before the end; nil for none.
	rollout func(*cluster.Config)
	// young has no baseline. late lets the prober run late. plain has neither rules nor pager.
	young, late, plain bool
	// state is the text in the table of targets; says are the words in the line on incidents.
	state, says string
}

const (
	sceneTarget = "chat"
	sceneEvery  = 15 * time.Second
)

func boardScenes() []boardScene {
	slow := simulate.Incident{Kind: cluster.SlowPrefill, Factor: 6}
	during := func(i simulate.Incident, at, length time.Duration) []simulate.Incident {
		i.At, i.For = at, length
		return []simulate.Incident{i}
	}
	return []boardScene{
		{name: "healthy", length: 20 * time.Minute, state: "as usual", says: "Nothing pages"},
		{name: "first-hour", length: 20 * time.Minute, young: true, state: "as usual", says: "Nothing pages"},
		{name: "regression", length: 25 * time.Minute, incidents: during(slow, 15*time.Minute, time.Hour), state: "slower|SLO burns", says: "TTFT"},
		{name: "outage", length: 20 * time.Minute, incidents: during(simulate.Incident{Kind: cluster.WorkerLoss}, 12*time.Minute, time.Hour), state: "failing", says: "down"},
		{name: "recovery", length: 40 * time.Minute, incidents: during(slow, 5*time.Minute, 8*time.Minute), state: "as usual|SLO burns", says: "Nothing pages"},
		{name: "starved", length: 20 * time.Minute, late: true, state: "not judged", says: "."},
		{name: "saturated", length: 25 * time.Minute, rollout: func(c *cluster.Config) { c.Engine.MaxSeqs = 24 }, state: "slower|SLO burns|failing", says: "."},
		{name: "no-rules", length: 25 * time.Minute, incidents: during(slow, 15*time.Minute, time.Hour), plain: true, state: "slower|SLO burns", says: "no alert rules"},
	}
}

// target returns the deployment of a scene.
func (s boardScene) target(t *testing.T) demo.Target {
	t.Helper()
	healthy, err := demo.Named("healthy", 1)
	if err != nil {
		t.Fatal(err)
	}
	target := healthy.Targets[0]
	target.Name, target.Options.Incidents = sceneTarget, s.incidents
	if s.rollout != nil {
		changed := *target.Options.Cluster
		s.rollout(&changed)
		target.Options.Rollouts = []simulate.Rollout{{At: s.length - 10*time.Minute, Cluster: changed}}
	}
	return target
}

// late runs late all the time.
type late struct{ *lag.Monitor }

// Lag implements prober.Lateness.
func (late) Lag() time.Duration { return 3 * time.Second }

// play plays a scene that ends at a time, and returns the configuration and the scrapes.
func (s boardScene) play(t *testing.T, end time.Time) (cfg *config.Config, scrapes []stage.Scrape) {
	t.Helper()
	target := s.target(t)
	known, err := demo.LoadBaselines([]demo.Target{target})
	if err != nil {
		t.Fatal(err)
	}
	if cfg, err = config.Parse("demo.yml", demo.ConfigFor([]demo.Target{target}, []string{"chat.example"}), "."); err != nil {
		t.Fatal(err)
	}
	cfg.Alerting.Directory, cfg.Alerting.Interval = filepath.Join(t.TempDir(), "pager"), sceneEvery
	cfg.Alerting.ExternalURL = "http://prober.example:9877"
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(end.Add(-s.length)))
		var network simulate.Network
		network.Serve(net.JoinHostPort("chat.example", "80"), simulate.New(target.Options))
		defer network.Close()
		scrapes = s.watch(t, cfg, known, network.Dial)
	})
	return cfg, scrapes
}

func (s boardScene) watch(t *testing.T, cfg *config.Config, known demo.Baselines, dial func(context.Context, string, string) (net.Conn, error)) (out []stage.Scrape) {
	o := prober.Options{DrainTimeout: time.Second, Dial: dial, Replica: "prober-0"}
	if s.late {
		o.Lag = late{}
	}
	running, err := prober.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if !s.young {
		running.Restore(known.HistoryUntil(time.Now()))
	}
	applied := *cfg
	if s.plain {
		applied.Alerting = nil
	}
	if err := running.Apply(&applied); err != nil {
		t.Fatal(err)
	}
	stop := stage.Run(t, running)
	for end := time.Now().Add(s.length); time.Now().Before(end); {
		time.Sleep(sceneEvery)
		out = append(out, stage.Scrape{At: time.Now(), Samples: proberMetrics(t, running.Handler())})
	}
	stop()
	return out
}

// proberMetrics returns the metrics of the prober and its pager.
func proberMetrics(t *testing.T, h http.Handler) []promtest.Sample {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return promtest.Flatten(slices.Collect(maps.Values(families)), nil)
}

// record plays a scene and returns the storage of a Prometheus that scraped it and evaluated the rules.
func (s boardScene) record(t *testing.T, end time.Time) (*config.Config, storage.Queryable) {
	t.Helper()
	cfg, scrapes := s.play(t, end)
	file := []byte("groups: []\n")
	if !s.plain {
		generated, err := rules.Generate(prober.RulesOf(cfg))
		if err != nil {
			t.Fatal(err)
		}
		if file, err = generated.PrometheusYAML(); err != nil {
			t.Fatal(err)
		}
	}
	server := promtest.New(t, file, sceneEvery)
	for _, scrape := range scrapes {
		server.Scrape(scrape.At, "prober-0:9877", scrape.Samples)
		server.Evaluate(scrape.At)
	}
	return cfg, server.Storage
}

// writeBlock writes a scene, and healthy targets beside it, as a block that a Prometheus reads.
func (s boardScene) writeBlock(t *testing.T, dir string, played, healthy storage.Queryable, targets int) {
	t.Helper()
	block, err := tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), dir, (100 * 24 * time.Hour).Milliseconds())
	if err != nil {
		t.Fatal(err)
	}
	defer block.Close()
	copySeries(t, block, played, func(l labels.Labels) (labels.Labels, bool) { return l, true })
	for i := 2; i <= targets; i++ {
		copySeries(t, block, healthy, func(l labels.Labels) (labels.Labels, bool) {
			name := fmt.Sprintf("%s-%02d", sceneTarget, i)
			// Without rules, these targets have no series of rules, either.
			ruled := strings.Contains(l.Get("__name__"), ":") || strings.HasPrefix(l.Get("__name__"), "ALERTS")
			return labels.NewBuilder(l).Set("target", name).Labels(), l.Get("target") == sceneTarget && !(s.plain && ruled)
		})
	}
	if _, err := block.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// copySeries appends the series that change keeps, as changed.
func copySeries(t *testing.T, into *tsdb.BlockWriter, from storage.Queryable, change func(labels.Labels) (labels.Labels, bool)) {
	t.Helper()
	q, err := from.Querier(0, 1<<60)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	app := into.Appender(t.Context())
	all := q.Select(t.Context(), false, nil, labels.MustNewMatcher(labels.MatchNotEqual, "__name__", ""))
	for all.Next() {
		l, ok := change(all.At().Labels())
		if !ok {
			continue
		}
		ref := storage.SeriesRef(0)
		for it := all.At().Iterator(nil); it.Next() == chunkenc.ValFloat; {
			at, v := it.At()
			if ref, err = app.Append(ref, l, at, v); err != nil {
				t.Fatalf("%s: %v", strings.TrimSpace(l.String()), err)
			}
		}
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
}
