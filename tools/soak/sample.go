//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// sample holds what the process uses at one moment. Sizes are bytes.
type sample struct {
	At    float64 `json:"at_seconds"`
	Life  int     `json:"life"`
	Phase string  `json:"phase"`
	Calm  bool    `json:"calm"`

	RSS  float64 `json:"rss_bytes"`
	Anon float64 `json:"rss_anon_bytes"`
	// PeakRSS is the largest RSS since the start of the process.
	PeakRSS float64 `json:"peak_rss_bytes"`
	// Heap is the live heap after the last garbage collection, computed from the next goal.
	// Memory in use varies between collections.
	Heap       float64 `json:"live_heap_bytes"`
	Allocated  float64 `json:"heap_alloc_bytes"`
	Goroutines float64 `json:"goroutines"`
	Threads    float64 `json:"threads"`
	Open       float64 `json:"open_fds"`
	Series     float64 `json:"series"`
	Scrape     float64 `json:"scrape_seconds"`
	Files      float64 `json:"files"`
	Stored     float64 `json:"stored_bytes"`
	Ready      bool    `json:"ready"`
	// Crowded is true while many clients request pages, so that the program may refuse
	// some.
	Crowded bool `json:"crowded,omitempty"`
	// Missed is why the scrape failed. Such a sample has only the values of /proc.
	Missed string `json:"missed,omitempty"`
}

// sample reads the running process. ok is false if no process has been ready or if it ended
// meanwhile.
func (s *soak) sample(ctx context.Context) (out sample, ok bool) {
	l := s.program.life()
	if l == nil || !l.ready.Load() {
		return out, false
	}
	out = sample{At: time.Since(s.begin).Seconds(), Life: l.Number, Crowded: s.crowded.Load() > 0}
	pid := strconv.Itoa(l.cmd.Process.Pid)
	status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return out, false
	}
	out.RSS, out.Anon = 1024*field(status, "VmRSS:"), 1024*field(status, "RssAnon:")
	out.PeakRSS = 1024 * field(status, "VmHWM:")
	out.Threads = field(status, "Threads:")
	if open, err := os.ReadDir(filepath.Join("/proc", pid, "fd")); err == nil {
		out.Open = float64(len(open))
	}
	out.Files, out.Stored = s.stored()
	begin := time.Now()
	families, page, err := s.program.metrics(ctx)
	out.Scrape = time.Since(begin).Seconds()
	if err != nil {
		out.Missed = err.Error()
		return out, s.program.life() == l
	}
	out.Heap = value(families, "go_memstats_next_gc_bytes") / (1 + value(families, "go_gc_gogc_percent")/100)
	out.Allocated = value(families, "go_memstats_heap_alloc_bytes")
	out.Goroutines = value(families, "go_goroutines")
	out.Series = float64(bytes.Count(page, []byte("\n")) - bytes.Count(page, []byte("\n#")))
	if s.keys.leaks(string(page)) {
		s.program.alarm("a key on /metrics")
	}
	ready, _, err := s.program.get(ctx, "/-/ready")
	out.Ready = err == nil && ready == http.StatusOK
	if !out.Ready {
		out.Missed = fmt.Sprintf("/-/ready: %d %v", ready, err)
	}
	return out, s.program.life() == l
}

// field returns a number of /proc/PID/status.
func field(status []byte, name string) float64 {
	_, rest, _ := strings.Cut(string(status), "\n"+name)
	line, _, _ := strings.Cut(rest, "\n")
	number, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	v, _ := strconv.ParseFloat(number, 64) // 0 if absent
	return v
}

func value(families map[string]*dto.MetricFamily, name string) (v float64) {
	for _, m := range families[name].GetMetric() {
		v += m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
	}
	return v
}

// stored counts the program's files and their bytes.
func (s *soak) stored() (files, size float64) {
	_ = filepath.WalkDir(s.disk(), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == ballast {
			return nil // the file was removed meanwhile
		}
		if info, err := e.Info(); err == nil {
			files++
			size += float64(info.Size())
		}
		return nil
	})
	return files, size
}
