package chart

import (
	"slices"
	"testing"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	admission "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// restricted fails the test unless the pod meets the restricted Pod Security Standard and
// mounts the service account token only if it needs it.
func restricted(t *testing.T, m *meta.ObjectMeta, spec *core.PodSpec, token bool) {
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
	if auto := spec.AutomountServiceAccountToken; auto == nil || *auto != token {
		t.Errorf("the pod mounts a service account token: want %v", token)
	}
}

func TestPodsAreRestricted(t *testing.T) {
	eachValues(t, func(t *testing.T, _ string, objects []object) {
		pods := 0
		for _, o := range objects {
			switch o.Kind {
			case "Deployment", "StatefulSet", "Job":
				pod := podsOf(t, objects)
				restricted(t, &pod.ObjectMeta, &pod.Spec, has(objects, "Role") || has(objects, "ClusterRole"))
				pods++
			case "Pod":
				p := decodeAs[core.Pod](t, o)
				restricted(t, &p.ObjectMeta, &p.Spec, false)
				pods++
			case "ServiceAccount":
				if auto := decodeAs[core.ServiceAccount](t, o).AutomountServiceAccountToken; auto == nil || *auto {
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

// TestOpenShiftChoosesTheUser: OpenShift's default constraints reject a fixed user.
func TestOpenShiftChoosesTheUser(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/minimal-values.yaml", "--set=openshift=true")
	for _, spec := range []core.PodSpec{podsOf(t, objects).Spec, decodeAs[core.Pod](t, single(t, objects, "Pod")).Spec} {
		c := spec.SecurityContext
		if c.RunAsUser != nil || c.RunAsGroup != nil || c.FSGroup != nil || c.RunAsNonRoot == nil || !*c.RunAsNonRoot {
			t.Errorf("got %+v", c)
		}
	}
}
