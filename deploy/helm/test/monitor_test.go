package chart

import (
	"reflect"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

const aTarget = "config.targets[0].base_url=http://a.example/v1"

// TestMonitorsKeepTheLabelsOfTargets: the operator gives every series the name of the scraped Service as "service",
// and the namespace of the pod. The labels of a target win, and no target has a service that it was not given.
func TestMonitorsKeepTheLabelsOfTargets(t *testing.T) {
	for kind, key := range map[string]string{"ServiceMonitor": "serviceMonitor", "PodMonitor": "podMonitor"} {
		objects := render(t, "--set", aTarget+","+key+".enabled=true,"+key+".relabelings[0].targetLabel=cluster,"+key+".relabelings[0].replacement=eu")
		endpoint := endpointOf(t, single(t, objects, kind))
		relabelings := endpoint.RelabelConfigs
		if !endpoint.HonorLabels || len(relabelings) != 2 || relabelings[0].Action != "labeldrop" || relabelings[0].Regex != "service" || relabelings[1].TargetLabel != "cluster" {
			t.Errorf("%s: %+v", kind, endpoint)
		}
	}
}

// TestMonitorsElsewhere: a monitor in another namespace looks for the pods in that of the release, unless its spec says
// otherwise. The rules are where their value says.
func TestMonitorsElsewhere(t *testing.T) {
	for set, want := range map[string]monitoring.NamespaceSelector{
		"":                                {},
		",serviceMonitor.namespace=watch": {MatchNames: []string{"probing"}},
		",serviceMonitor.namespace=watch,serviceMonitor.spec.namespaceSelector.any=true": {Any: true},
	} {
		objects := render(t, "--set", aTarget+",serviceMonitor.enabled=true,prometheusRule.enabled=true,prometheusRule.namespace=rules,prometheusRule.groups[0].name=a,prometheusRule.groups[0].rules[0].record=a"+set)
		m := decodeAs[monitoring.ServiceMonitor](t, single(t, objects, "ServiceMonitor"))
		if !reflect.DeepEqual(m.Spec.NamespaceSelector, want) || (m.Namespace == "watch") != (set != "") {
			t.Errorf("%q: %s, %+v", set, m.Namespace, m.Spec.NamespaceSelector)
		}
		if rules := single(t, objects, "PrometheusRule").Metadata.Namespace; rules != "rules" {
			t.Errorf("the rules are in %s", rules)
		}
	}
}

// TestOwnLabelsComeFirst: of a key that several values set, a resource has the value of its own section, once.
func TestOwnLabelsComeFirst(t *testing.T) {
	values := write(t, `
commonLabels: {release: all, team: llm}
serviceMonitor: {enabled: true, labels: {release: monitors}}
service: {labels: {release: services}, ipFamilyPolicy: PreferDualStack}
podAnnotations: {kubectl.kubernetes.io/default-container: other}
state: {claim: {annotations: {a: b}}}
imagePullSecrets: [{name: own}, {name: shared}]
global: {imagePullSecrets: [shared, {name: parent}]}
`)
	objects := render(t, "--set", aTarget, "--values="+values)
	for kind, want := range map[string]string{"ServiceMonitor": "monitors", "Service": "services", "StatefulSet": "all"} {
		if got := single(t, objects, kind).Metadata.Labels; got["release"] != want || got["team"] != "llm" {
			t.Errorf("%s: %v", kind, got)
		}
	}
	pod := podsOf(t, objects)
	if pod.Annotations["kubectl.kubernetes.io/default-container"] != "other" || pod.Annotations["checksum/config"] == "" {
		t.Errorf("the pod has %v", pod.Annotations)
	}
	if got, want := pod.Spec.ImagePullSecrets, []core.LocalObjectReference{{Name: "shared"}, {Name: "parent"}, {Name: "own"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("the pull secrets are %v", got)
	}
	claim := decodeAs[apps.StatefulSet](t, single(t, objects, "StatefulSet")).Spec.VolumeClaimTemplates[0]
	service := decodeAs[core.Service](t, single(t, objects, "Service")).Spec
	if claim.Annotations["a"] != "b" || *service.IPFamilyPolicy != core.IPFamilyPolicyPreferDualStack {
		t.Errorf("claim %v, Service %v", claim.Annotations, service.IPFamilyPolicy)
	}
}

// TestNullRemovesAProbe: null is how Helm removes a default.
func TestNullRemovesAProbe(t *testing.T) {
	container := podsOf(t, render(t, "--set", aTarget, "--values="+write(t, "livenessProbe: null"))).Spec.Containers[0]
	if container.LivenessProbe != nil || container.ReadinessProbe == nil {
		t.Errorf("liveness %v, readiness %v", container.LivenessProbe, container.ReadinessProbe)
	}
}
