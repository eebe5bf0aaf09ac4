package serverside

import (
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/bound"
)

// Change is a change of a server that its pages show.
type Change struct {
	At time.Time
	// From and To are versions; both are "" if a process of the server has started.
	From, To string
}

// processStart is the family with the start of the process that serves the page.
const processStart = "process_start_time_seconds"

// identifies reports whether a family tells the version of a server or the start of its process. The families of
// runtimes, such as python_info, do not.
func identifies(family string) bool {
	engineInfo := func(e engine) bool { return strings.HasPrefix(family, e.prefix) && strings.HasSuffix(family, "_info") }
	return family == processStart || strings.HasSuffix(family, "build_info") || slices.ContainsFunc(engines(), engineInfo)
}

// maxVersion bounds the bytes of the versions of one page.
const maxVersion = 100

// identify reads the start of the process and the versions that known families do not contain. It skips families
// that cannot be parsed, because the other figures of the page do not depend on them.
func (s *Sample) identify(found excerpt) {
	var versions []string
	for name := range found {
		if !identifies(name) {
			continue
		}
		mf, err := found.family(name) // nil if it was read as a known family
		if err != nil {
			continue
		}
		for _, m := range mf.GetMetric() {
			if name == processStart {
				s.started = max(s.started, valueOf(m))
			} else if v := versionOf(m); v != "" {
				versions = append(versions, v)
			}
		}
	}
	slices.Sort(versions)
	s.version = bound.Clip(strings.Join(slices.Compact(versions), ", "), maxVersion)
}

func versionOf(m *dto.Metric) string {
	for _, l := range m.Label {
		if n := l.GetName(); n == "version" || n == "image" {
			return l.GetValue()
		}
	}
	return ""
}

// identity is what a page has said of its server so far.
type identity struct {
	version Steady
	// first is the time of the first reading, started the latest start of a process as a Unix time.
	first   time.Time
	started float64
}

// changes returns what a sample shows to have changed. Behind a load balancer a page belongs to several processes,
// so that only a start after the first reading counts. A start after the reading, by the clock of the server, waits
// until a reading after it.
func (i *identity) changes(s Sample) (out []Change) {
	if i.first.IsZero() {
		i.first = s.At
	}
	if s.started > i.started && s.started <= float64(s.At.UnixNano())/1e9 {
		if start := time.Unix(0, int64(s.started*1e9)); start.After(i.first) {
			out = append(out, Change{At: start})
		}
		i.started = s.started
	}
	if from, since, changed := i.version.Changed(s.version, s.At); changed {
		out = append(out, Change{At: since, From: from, To: s.version})
	}
	return out
}
