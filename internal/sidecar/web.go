package sidecar

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"synthetic/internal/fleet"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/httpserver"
	"synthetic/internal/sidecar/watch"
)

func (s *Sidecar) reload(w http.ResponseWriter, _ *http.Request) {
	if err := s.Load(); err != nil {
		http.Error(w, fmt.Sprintf("the configuration was not loaded; the old one stays in force:\n%v", err), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, "reloaded")
}

// lease answers /probe. It renews the lease of the target that Prometheus names and returns the
// target's current series. The target is probed in the background; a request sends nothing to
// it.
func (s *Sidecar) lease(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if !query.Has("target") || !query.Has("module") {
		http.Error(w, "write /probe?target=ADDRESS&module=NAME, with a module of the configuration", http.StatusBadRequest)
		return
	}
	name, err := s.discovery.Lease(discovery.LeaseRequest{
		Module: query.Get("module"), Address: query.Get("target"), Caller: httpserver.Caller(r), Authenticated: authenticated(r, s.options.Web.ConfigFile),
	})
	if err != nil {
		status := http.StatusInternalServerError
		if refused, ok := errors.AsType[discovery.RefusedError](err); ok {
			status = refused.Status
		}
		http.Error(w, err.Error(), status)
		return
	}
	if s.trial.onlyFailed(name, "") {
		http.Error(w, fmt.Sprintf("no turn of %s has succeeded since it was leased: its series begin with the first success; the status page shows why its turns fail", name), http.StatusServiceUnavailable)
		return
	}
	promhttp.HandlerFor(s.recorder.ForTarget(name), promhttp.HandlerOpts{
		ErrorLog: errorLog{s.options.Logger}, EnableOpenMetrics: true,
	}).ServeHTTP(w, r)
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
	if s.pager.Pager == nil {
		return
	}
	if err := s.pager.Health().Stalled; err != nil {
		fmt.Fprintln(w, "but its pager has stopped:", err)
	}
}

type errorLog struct{ logger *slog.Logger }

func (l errorLog) Println(v ...any) {
	l.logger.Error("Serving /metrics", "err", fmt.Sprint(v...))
}

// accept makes the current level of a target its baseline. Parameters: target, workload (empty
// means all) and since, a time or a duration ago.
func (s *Sidecar) accept(w http.ResponseWriter, r *http.Request) {
	target, workload := r.FormValue("target"), r.FormValue("workload")
	since, err := parseSince(r.FormValue("since"), time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	accepted := s.baselines.Accept(target, workload, since)
	if len(accepted) == 0 {
		http.Error(w, unknown(s.recorder.Names(), target, workload), http.StatusNotFound)
		return
	}
	if s.state.file != "" {
		// A crash would bring the former baseline back.
		if err := s.state.saveNow(); err != nil {
			fmt.Fprintln(w, "not saved yet:", err)
		}
	}
	for _, a := range accepted {
		since, ratios := a.Since.UTC().Format(time.RFC3339), describeRatios(a)
		s.options.Logger.Info("A level was accepted as the baseline", "target", a.Key.Target, "workload", a.Key.Workload, "since", since, "before", ratios)
		fmt.Fprintf(w, "%s (workload %s): the level since %s is the new baseline; compared with the old one: %s\n", a.Key.Target, a.Key.Workload, since, ratios)
	}
}

// unknown returns an error text that lists the known targets.
func unknown(targets []string, target, workload string) string {
	known := strings.Join(targets, ", ")
	if workload == "" {
		return fmt.Sprintf("there is no target %.100q: name one of %s", target, known)
	}
	return fmt.Sprintf("no target %.100q has a workload %.100q: name one of the targets %s, and leave the workload out for all of its workloads", target, workload, known)
}

// parseSince parses an RFC 3339 time or a duration ago. An empty text is the zero time.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if ago, bad := model.ParseDuration(text); bad == nil {
		at, err = now.Add(-time.Duration(ago)), nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("since: %.100q is neither a time nor a duration: write for example 2026-12-01T10:00:00Z, or 2h", text)
	}
	if !at.Before(now) {
		return time.Time{}, errors.New("since is not in the past: write when the level began")
	}
	return at, nil
}

// describeRatios describes how the accepted level compares with the previous baseline.
func describeRatios(a watch.Accepted) string {
	var out []string
	for i, signal := range fleet.Signals() {
		if ratio := a.Ratios[i]; ratio.OK {
			out = append(out, fmt.Sprintf("%s ×%.2f", signal, ratio.V))
		}
	}
	if len(out) == 0 {
		return "there was none"
	}
	return strings.Join(out, ", ")
}

// authenticated reports whether the client has shown a certificate, which TLS has verified, or a
// password, which the server has checked if its file has users. The file is read
// at each use, as the server does. While it cannot be read the server answers 500, and here no user is known.
func authenticated(r *http.Request, webConfigFile string) bool {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return true
	}
	var config struct {
		Users map[string]string `yaml:"basic_auth_users"`
	}
	if text, err := os.ReadFile(webConfigFile); err == nil {
		_ = yaml.Unmarshal(text, &config)
	}
	user, _, ok := r.BasicAuth()
	_, known := config.Users[user]
	return ok && known
}
