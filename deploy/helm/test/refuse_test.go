package chart

import (
	"strings"
	"testing"
)

func TestMistakesAreRefused(t *testing.T) {
	const target = "config.targets[0].base_url=http://a.example/v1"
	tests := []struct{ name, set, want string }{
		{"nothing to probe", "replicaCount=1", "There is nothing to probe"},
		{"two sources", target + ",existingConfigMap=x", "exclude each other"},
		{"two foreign sources", "existingSecret=x,existingConfigMap=y", "exclude each other"},
		{"no image", target + ",image.repository=", "--set image.repository=registry.example.com/team/synthetic"},
		{"study beside a prober", target + ",study.plan=x", "install them as two releases"},
		{"container that outlives a sweep", "study.plan=x,extraContainers[0].name=x", "extraInitContainers with restartPolicy: Always"},
		{"plan.yml as a further file", `study.plan=x,files.plan\.yml=x`, "files cannot hold plan.yml"},
		{"key of a plan without a Secret", "study.plan=/etc/synthetic/keys/a", "set keys.existingSecret"},
		{"files for another's Secret", "existingSecret=x,files.a=b", "put the files there"},
		{"route to no Service", target + ",ingress.enabled=true,ingress.hosts[0]=a.example,service.enabled=false", "lead to the Service"},
		{"route without a Gateway", target + ",httpRoute.enabled=true", "httpRoute.parentRefs names no Gateway"},
		{"Ingress for nobody", target + ",ingress.enabled=true", "/ingress/hosts': minItems"},
		{"watch without a token", "config.discovery[0].name=chat,config.discovery[0].kubernetes_sd_configs[0].role=pod", "The group \"chat\" watches objects of the cluster"},
		{"rights for everybody", target + ",rbac.create=true,serviceAccount.create=false", "set serviceAccount.create, or serviceAccount.name"},
		{"rights for everybody by name", target + ",rbac.create=true,serviceAccount.create=false,serviceAccount.name=default", "set serviceAccount.create, or serviceAccount.name"},
		{"scope", target + ",rbac.scope=world", "/rbac/scope': value must be one of"},
		{"no targets", "config.slos[0].sli=availability,config.slos[0].objective=99%", "The configuration has no targets"},
		{"file that is no YAML", "configFile=a: b: c", "configFile is not YAML"},
		{"file without targets", "configFile=slos: []", "The configuration has no targets"},
		{"key of a target", "config.targets[0].url=x", "additional properties 'url' not allowed"},
		{"inline key", target + ",config.targets[0].api_key=x", "additional properties 'api_key' not allowed"},
		{"SLI", target + ",config.slos[0].sli=tfft,config.slos[0].objective=99%", "/config/slos/0/sli': value must be one of"},
		{"threshold", target + ",config.slos[0].sli=ttft,config.slos[0].objective=99%,config.slos[0].threshold=fast", "/config/slos/0/threshold'"},
		{"key file without a Secret", target + ",config.targets[0].api_key_file=/etc/synthetic/keys/a", "set keys.existingSecret"},
		{"synthetic.yml as a further file", target + `,files.synthetic\.yml=x`, "files cannot hold synthetic.yml"},
		{"files for another's ConfigMap", "existingConfigMap=x,files.a=b", "put the files there"},
		{"claim that is not mounted", target + ",state.enabled=false,state.existingClaim=x", "set it to true"},
		{"claim of two pods", target + ",state.existingClaim=x,replicaCount=2", "set replicaCount and shards to 1"},
		{"claim of two shards", target + ",state.existingClaim=x,shards=2", "set replicaCount and shards to 1"},
		{"pair of shards", target + ",replicaCount=2,shards=2", "A pair of each is two releases"},
		{"no prober", target + ",shards=0", "/shards': minimum"},
		{"claim in a rolling update", target + ",state.existingClaim=x", "--set strategy.type=Recreate"},
		{"size", target + ",state.sizeLimit=big", "/state/sizeLimit'"},
		{"size of a claim", target + ",state.claim.size=big", "/state/claim/size'"},
		{"pager without a disk", target + ",state.enabled=false,config.alerting.interval=15s", "set state.enabled, and in the configuration"},
		{"value", target + ",replicas=2", "additional properties 'replicas' not allowed"},
		{"nested value", target + ",image.repo=x", "additional properties 'repo' not allowed"},
		{"type", target + ",replicaCount=two", "/replicaCount': got string, want integer"},
		{"log level", target + ",log.level=loud", "/log/level': value must be one of"},
		{"digest", target + ",image.digest=latest", "/image/digest'"},
		{"privileged port", target + ",port=80", "/port': minimum"},
		{"argument", target + ",extraArgs[0]=log.level=debug", "/extraArgs/0'"},
		{"kind of probe", target + ",livenessProbe.httpGet.path=/", "/livenessProbe/httpGet'"},
		{"two monitors", target + ",serviceMonitor.enabled=true,podMonitor.enabled=true", "scrape each pod twice"},
		{"monitor without Service", target + ",serviceMonitor.enabled=true,service.enabled=false", "serviceMonitor needs the Service"},
		{"interval", target + ",podMonitor.interval=often", "/podMonitor/interval'"},
		{"rules", target + ",prometheusRule.enabled=true", "synthetic generate rules --config.file=synthetic.yml"},
		{"rules that are no YAML", target + ",prometheusRule.enabled=true,prometheusRule.rulesFile=a: b: c", "rulesFile is not YAML"},
		{"empty rules", target + ",prometheusRule.enabled=true,prometheusRule.rulesFile=groups: []", "prometheusRule has no groups"},
		{"egress to nowhere", target + ",networkPolicy.enabled=true,networkPolicy.egress.enabled=true", "networkPolicy.egress.targets"},
		{"name of a dashboard", target + `,dashboards.enabled=true,dashboards.files.Mine\.txt=x`, "/dashboards/files': additional properties 'Mine.txt' not allowed"},
		{"label of the chart", target + `,podLabels.app\.kubernetes\.io/name=x`, "/podLabels/app.kubernetes.io~1name'"},
		{"label of the chart on everything", target + `,commonLabels.app\.kubernetes\.io/name=x`, "/commonLabels/app.kubernetes.io~1name'"},
		{"value of a label", target + ",commonLabels.team=a b", "/commonLabels/team'"},
		{"number as a label", target + ",commonLabels.version=1", "/commonLabels/version': got number, want string"},
		{"checksum of the chart", target + `,podAnnotations.checksum/config=x`, "/podAnnotations/checksum~1config'"},
		{"endpoints of a monitor", target + ",serviceMonitor.spec.endpoints[0].port=http", "/serviceMonitor/spec/endpoints'"},
		{"selector of a monitor", target + ",podMonitor.spec.selector.matchLabels.a=b", "/podMonitor/spec/selector'"},
		{"flag of a value", target + ",extraArgs[0]=--web.route-prefix=/a", "/extraArgs/0'"},
		{"prefix", target + ",routePrefix=a/", "/routePrefix'"},
		{"volume of the chart", target + ",extraVolumes[0].name=state", "/extraVolumes/0/name'"},
		{"container of the chart", target + ",extraContainers[0].name=synthetic", "/extraContainers/0/name'"},
		{"name of a volume", "study.plan=x,study.results.volume.name=x", "/study/results/volume/name'"},
		{"IP family", target + ",service.ipFamilyPolicy=Dual", "/service/ipFamilyPolicy'"},
		{"disruption budget", target + ",podDisruptionBudget.enabled=true,podDisruptionBudget.minAvailable=half", "/podDisruptionBudget/minAvailable'"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, errs, err := helm(t, "--set", test.set)
			if err == nil {
				t.Fatalf("--set %s was accepted", test.set)
			}
			if !strings.Contains(errs, test.want) {
				t.Errorf("--set %s:\n%s\nwant %q", test.set, errs, test.want)
			}
		})
	}
}
