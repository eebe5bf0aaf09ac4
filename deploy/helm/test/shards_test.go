package chart

import (
	"slices"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// TestShardsKnowTheirNumbers: pods have numbers even without a volume claim, each gets its
// number and the count, and each has a place for its state.
func TestShardsKnowTheirNumbers(t *testing.T) {
	for values, claims := range map[string]int{"": 1, ",state.claim.enabled=false": 0, ",state.enabled=false": 0} {
		set := decodeAs[apps.StatefulSet](t, single(t, render(t, "--values="+chartDir+"/ci/shards-values.yaml", "--set=log.level=info"+values), "StatefulSet")).Spec
		pod := set.Template.Spec
		container := pod.Containers[0]
		if *set.Replicas != 3 || len(set.VolumeClaimTemplates) != claims || !slices.Contains(container.Args, "--shard=$(POD_NAME)/3") {
			t.Errorf("%q: %d pods with %d claims and the arguments %q", values, *set.Replicas, len(set.VolumeClaimTemplates), container.Args)
		}
		if !slices.ContainsFunc(container.Env, func(e core.EnvVar) bool {
			return e.Name == "POD_NAME" && e.ValueFrom != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.name"
		}) || len(container.Env) != 2 {
			t.Errorf("%q: the environment is %+v", values, container.Env)
		}
		if len(pod.TopologySpreadConstraints) != 1 {
			t.Errorf("%q: not spread over the nodes: %+v", values, pod.TopologySpreadConstraints)
		}
		empty := slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == "state" })
		if empty != (values == ",state.claim.enabled=false") {
			t.Errorf("%q: the volumes are %+v", values, pod.Volumes)
		}
	}
}
