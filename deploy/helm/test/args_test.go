package chart

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestTheProgramKnowsItsArguments starts the program with the chart's arguments and a
// missing configuration file. The error must be about the file, not the arguments.
func TestTheProgramKnowsItsArguments(t *testing.T) {
	eachValues(t, func(t *testing.T, _ string, objects []object) {
		args := podsOf(t, objects).Spec.Containers[0].Args
		dir := t.TempDir()
		for i, arg := range args {
			args[i] = strings.NewReplacer("/etc/synthetic", dir, "/var/lib/synthetic", dir, "/results", dir, "$(POD_NAME)", "rel-synthetic-0", "$(JOB_COMPLETION_INDEX)", "0").Replace(arg)
		}
		out, err := exec.CommandContext(t.Context(), tool(t, "SYNTHETIC"), args...).CombinedOutput()
		missing := strings.Contains(string(out), ".yml: cannot be read") || strings.Contains(string(out), ".yml: there is no such file")
		if err == nil || !strings.Contains(string(out), dir+"/") || !missing {
			t.Errorf("synthetic %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	})
}

func TestThePodOutlivesTheDrain(t *testing.T) {
	eachValues(t, func(t *testing.T, _ string, objects []object) {
		if has(objects, "Job") {
			t.Skip("a sweep is stopped at once, and what it has is on the disk")
		}
		pod := podsOf(t, objects).Spec
		var drain time.Duration
		for _, arg := range pod.Containers[0].Args {
			if text, ok := strings.CutPrefix(arg, "--shutdown.timeout="); ok {
				var err error
				if drain, err = time.ParseDuration(text); err != nil {
					t.Fatal(err)
				}
			}
		}
		if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; drain == 0 || grace <= drain {
			t.Errorf("grace period %v, drain %v", grace, drain)
		}
	})
}
