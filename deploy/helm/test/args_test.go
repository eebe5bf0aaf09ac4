package chart

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestTheSidecarKnowsItsArguments starts the sidecar with a configuration that
// does not exist: it complains about that, not about its arguments.
func TestTheSidecarKnowsItsArguments(t *testing.T) {
	eachValues(t, func(t *testing.T, _ string, objects []object) {
		pod := podsOf(t, objects).Spec
		args := pod.Containers[0].Args
		dir := t.TempDir()
		for i, arg := range args {
			args[i] = strings.NewReplacer("/etc/synthetic", dir, "/var/lib/synthetic", dir).Replace(arg)
		}
		out, err := exec.CommandContext(t.Context(), tool(t, "SYNTHETIC"), args...).CombinedOutput()
		if want := dir + "/synthetic.yml: cannot be read"; err == nil || !strings.Contains(string(out), want) {
			t.Errorf("synthetic %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	})
}

func TestThePodOutlivesTheDrain(t *testing.T) {
	eachValues(t, func(t *testing.T, _ string, objects []object) {
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
