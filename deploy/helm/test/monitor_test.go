package chart

import (
	"os"
	"path/filepath"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

const aTarget = "config.targets[0].base_url=http://a.example/v1"

// TestMonitorsKeepTheLabelsOfTargets: the operator gives every series the name of the scraped Service as "service",
// and the namespace of the pod. The labels of a target win, and no target has a service that it was not given.
func TestMonitorsKeepTheLabelsOfTargets(t *testing.T) {
	endpoints := func(o object) (honors bool, relabelings []monitoring.RelabelConfig) {
		if o.Kind == "PodMonitor" {
			e := decodeAs[monitoring.PodMonitor](t, o).Spec.PodMetricsEndpoints[0]
			return e.HonorLabels, e.RelabelConfigs
		}
		e := decodeAs[monitoring.ServiceMonitor](t, o).Spec.Endpoints[0]
		return e.HonorLabels, e.RelabelConfigs
	}
	for kind, key := range map[string]string{"ServiceMonitor": "serviceMonitor", "PodMonitor": "podMonitor"} {
		objects := render(t, "--set", aTarget+","+key+".enabled=true,"+key+".relabelings[0].targetLabel=cluster,"+key+".relabelings[0].replacement=eu")
		honors, relabelings := endpoints(single(t, objects, kind))
		if !honors || len(relabelings) != 2 || relabelings[0].Action != "labeldrop" || relabelings[0].Regex != "service" || relabelings[1].TargetLabel != "cluster" {
			t.Errorf("%s: honorLabels %v, relabelings %+v", kind, honors, relabelings)
		}
	}
}

// TestNullRemovesAProbe: null is how Helm removes a default.
func TestNullRemovesAProbe(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte("livenessProbe: null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	container := podsOf(t, render(t, "--set", aTarget, "--values="+values)).Spec.Containers[0]
	if container.LivenessProbe != nil || container.ReadinessProbe == nil {
		t.Errorf("liveness %v, readiness %v", container.LivenessProbe, container.ReadinessProbe)
	}
}
