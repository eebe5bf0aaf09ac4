//go:build linux

package main

import (
	"fmt"
	"strings"
	"time"
)

// scenario is a load: streams at a rate of events per second each.
type scenario struct {
	name    string
	streams int
	rate    float64
	// together makes the streams send at the same instant, as an engine does
	// after each step; otherwise they are spread evenly.
	together bool
}

func scenarios() []scenario {
	return []scenario{
		{name: "1000x20", streams: 1000, rate: 20},
		{name: "4000x15", streams: 4000, rate: 15},
		{name: "burst256", streams: 256, rate: 20, together: true},
		{name: "memory5000", streams: 5000, rate: 1},
	}
}

func names() []string {
	var all []string
	for _, s := range scenarios() {
		all = append(all, s.name)
	}
	return all
}

// choose returns the scenarios of a comma-separated list, all for "".
func choose(list string) ([]scenario, error) {
	if list == "" {
		return scenarios(), nil
	}
	var chosen []scenario
	for name := range strings.SplitSeq(list, ",") {
		s, ok := find(name)
		if !ok {
			return nil, fmt.Errorf("unknown scenario %q: want one of %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, s)
	}
	return chosen, nil
}

func find(name string) (scenario, bool) {
	for _, s := range scenarios() {
		if s.name == name {
			return s, true
		}
	}
	return scenario{}, false
}

// period is the time between two events of a stream.
func (s scenario) period() time.Duration {
	return time.Duration(float64(time.Second) / s.rate)
}

// due is when stream i sends its kth event, after the start.
func (s scenario) due(k, i int) time.Duration {
	at := time.Duration(k) * s.period()
	if s.together {
		return at
	}
	return at + s.period()*time.Duration(i)/time.Duration(s.streams)
}
