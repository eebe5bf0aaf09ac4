//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// counts are what the program says of its turns.
type counts struct {
	started, inFlight int64
	ended             map[string]int64
}

// counts reads /metrics.
func (w *world) counts() (counts, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.address+"/metrics", nil)
	if err != nil {
		return counts{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return counts{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return counts{}, fmt.Errorf("/metrics answers %s", resp.Status)
	}
	c := counts{ended: map[string]int64{}}
	var all, spoiled int64
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		series, text, _ := strings.Cut(lines.Text(), "} ")
		name, labels, _ := strings.Cut(series, "{")
		v, _ := strconv.ParseFloat(text, 64) // of comments, nothing
		n := int64(v)
		switch name {
		case "synthetic_turns_started_total":
			c.started += n
		case "synthetic_turns_in_flight":
			c.inFlight += n
		case "synthetic_turns_total":
			all += n
		case "synthetic_turn_failures_total", "synthetic_turn_own_faults_total":
			_, reason, _ := strings.Cut(labels, `reason="`)
			reason, _, _ = strings.Cut(reason, `"`)
			c.ended[reason] += n
			spoiled += n
		}
	}
	c.ended["success"] = all - spoiled
	return c, nil
}

// peak is the most memory that was resident in a process, in MB.
func peak(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := append(strings.Fields(rest), "")
	kb, err := strconv.Atoi(fields[0])
	return kb * 1024 / 1_000_000, err
}

// used is the CPU time of a process, 0 of one that has ended.
func used(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	const user, system, tick = 11, 12, 10 * time.Millisecond
	fields := strings.Fields(rest)
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.Atoi(fields[user])
	s, _ := strconv.Atoi(fields[system])
	return time.Duration(u+s) * tick
}
