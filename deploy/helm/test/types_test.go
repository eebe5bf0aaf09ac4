package chart

import (
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
)

// grafanaDashboard has the fields that the chart writes of the Grafana operator's resource.
// The operator's own module would pull in Grafana clients.
type grafanaDashboard struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		InstanceSelector          *meta.LabelSelector `json:"instanceSelector"`
		AllowCrossNamespaceImport bool                `json:"allowCrossNamespaceImport"`
		Folder                    string              `json:"folder"`
		JSON                      string              `json:"json"`
	} `json:"spec"`
}

// decoders has a strict decoder for each kind.
var decoders = map[string]func(*testing.T, object){
	"ClusterRole":           func(t *testing.T, o object) { decodeAs[rbac.ClusterRole](t, o) },
	"ClusterRoleBinding":    func(t *testing.T, o object) { decodeAs[rbac.ClusterRoleBinding](t, o) },
	"ConfigMap":             func(t *testing.T, o object) { decodeAs[core.ConfigMap](t, o) },
	"Deployment":            func(t *testing.T, o object) { decodeAs[apps.Deployment](t, o) },
	"GrafanaDashboard":      func(t *testing.T, o object) { decodeAs[grafanaDashboard](t, o) },
	"HTTPRoute":             func(t *testing.T, o object) { decodeAs[gateway.HTTPRoute](t, o) },
	"Ingress":               func(t *testing.T, o object) { decodeAs[networking.Ingress](t, o) },
	"Job":                   func(t *testing.T, o object) { decodeAs[batch.Job](t, o) },
	"NetworkPolicy":         func(t *testing.T, o object) { decodeAs[networking.NetworkPolicy](t, o) },
	"PersistentVolumeClaim": func(t *testing.T, o object) { decodeAs[core.PersistentVolumeClaim](t, o) },
	"Pod":                   func(t *testing.T, o object) { decodeAs[core.Pod](t, o) },
	"PodDisruptionBudget":   func(t *testing.T, o object) { decodeAs[policy.PodDisruptionBudget](t, o) },
	"PodMonitor":            func(t *testing.T, o object) { decodeAs[monitoring.PodMonitor](t, o) },
	"Probe":                 func(t *testing.T, o object) { decodeAs[monitoring.Probe](t, o) },
	"PrometheusRule":        func(t *testing.T, o object) { decodeAs[monitoring.PrometheusRule](t, o) },
	"Role":                  func(t *testing.T, o object) { decodeAs[rbac.Role](t, o) },
	"RoleBinding":           func(t *testing.T, o object) { decodeAs[rbac.RoleBinding](t, o) },
	"Service":               func(t *testing.T, o object) { decodeAs[core.Service](t, o) },
	"ServiceAccount":        func(t *testing.T, o object) { decodeAs[core.ServiceAccount](t, o) },
	"ServiceMonitor":        func(t *testing.T, o object) { decodeAs[monitoring.ServiceMonitor](t, o) },
	"StatefulSet":           func(t *testing.T, o object) { decodeAs[apps.StatefulSet](t, o) },
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
		validNames(t, objects)
		for _, o := range objects {
			m := o.Metadata
			elsewhere := m.Namespace == "grafana" && o.Kind == "ConfigMap" || o.Kind == "Role" || o.Kind == "RoleBinding"
			want := "probing"
			if strings.HasPrefix(o.Kind, "ClusterRole") {
				want = ""
			}
			if m.Namespace != want && !elsewhere {
				t.Errorf("%s %s: namespace %q, want %q", o.Kind, m.Name, m.Namespace, want)
			}
		}
	})
}

// validNames checks every name against the strictest rule, the one for Services.
func validNames(t *testing.T, objects []object) {
	t.Helper()
	names := map[string]bool{}
	for _, o := range objects {
		m := o.Metadata
		if names[o.Kind+m.Namespace+m.Name] {
			t.Errorf("two resources are called %s %s", o.Kind, m.Name)
		}
		names[o.Kind+m.Namespace+m.Name] = true
		for _, problem := range validation.IsDNS1035Label(m.Name) {
			t.Errorf("%s %s: name: %s", o.Kind, m.Name, problem)
		}
		for key, value := range m.Labels {
			for _, problem := range append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...) {
				t.Errorf("%s %s: label %s=%s: %s", o.Kind, m.Name, key, value, problem)
			}
		}
	}
}

// sorted removes the order of the resources and the lines between them, which depend on
// the version of Helm.
func sorted(text string) string {
	docs := strings.Split("\n"+text, "\n---\n")
	for i, doc := range docs {
		docs[i] = strings.TrimSpace(doc)
	}
	slices.Sort(docs)
	return strings.Join(docs, "\n---\n")
}
