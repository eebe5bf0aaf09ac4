package chart

import (
	"slices"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// TestAStudyAlone: a study without a claim of its own is one Job of one pod.
func TestAStudyAlone(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/alone-values.yaml")
	if has(objects, "Service") || has(objects, "NetworkPolicy") || has(objects, "PersistentVolumeClaim") {
		t.Errorf("got %d resources, want no Service, no policy and no claim", len(objects))
	}
	job := decodeAs[batch.Job](t, single(t, objects, "Job"))
	if job.Spec.Completions != nil || *job.Spec.BackoffLimit != 3 || !slices.Contains(job.Spec.Template.Spec.Containers[0].Args, "--resume") {
		t.Errorf("the Job is %+v", job.Spec)
	}
}

// TestAStudyInShards: each pod of an Indexed Job has its own share and directory, and all begin at one time.
func TestAStudyInShards(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/study-values.yaml", "--set=study.shards=3", "--set=study.startAt=2026-03-01T12:00:00Z")
	job := decodeAs[batch.Job](t, single(t, objects, "Job"))
	if *job.Spec.CompletionMode != batch.IndexedCompletion || *job.Spec.Completions != 3 || *job.Spec.Parallelism != 3 {
		t.Errorf("the Job is %+v", job.Spec)
	}
	for _, want := range []string{"--shard=$(JOB_COMPLETION_INDEX)/3", "--output.dir=/results/rel/shard-$(JOB_COMPLETION_INDEX)", "--start-at=2026-03-01T12:00:00Z"} {
		if args := job.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, want) {
			t.Errorf("the arguments %q lack %s", args, want)
		}
	}
	claim := decodeAs[core.PersistentVolumeClaim](t, single(t, objects, "PersistentVolumeClaim"))
	if !slices.Equal(claim.Spec.AccessModes, []core.PersistentVolumeAccessMode{core.ReadWriteMany}) {
		t.Errorf("the claim has %v", claim.Spec.AccessModes)
	}
}

// TestAStudyWatchesNothing: discovery values do not give a study any rights.
func TestAStudyWatchesNothing(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/study-values.yaml", "--set=rbac.create=true")
	if has(objects, "Role") || *podsOf(t, objects).Spec.AutomountServiceAccountToken {
		t.Error("a study may read the cluster")
	}
}

// TestResultsOutliveTheRelease: the claim survives an uninstall and is mounted by the pod.
func TestResultsOutliveTheRelease(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/study-values.yaml")
	claim := decodeAs[core.PersistentVolumeClaim](t, single(t, objects, "PersistentVolumeClaim"))
	if claim.Annotations["helm.sh/resource-policy"] != "keep" || !slices.Equal(claim.Spec.AccessModes, []core.PersistentVolumeAccessMode{core.ReadWriteOnce}) {
		t.Errorf("%v, %v", claim.Annotations, claim.Spec.AccessModes)
	}
	if !slices.ContainsFunc(podsOf(t, objects).Spec.Volumes, func(v core.Volume) bool {
		return v.Name == "results" && v.PersistentVolumeClaim.ClaimName == claim.Name
	}) {
		t.Errorf("no volume of claim %s", claim.Name)
	}
	mine := render(t, "--values="+chartDir+"/ci/study-values.yaml", "--set=study.results.existingClaim=mine")
	if has(mine, "PersistentVolumeClaim") {
		t.Error("a claim of the user's, and another beside it")
	}
}
