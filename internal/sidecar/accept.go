package sidecar

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

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
		http.Error(w, s.unknown(target, workload), http.StatusNotFound)
		return
	}
	if s.options.StateFile != "" {
		s.save() // otherwise, a crash within the hour would page for this level again
	}
	for _, a := range accepted {
		since, ratios := a.Since.UTC().Format(time.RFC3339), describeRatios(a)
		s.logger.Info("A level was accepted as the baseline", "target", a.Key.Target, "workload", a.Key.Workload, "since", since, "before", ratios)
		fmt.Fprintf(w, "accepted as usual: %s (workload %s) since %s; before: %s\n", a.Key.Target, a.Key.Workload, since, ratios)
	}
}

// unknown returns an error text that lists the known targets.
func (s *Sidecar) unknown(target, workload string) string {
	return fmt.Sprintf("there is no target %.100q with workload %.100q: write target as one of %s, and workload as one of the target's or leave it out",
		target, workload, strings.Join(s.recorder.Names(), ", "))
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
func describeRatios(a baseline.Accepted) string {
	var out []string
	for k, kind := range probe.TurnKinds() {
		for i, signal := range sink.Signals() {
			if ratio := a.Ratios[k][i]; ratio.OK {
				out = append(out, fmt.Sprintf("%s of %s turns ×%.2f", signal, kind, ratio.V))
			}
		}
	}
	if len(out) == 0 {
		return "nothing usual to compare with"
	}
	return strings.Join(out, ", ")
}
