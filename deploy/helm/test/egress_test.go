package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	networking "k8s.io/api/networking/v1"
)

// TestEgressFollowsTheConfiguration: the policy allows every address in the
// configuration, in any spelling, and ignores addresses in comments.
func TestEgressFollowsTheConfiguration(t *testing.T) {
	for address, want := range map[string]string{
		"http://vllm.models.svc:8000/v1":               "models",
		"http://vllm-0.vllm.models.svc.cluster.local/": "models",
		"http://vllm:8000/v1":                          "probing",
		"https://llm.example.com/v1":                   ":443",
		"https://llm.example.com:8443":                 ":8443",
		"http://llm.example.com/v1":                    ":80",
		"http://192.0.2.1:8000/v1":                     "192.0.2.1/32:8000",
		"http://[2001:db8::1]:8000/v1":                 "2001:db8::1/128:8000",
		"http://[2001:db8::1]/v1":                      "2001:db8::1/128:80",
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			config := fmt.Sprintf("# see https://docs.example.org:1/\ntargets: [{name: a, base_url: '%s'}]\nalerting: {alertmanagers: [{url: http://alertmanager.monitoring.svc:9093}]}\n", address)
			objects := render(t, "--set-literal=configFile="+config,
				"--set=networkPolicy.enabled=true,networkPolicy.egress.enabled=true,networkPolicy.egress.fromConfig=true,networkPolicy.egress.dns=null")
			var got []string
			for _, rule := range decodeAs[networking.NetworkPolicy](t, single(t, objects, "NetworkPolicy")).Spec.Egress {
				got = append(got, destination(rule))
			}
			slices.Sort(got)
			both := []string{want, "monitoring"}
			slices.Sort(both)
			if !slices.Equal(got, both) {
				t.Errorf("let out to %q, want %q", got, both)
			}
		})
	}
}

// destination formats a rule as its namespace or IP block, and its ports.
func destination(rule networking.NetworkPolicyEgressRule) string {
	var text strings.Builder
	for _, to := range rule.To {
		if to.IPBlock != nil {
			text.WriteString(to.IPBlock.CIDR)
		} else {
			text.WriteString(to.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
		}
	}
	for _, port := range rule.Ports {
		text.WriteString(":" + port.Port.String())
	}
	return text.String()
}
