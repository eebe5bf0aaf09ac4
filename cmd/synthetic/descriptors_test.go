//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"synthetic/internal/simulate"
)

// TestFewDescriptors runs the real program with a limit of 64 open files and 50 targets
// that need more connections. /metrics still answers, and turns that could not be sent
// count against no target.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t, func(o *simulate.Options) { o.FirstToken.Median = 500 * time.Millisecond })
	targets := map[string]string{}
	for i := range 50 {
		targets["t"+strconv.Itoa(i)] = server.URL
	}
	file := configFor(t, "/v1", targets)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	patient := strings.NewReplacer("rate: 20", "rate: 2", "first_token: 2s, stall: 1s, total: 4s", "first_token: 60s, stall: 60s, total: 60s")
	if err := os.WriteFile(file, []byte(patient.Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	p := withFewFiles(t, file, 64)
	s := p.until("turns that were not sent, and others", func(s map[string]float64) bool {
		accounted(t, s)
		unsent, _ := sum(s, "synthetic_turn_own_faults_total", `reason="not_sent"`)
		ended, _ := sum(s, "synthetic_turns_total")
		return unsent >= 100 && ended >= unsent+100
	})
	for name, n := range s {
		if violation := strings.HasPrefix(name, "synthetic_slo_violations_total") && strings.Contains(name, `slo="availability"`); n != 0 &&
			(violation || strings.HasPrefix(name, "synthetic_turn_failures_total")) {
			t.Errorf("%s: %v; log:\n%s", name, n, regexp.MustCompile(`(?m)^.*level=(WARN|ERROR).*$`).FindAllString(p.err.String(), 5))
		}
	}
	used, _ := sum(s, "synthetic_bound_used", `bound="connections"`)
	if limit, _ := sum(s, "synthetic_bound_limit", `bound="connections"`); limit != 32 || used > limit {
		t.Errorf("%v of %v connections", used, limit)
	}
}

// withFewFiles starts the program as a process with a limit of open files.
func withFewFiles(t *testing.T, file string, limit int) *program {
	t.Helper()
	program, _, _ := newProcess("run", "--config.file="+file, "--web.listen-address=127.0.0.1:0", "--shutdown.timeout=0s")
	cmd := exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, limit)}, program.Args...)...)
	cmd.Env = program.Env
	return serveAs(t, cmd)
}
