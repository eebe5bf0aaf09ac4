package chart

import (
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selector returns the labels that a resource selects, and whether it selects pods
// rather than Services.
func selector(t *testing.T, o object) (s *meta.LabelSelector, pods bool) {
	t.Helper()
	switch o.Kind {
	case "Deployment":
		return decodeAs[apps.Deployment](t, o).Spec.Selector, true
	case "StatefulSet":
		return decodeAs[apps.StatefulSet](t, o).Spec.Selector, true
	case "Service":
		return &meta.LabelSelector{MatchLabels: decodeAs[core.Service](t, o).Spec.Selector}, true
	case "PodDisruptionBudget":
		return decodeAs[policy.PodDisruptionBudget](t, o).Spec.Selector, true
	case "NetworkPolicy":
		p := decodeAs[networking.NetworkPolicy](t, o)
		return &p.Spec.PodSelector, true
	case "PodMonitor":
		m := decodeAs[monitoring.PodMonitor](t, o)
		return &m.Spec.Selector, true
	case "ServiceMonitor":
		m := decodeAs[monitoring.ServiceMonitor](t, o)
		return &m.Spec.Selector, false
	}
	return nil, false
}

func matches(t *testing.T, s *meta.LabelSelector, set map[string]string) bool {
	t.Helper()
	selector, err := meta.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(labels.Set(set))
}

func TestSelectorsFindTheProberAndNothingElse(t *testing.T) {
	eachValues(t, func(t *testing.T, _ string, objects []object) {
		prober := podsOf(t, objects).Labels
		for _, o := range objects {
			s, pods := selector(t, o)
			if s == nil {
				continue
			}
			found := prober
			if !pods {
				found = single(t, objects, "Service").Metadata.Labels // a ServiceMonitor
			}
			if !matches(t, s, found) {
				t.Errorf("%s %s does not find %v", o.Kind, o.Metadata.Name, found)
			}
			for _, other := range objects {
				if pods && other.Kind == "Pod" && matches(t, s, other.Metadata.Labels) {
					t.Errorf("%s %s finds pod %s, too", o.Kind, o.Metadata.Name, other.Metadata.Name)
				}
			}
		}
	})
}

func TestTheTestPodMayConnect(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/full-values.yaml")
	pod := single(t, objects, "Pod")
	for _, peer := range decodeAs[networking.NetworkPolicy](t, single(t, objects, "NetworkPolicy")).Spec.Ingress[0].From {
		if peer.NamespaceSelector == nil && matches(t, peer.PodSelector, pod.Metadata.Labels) {
			return
		}
	}
	t.Errorf("the network policy keeps pod %s out", pod.Metadata.Name)
}
