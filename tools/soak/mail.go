//go:build linux

package main

import (
	"fmt"
	"time"

	"synthetic/tools/testkit/stage"
)

// page is one firing period of an alert. Its labels and its start identify it.
type page struct {
	Alert, Target, Severity string
	Labels                  string
	Arrived                 time.Time
}

// pages returns the firing periods in the order in which they arrived.
func pages(mail *stage.Letterbox) (out []page) {
	known := map[string]bool{}
	for _, a := range mail.All() {
		l := a.Labels
		if key := fmt.Sprint(l, a.StartsAt.UnixMilli()); !known[key] {
			known[key] = true
			out = append(out, page{Alert: l["alertname"], Target: l["target"], Severity: l["severity"], Labels: fmt.Sprint(l), Arrived: a.At})
		}
	}
	return out
}
