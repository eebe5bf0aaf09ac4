package chart

import (
	"slices"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
)

// TestRoutesLeadToTheService: routes name the Service and one of its ports.
func TestRoutesLeadToTheService(t *testing.T) {
	objects := render(t, "--values="+chartDir+"/ci/secret-values.yaml", "--set=service.port=80")
	service := decodeAs[core.Service](t, single(t, objects, "Service"))
	port := service.Spec.Ports[0]

	ingress := decodeAs[networking.Ingress](t, single(t, objects, "Ingress")).Spec.Rules
	if len(ingress) != 1 || ingress[0].Host != "synthetic.example.com" {
		t.Fatalf("got %+v", ingress)
	}
	if to := ingress[0].HTTP.Paths[0].Backend.Service; to.Name != service.Name || to.Port.Name != port.Name {
		t.Errorf("the Ingress leads to %+v", to)
	}
	to := decodeAs[gateway.HTTPRoute](t, single(t, objects, "HTTPRoute")).Spec.Rules[0].BackendRefs[0]
	if string(to.Name) != service.Name || to.Port == nil || *to.Port != port.Port {
		t.Errorf("the HTTPRoute leads to %+v", to)
	}
}

// TestAForeignConfigurationIsFollowed: the chart cannot see changes of a ConfigMap that it
// does not own, so the pods reload it themselves.
func TestAForeignConfigurationIsFollowed(t *testing.T) {
	for set, mounted := range map[string]func(core.VolumeSource) string{
		"existingSecret=mine":    func(v core.VolumeSource) string { return v.Secret.SecretName },
		"existingConfigMap=mine": func(v core.VolumeSource) string { return v.ConfigMap.Name },
	} {
		objects := render(t, "--set", set+",autoReloadInterval=1m")
		if has(objects, "ConfigMap") {
			t.Errorf("%s: a ConfigMap of the chart's beside it", set)
		}
		pod := podsOf(t, objects)
		i := slices.IndexFunc(pod.Spec.Volumes, func(v core.Volume) bool { return v.Name == "config" })
		if got := mounted(pod.Spec.Volumes[i].VolumeSource); got != "mine" {
			t.Errorf("%s: mounted is %q", set, got)
		}
		if args := pod.Spec.Containers[0].Args; !slices.Contains(args, "--config.auto-reload-interval=1m") || pod.Annotations["checksum/config"] != "" {
			t.Errorf("%s: arguments %q, annotations %v", set, args, pod.Annotations)
		}
	}
}
