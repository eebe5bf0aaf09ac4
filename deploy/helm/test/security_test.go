package chart

import (
	"slices"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	admission "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// restricted fails the test unless the pod meets the restricted Pod Security
// Standard and holds no token of the cluster.
func restricted(t *testing.T, m *meta.ObjectMeta, spec *core.PodSpec) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := admission.LevelVersion{Level: admission.LevelRestricted, Version: admission.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(level, m, spec) {
		if !result.Allowed {
			t.Errorf("not restricted: %s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if ro := c.SecurityContext.ReadOnlyRootFilesystem; ro == nil || !*ro {
			t.Errorf("container %s can write to its root file system", c.Name)
		}
		if c.Resources.Limits.Memory().IsZero() {
			t.Errorf("container %s has no memory limit", c.Name)
		}
	}
	if auto := spec.AutomountServiceAccountToken; auto == nil || *auto {
		t.Error("the pod mounts a service account token")
	}
}

func TestPodsAreRestricted(t *testing.T) {
	eachValues(t, func(t *testing.T, _ string, objects []object) {
		pods := 0
		for _, o := range objects {
			switch o.Kind {
			case "Deployment", "StatefulSet":
				pod := podsOf(t, objects)
				restricted(t, &pod.ObjectMeta, &pod.Spec)
				pods++
			case "Pod":
				p := into[core.Pod](t, o)
				restricted(t, &p.ObjectMeta, &p.Spec)
				pods++
			case "ServiceAccount":
				if auto := into[core.ServiceAccount](t, o).AutomountServiceAccountToken; auto == nil || *auto {
					t.Error("the service account hands out its token")
				}
			}
		}
		if pods == 0 {
			t.Error("no pod was looked at")
		}
	})
}

func TestTheStandardIsReallyAsked(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/minimal-values.yaml", "--set=podSecurityContext.runAsNonRoot=false")
	pod := podsOf(t, objects)
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := admission.LevelVersion{Level: admission.LevelRestricted, Version: admission.LatestVersion()}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
	if result.Allowed {
		t.Error("a pod that may run as root passes for restricted")
	}
}
