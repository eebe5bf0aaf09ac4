package sidecar

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"synthetic/internal/config"
	"synthetic/internal/sidecar/httplimit"
	"synthetic/internal/sidecar/status"
)

// Load reads the configuration file and applies it, at the start and at each reload. A file
// with mistakes changes nothing.
func (s *Sidecar) Load() error {
	s.loading.Lock()
	defer s.loading.Unlock()
	file := s.options.ConfigFile
	s.fileVersion = fileVersion(file)
	cfg, err := config.LoadToRun(file)
	if err != nil {
		s.recorder.SetReload(false, time.Now())
		return err
	}
	if err := s.Apply(cfg); err != nil {
		return err
	}
	for _, caution := range Cautions(cfg) {
		s.logger.Warn("A benchmark does not say everything", "file", file, "about", caution)
	}
	cfg = cfg.Of(s.options.Shard)
	day, _, _, _ := cfg.Footprint()
	s.logger.Info("Loaded the configuration", "file", file, "targets", len(cfg.Targets), "jobs", len(cfg.Jobs), "slos", len(cfg.SLOs), "expected_a_day", day)
	return nil
}

// Cautions lists the kinds of turn that a benchmark cannot be compared with.
func Cautions(cfg *config.Config) []string {
	var out []string
	for _, j := range cfg.Jobs {
		if j.Benchmark == nil {
			continue
		}
		why := "too few of them were measured"
		if j.Benchmark.Pooled {
			why = "the file does not tell the kinds of turn apart"
		}
		for _, kind := range j.Benchmark.Learned {
			out = append(out, fmt.Sprintf("%s to %s: the usual level of %s turns is learned and not that of %s, since %s", j.Workload.Name, j.Target.Name, kind, j.Benchmark.Source(), why))
		}
	}
	return out
}

// noMark is the answer to POST /-/mark without --web.enable-lifecycle.
const noMark = "marking over HTTP is not enabled: start synthetic run with --web.enable-lifecycle"

// noReload is the answer to POST /-/reload without --web.enable-lifecycle.
const noReload = "reloading over HTTP is not enabled: start synthetic run with --web.enable-lifecycle, or send it SIGHUP"

// Handler returns the handler of all paths that the sidecar serves.
func (s *Sidecar) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", s.limits.pages.Handler(httplimit.Pages(s.page)))
	mux.Handle("GET /metrics", s.limits.scrapes.Handler(httplimit.Scrapes(s.recorder.Handler(promhttp.HandlerOpts{
		ErrorLog:            errorLog{s.logger},
		Registry:            s.registry,
		OfferedCompressions: []promhttp.Compression{promhttp.Identity, promhttp.Gzip},
	}, s.registry))))
	mux.Handle("GET /probe", s.limits.scrapes.Handler(httplimit.Pages(http.HandlerFunc(s.lease))))
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "synthetic is up")
	})
	mux.HandleFunc("GET /-/ready", s.ready)
	mux.Handle("POST /-/reload", s.limits.reloads.Handler(http.HandlerFunc(s.reload)))
	mux.Handle("POST /-/mark", s.limits.reloads.Handler(http.HandlerFunc(s.mark)))
	mux.Handle("POST /-/accept", s.limits.reloads.Handler(http.HandlerFunc(s.accept)))
	return mux
}

func (s *Sidecar) reload(w http.ResponseWriter, _ *http.Request) {
	if !s.options.Lifecycle {
		http.Error(w, noReload, http.StatusForbidden)
		return
	}
	if err := s.Load(); err != nil {
		http.Error(w, fmt.Sprintf("the configuration was not loaded; the old one stays in force:\n%v", err), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, "reloaded")
}

// mark records a change that may explain later measurements, such as a release. Parameters:
// text, and target (empty means all).
func (s *Sidecar) mark(w http.ResponseWriter, r *http.Request) {
	text, target := r.FormValue("text"), r.FormValue("target")
	switch {
	case !s.options.Lifecycle:
		http.Error(w, noMark, http.StatusForbidden)
	case text == "":
		http.Error(w, "text is missing: say what changed, for example POST /-/mark?text=release+1.2.3&target=NAME", http.StatusBadRequest)
	case target != "" && !slices.Contains(s.recorder.Names(), target):
		http.Error(w, s.unknown(target, ""), http.StatusNotFound)
	default:
		s.page.Mark(status.Mark{Kind: status.MarkDeploy, Target: target, Text: text})
		s.logger.Info("A change was marked", "text", text, "target", target)
		fmt.Fprintln(w, "marked")
	}
}

// ready answers 200 while every traffic loop gives signs of life. The server starts after the
// first configuration was loaded. A stalled pager adds a line but keeps the status 200: a pod
// that is not ready leaves its Service, and Prometheus would lose the metrics because of the
// pager.
func (s *Sidecar) ready(w http.ResponseWriter, _ *http.Request) {
	if err := s.scheduler.Healthy(); err != nil {
		http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "synthetic is ready")
	if s.pager == nil {
		return
	}
	if why := s.pager.Health().Standing; why != nil {
		fmt.Fprintln(w, "but its pager stands still:", why)
	}
}

// errorLog writes promhttp's errors to the logger.
type errorLog struct{ logger *slog.Logger }

func (l errorLog) Println(v ...any) {
	l.logger.Error("Serving /metrics", "err", fmt.Sprint(v...))
}
