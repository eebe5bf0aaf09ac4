package config

import (
	"net/url"
	"time"

	"synthetic/internal/probe/target"
)

// ServerMetrics names the pages on which a target tells its own metrics.
type ServerMetrics struct {
	Target   target.Target
	URLs     []string
	Interval time.Duration
}

// serverMetrics resolves the pages of the targets that have any.
func (b *builder) serverMetrics(in []fileTarget, targets []target.Target) []ServerMetrics {
	var out []ServerMetrics
	for i, t := range in {
		path := index("targets", i) + ".server_metrics"
		if !b.has(path) {
			continue
		}
		out = append(out, ServerMetrics{
			Target: targets[i], URLs: b.pages(path+".urls", t), Interval: time.Duration(t.ServerMetrics.Interval),
		})
	}
	return out
}

// pages checks the addresses of a target's metrics.
func (b *builder) pages(path string, t fileTarget) []string {
	if !b.has(path) {
		u, err := url.Parse(string(t.BaseURL))
		if err != nil || u.Host == "" {
			return nil // what is wrong with the base URL was said
		}
		return []string{u.Scheme + "://" + u.Host + "/metrics"}
	}
	var out []string
	first := map[webURL]string{}
	for i, page := range t.ServerMetrics.URLs {
		at := index(path, i)
		if !b.fine(at) {
			continue
		}
		u, err := url.Parse(string(page))
		switch before := first[page]; {
		case err == nil && u.Path == "":
			b.mistake(at, shown(string(page)), "has no path", "write "+shown(string(page)+"/metrics"))
		case before != "":
			b.mistake(at, shown(string(page)), "is also the address of "+before, "keep one of the two")
		}
		first[page] = at
		out = append(out, string(page))
	}
	return out
}
