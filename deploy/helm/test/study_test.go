package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

// TestPodZeroFindsItsWorkers checks the workers' addresses in the pods' arguments: the hosts are the
// other pods in the headless Service, the pods and the network policy open the port, and the policy
// admits only pods of the sweep. The Job ends with pod 0.
func TestPodZeroFindsItsWorkers(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/study-values.yaml")
	job := decodeAs[batch.Job](t, single(t, objects, "Job"))
	service := decodeAs[core.Service](t, single(t, objects, "Service"))
	pod := job.Spec.Template
	container := pod.Spec.Containers[0]
	port := container.Ports[0].ContainerPort

	// Kubernetes calls the pods of an Indexed Job JOB-INDEX.
	var hosts []string
	for i := 1; i < 4; i++ {
		hosts = append(hosts, fmt.Sprintf("%s-%d.%s:%d", job.Name, i, service.Name, port))
	}
	want := "--workers=" + strings.Join(hosts, ",")
	if policy := job.Spec.SuccessPolicy; policy == nil || *policy.Rules[0].SucceededIndexes != "0" || *job.Spec.MaxFailedIndexes != 0 {
		t.Errorf("the Job does not end with pod 0: %+v", job.Spec)
	}
	if !slices.Contains(container.Args, want) {
		t.Errorf("arguments %q, want %q", container.Args, want)
	}
	if pod.Spec.Subdomain != service.Name || service.Spec.ClusterIP != core.ClusterIPNone || !service.Spec.PublishNotReadyAddresses {
		t.Errorf("subdomain %q of Service %q, %+v", pod.Spec.Subdomain, service.Name, service.Spec)
	}
	if *job.Spec.Completions != 4 || *job.Spec.Parallelism != 4 || *job.Spec.CompletionMode != batch.IndexedCompletion {
		t.Errorf("not four shards at a time: %+v", job.Spec)
	}
	ingress := decodeAs[networking.NetworkPolicy](t, single(t, objects, "NetworkPolicy")).Spec.Ingress
	if len(ingress) != 1 || len(ingress[0].From) != 1 || ingress[0].Ports[0].Port.StrVal != container.Ports[0].Name {
		t.Fatalf("the policy lets in %+v", ingress)
	}
	if from := ingress[0].From[0]; from.NamespaceSelector != nil || !matches(t, from.PodSelector, pod.Labels) {
		t.Errorf("the policy keeps the shards out: %+v", from)
	}
}

func TestAStudyNeedsJobsByIndex(t *testing.T) {
	_, errs, err := helm(t, "--values="+chartDir+"/ci/study-values.yaml", "--kube-version=1.30.3")
	if want := "This needs Kubernetes 1.31 or later; this cluster has v1.30.3"; err == nil || !strings.Contains(errs, want) {
		t.Errorf("%v\n%s\nwant %q", err, errs, want)
	}
}

func TestWorkersOverTLS(t *testing.T) {
	args := podsOf(t, render(t, "--values="+chartDir+"/ci/study-values.yaml", "--set=study.workers.tls=true")).Spec.Containers[0].Args
	for _, want := range []string{"--worker.listen=:8471", "--workers.tls-dir=/etc/synthetic-workers"} {
		if !slices.Contains(args, want) {
			t.Errorf("arguments %q, want %q", args, want)
		}
	}
}

// TestAStudyAloneHasNoWorkers: a study of one pod has no workers.
func TestAStudyAloneHasNoWorkers(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/alone-values.yaml")
	if has(objects, "Service") || has(objects, "NetworkPolicy") || has(objects, "PersistentVolumeClaim") {
		t.Errorf("got %d resources, want no Service, no policy and no claim", len(objects))
	}
	if args := strings.Join(podsOf(t, objects).Spec.Containers[0].Args, " "); strings.Contains(args, "worker") {
		t.Errorf("arguments %q", args)
	}
}

// TestAStudyWatchesNothing: discovery values do not give a study any rights.
func TestAStudyWatchesNothing(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/study-values.yaml", "--set=rbac.create=true")
	if has(objects, "Role") || *podsOf(t, objects).Spec.AutomountServiceAccountToken {
		t.Error("a study may read the cluster")
	}
}

// TestResultsOutliveTheRelease: the claim survives an uninstall, allows writers on several
// nodes only for several pods, and is mounted by the pods.
func TestResultsOutliveTheRelease(t *testing.T) {
	for shards, want := range map[int]core.PersistentVolumeAccessMode{1: core.ReadWriteOnce, 3: core.ReadWriteMany} {
		objects := render(t, "--values="+chartDir+"/ci/study-values.yaml", fmt.Sprintf("--set=study.shards=%d", shards))
		claim := decodeAs[core.PersistentVolumeClaim](t, single(t, objects, "PersistentVolumeClaim"))
		if claim.Annotations["helm.sh/resource-policy"] != "keep" || !slices.Equal(claim.Spec.AccessModes, []core.PersistentVolumeAccessMode{want}) {
			t.Errorf("%d shards: %v, %v", shards, claim.Annotations, claim.Spec.AccessModes)
		}
		pod := podsOf(t, objects).Spec
		if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool {
			return v.Name == "results" && v.PersistentVolumeClaim.ClaimName == claim.Name
		}) {
			t.Errorf("%d shards: no volume of claim %s", shards, claim.Name)
		}
	}
	mine := render(t, "--values="+chartDir+"/ci/study-values.yaml", "--set=study.results.existingClaim=mine")
	if has(mine, "PersistentVolumeClaim") {
		t.Error("a claim of the user's, and another beside it")
	}
}
