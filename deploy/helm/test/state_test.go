package chart

import (
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// TestStateHasADisk: the state file lies on the volume, and a claim is mounted
// by one pod at a time.
func TestStateHasADisk(t *testing.T) {
	const on = "config.targets[0].base_url=http://a.example/v1,state.enabled=true"
	for name, tt := range map[string]struct {
		set  string
		ours func(core.VolumeSource) bool
	}{
		"emptyDir": {on, func(v core.VolumeSource) bool { return v.EmptyDir != nil && v.EmptyDir.SizeLimit.String() == "1Gi" }},
		"claim": {on + ",state.existingClaim=mine,strategy.type=Recreate,strategy.rollingUpdate=null",
			func(v core.VolumeSource) bool {
				return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "mine"
			}},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := into[apps.Deployment](t, one(t, render(t, "--set", tt.set), "Deployment"))
			pod := deployment.Spec.Template.Spec
			i := slices.IndexFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == "state" })
			if i < 0 || !tt.ours(pod.Volumes[i].VolumeSource) {
				t.Fatalf("the volumes are %+v", pod.Volumes)
			}
			mounts := pod.Containers[0].VolumeMounts
			i = slices.IndexFunc(mounts, func(m core.VolumeMount) bool { return m.Name == "state" })
			if i < 0 || mounts[i].ReadOnly {
				t.Fatalf("the mounts are %+v", mounts)
			}
			if want := "--state.file=" + mounts[i].MountPath + "/"; !slices.ContainsFunc(pod.Containers[0].Args, func(a string) bool { return strings.HasPrefix(a, want) }) {
				t.Errorf("no argument begins with %q: %q", want, pod.Containers[0].Args)
			}
			if name == "claim" && deployment.Spec.Strategy.Type != apps.RecreateDeploymentStrategyType {
				t.Errorf("the strategy is %s", deployment.Spec.Strategy.Type)
			}
		})
	}
}
