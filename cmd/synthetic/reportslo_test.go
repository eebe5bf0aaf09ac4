package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"synthetic/internal/simulate"
)

// TestReviewOfARun: a report from the state of a sidecar, and one from its log of turns, say which objectives were met,
// and an incident that was marked as a false page counts as one.
func TestReviewOfARun(t *testing.T) {
	_, a := fastDeployment(t)
	_, b := fastDeployment(t, befall(simulate.ErrorStatus, 1))
	file := configFor(t, "/v1", map[string]string{"a": a.URL, "b": b.URL})
	withAlerting(t, file, "alerting: {}\n")
	dir := t.TempDir()
	state, turns := filepath.Join(dir, "state"), filepath.Join(dir, "turns.jsonl")
	now := time.Now().UTC()
	incident := `{"id":"20260301-0229-b","about":{"Target":"b","Workload":"chat"},"started":"` + now.Add(-20*time.Minute).Format(time.RFC3339) +
		`","ended":"` + now.Add(-time.Minute).Format(time.RFC3339) + `","since":"` + now.Add(-23*time.Minute).Format(time.RFC3339) +
		`","alerts":[{"name":"SyntheticTargetDown","severity":"page","from":"` + now.Add(-20*time.Minute).Format(time.RFC3339) + `","over":"` + now.Add(-time.Minute).Format(time.RFC3339) +
		`"}],"bad":{"availability":3},"headline":"b is down"}` + "\n"
	if err := os.WriteFile(state+".incidents", []byte(incident), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sidecarRun(t, file, "--state.file="+state, "--turns.file="+turns, "--web.enable-lifecycle")
	for _, tt := range []struct {
		id, judgement string
		code          int
		out, errs     string
	}{
		{"none", "false", exitUsage, `^$`, `there is no incident "none"`},
		{"20260301-0229-b", "maybe", exitUsage, `^$`, `enum value must be one of false,true`},
		{"20260301-0229-b", "false", exitOK, `^marked 20260301-0229-b: false page: true\n$`, `^$`},
	} {
		code, out, errs := runFor(t, "incident", "mark", tt.id, tt.judgement, "--url="+p.base)
		if code != tt.code || !regexp.MustCompile(tt.out).MatchString(out) || !regexp.MustCompile(tt.errs).MatchString(errs) {
			t.Errorf("mark %s %s: code %d, output %q, errors %q", tt.id, tt.judgement, code, out, errs)
		}
	}
	if _, page := p.get("/incidents/20260301-0229-b"); !strings.Contains(page, "over, a false page") {
		t.Errorf("the page does not say that it was false: %s", page)
	}
	p.until("turns of both targets", func(n map[string]float64) bool {
		good, _ := sum(n, "synthetic_turns_total", `target="a"`)
		bad, _ := sum(n, "synthetic_turns_total", `target="b"`)
		return good > 5 && bad > 5
	})
	p.end()
	for name, args := range map[string][]string{
		"state": {"--state.file=" + state},
		"turns": {"--turns=" + turns, "--config.file=" + file, "--state.file=" + state},
	} {
		code, out, errs := runFor(t, append([]string{"report", "slo"}, args...)...)
		for _, want := range []string{
			`\*\*2 of 4 objectives were met\*\* Incidents: 1; with a page: 1; marked as false pages: 1\.`,
			`\| availability \| b/chat \| 99% \| 0% \| \d+ \| 10000% \| 20260301-0229-b 3 of \d+ bad turns, no incident \d+ \|`,
			`\| availability \| a/chat \| 99% \| 100% \| \d+ \| 0% \| no incident \|`,
			"b is down since \\d\\d:\\d\\d UTC \\(`20260301-0229-b`\\) \\| 3 min \\| 22 min \\| 3 \\| false \\|",
			`\| a/chat \| \d+ \| 0 \| [\d.]+ k \| `,
		} {
			if code != exitOK || !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("from the %s: code %d, errors %s, no %q in\n%s", name, code, errs, want, out)
			}
		}
	}
	if code, out, errs := runFor(t, "report", "slo", "--state.file="+state, "--output.dir="+dir); code != exitOK || strings.Count(out, "wrote ") != 2 {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "review.html")); err != nil || !strings.Contains(string(page), "2 of 4 objectives were met") {
		t.Errorf("the page is %s (%v)", page, err)
	}
}

func runFor(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// TestReviewOfNothing: mistakes in the flags of report slo name the remedy.
func TestReviewOfNothing(t *testing.T) {
	none := filepath.Join(t.TempDir(), "state")
	for args, want := range map[string]string{
		"":                                      "name the turns to count: --state.file",
		"--since=soon":                          `--since="soon": write a time such as 7d`,
		"--state.file=" + none:                  "name the --state.file of synthetic run",
		"--turns=x --prometheus.url=http://p:1": "leave one of them out",
		"--prometheus.url=http://127.0.0.1:1":   "check that --prometheus.url is reachable from here",
		"--prometheus.url=http://u:p@127.0.0.1": "without user and password",
	} {
		if code, out, errs := runFor(t, append([]string{"report", "slo"}, strings.Fields(args)...)...); code == exitOK || !strings.Contains(errs, want) {
			t.Errorf("%s: code %d, output %q, errors %q, want %q", args, code, out, errs, want)
		}
	}
}
