package chart

import (
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// decoders read a kind strictly.
var decoders = map[string]func(*testing.T, object){
	"ConfigMap":           func(t *testing.T, o object) { into[core.ConfigMap](t, o) },
	"Deployment":          func(t *testing.T, o object) { into[apps.Deployment](t, o) },
	"NetworkPolicy":       func(t *testing.T, o object) { into[networking.NetworkPolicy](t, o) },
	"Pod":                 func(t *testing.T, o object) { into[core.Pod](t, o) },
	"PodDisruptionBudget": func(t *testing.T, o object) { into[policy.PodDisruptionBudget](t, o) },
	"PodMonitor":          func(t *testing.T, o object) { into[monitoring.PodMonitor](t, o) },
	"PrometheusRule":      func(t *testing.T, o object) { into[monitoring.PrometheusRule](t, o) },
	"Service":             func(t *testing.T, o object) { into[core.Service](t, o) },
	"ServiceAccount":      func(t *testing.T, o object) { into[core.ServiceAccount](t, o) },
	"StatefulSet":         func(t *testing.T, o object) { into[apps.StatefulSet](t, o) },
	"ServiceMonitor":      func(t *testing.T, o object) { into[monitoring.ServiceMonitor](t, o) },
}

func TestResourcesHaveTheirTypes(t *testing.T) {
	seen := map[string]bool{}
	eachValues(t, func(t *testing.T, _ string, objects []object) {
		for _, o := range objects {
			decode := decoders[o.Kind]
			if decode == nil {
				t.Fatalf("%s %s: a kind that this test does not know", o.Kind, o.Metadata.Name)
			}
			decode(t, o)
			seen[o.Kind] = true
		}
	})
	for kind := range decoders {
		if !seen[kind] {
			t.Errorf("no values under ci/ make a %s", kind)
		}
	}
}

func TestNamesAndLabelsAreValid(t *testing.T) {
	eachValues(t, func(t *testing.T, _ string, objects []object) {
		names := map[string]bool{}
		for _, o := range objects {
			m := o.Metadata
			if names[o.Kind+m.Name] {
				t.Errorf("two resources are called %s %s", o.Kind, m.Name)
			}
			names[o.Kind+m.Name] = true
			for _, problem := range validation.IsDNS1123Label(m.Name) {
				t.Errorf("%s %s: name: %s", o.Kind, m.Name, problem)
			}
			for key, value := range m.Labels {
				for _, problem := range append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...) {
					t.Errorf("%s %s: label %s=%s: %s", o.Kind, m.Name, key, value, problem)
				}
			}
			want := "probing"
			if o.Kind == "ConfigMap" && m.Namespace == "grafana" {
				want = "grafana"
			}
			if m.Namespace != want {
				t.Errorf("%s %s: namespace %q, want %q", o.Kind, m.Name, m.Namespace, want)
			}
		}
	})
}
