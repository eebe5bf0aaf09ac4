package chart

import (
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// TestStateHasADisk: the state file is on the volume, and only one pod at a time mounts a
// claim.
func TestStateHasADisk(t *testing.T) {
	const target = "config.targets[0].base_url=http://a.example/v1"
	for name, tt := range map[string]struct {
		set, kind string
		// volume is the pod's volume; nil if the StatefulSet's claim template provides it.
		volume func(core.VolumeSource) bool
	}{
		"claims":   {"", "StatefulSet", nil},
		"emptyDir": {",state.claim.enabled=false", "Deployment", func(v core.VolumeSource) bool { return v.EmptyDir != nil && v.EmptyDir.SizeLimit.String() == "1Gi" }},
		"claim of mine": {",state.existingClaim=mine,strategy.type=Recreate,strategy.rollingUpdate=null", "Deployment",
			func(v core.VolumeSource) bool {
				return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "mine"
			}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, "--set", target+tt.set)
			single(t, objects, tt.kind)
			pod := podsOf(t, objects).Spec
			i := slices.IndexFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == "state" })
			if (i >= 0) != (tt.volume != nil) || i >= 0 && !tt.volume(pod.Volumes[i].VolumeSource) {
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
		})
	}
	if d := decodeAs[apps.Deployment](t, single(t, render(t, "--set", target+",state.existingClaim=mine,strategy.type=Recreate,strategy.rollingUpdate=null"), "Deployment")); d.Spec.Strategy.Type != apps.RecreateDeploymentStrategyType {
		t.Errorf("the strategy of one claim is %s", d.Spec.Strategy.Type)
	}
}

// TestEachPodClaimsItsOwn: claims have the user's size and storage class, and the mounted
// name.
func TestEachPodClaimsItsOwn(t *testing.T) {
	set := decodeAs[apps.StatefulSet](t, single(t, render(t, "--set", "config.targets[0].base_url=http://a.example/v1,replicaCount=3,state.claim.size=2Gi,state.claim.storageClassName=fast"), "StatefulSet")).Spec
	if len(set.VolumeClaimTemplates) != 1 || *set.Replicas != 3 || set.PodManagementPolicy != apps.ParallelPodManagement {
		t.Fatalf("got %+v", set)
	}
	claim := set.VolumeClaimTemplates[0]
	if size := claim.Spec.Resources.Requests[core.ResourceStorage]; claim.Name != "state" || size.String() != "2Gi" || *claim.Spec.StorageClassName != "fast" {
		t.Errorf("got %+v", claim)
	}
}
