package chart

import (
	"cmp"
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

// TestThePrefixIsEverywhere: probes, monitors, routes and the test ask below the prefix at which the pods serve.
func TestThePrefixIsEverywhere(t *testing.T) {
	for _, prefix := range []string{"", "/probes/llm"} {
		objects := render(t, "--values="+chartDir+"/ci/minimal-values.yaml", "--set=routePrefix="+prefix+",serviceMonitor.enabled=true",
			"--set=ingress.enabled=true,ingress.hosts[0]=a.example,httpRoute.enabled=true,httpRoute.parentRefs[0].name=a")
		container := podsOf(t, objects).Spec.Containers[0]
		ingress := decodeAs[networking.Ingress](t, single(t, objects, "Ingress")).Spec.Rules[0].HTTP.Paths[0]
		route := decodeAs[gateway.HTTPRoute](t, single(t, objects, "HTTPRoute")).Spec.Rules[0].Matches[0]
		test := decodeAs[core.Pod](t, single(t, objects, "Pod")).Spec.Containers[0]
		got := []string{container.LivenessProbe.HTTPGet.Path, container.ReadinessProbe.HTTPGet.Path, endpointOf(t, single(t, objects, "ServiceMonitor")).Path, ingress.Path, *route.Path.Value, test.Args[2]}
		root := cmp.Or(prefix, "/")
		want := []string{prefix + "/-/healthy", prefix + "/-/ready", prefix + "/metrics", root, root, "--url=http://rel-synthetic.probing.svc:9877" + prefix}
		if !slices.Equal(got, want) || slices.Contains(container.Args, "--web.route-prefix="+prefix) != (prefix != "") {
			t.Errorf("%q: %q, arguments %q", prefix, got, container.Args)
		}
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
