package chart

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// mutations are values that users add to others. Many set a key that the chart or another of them sets, too.
var mutations = []string{
	"commonLabels: {release: a, team: '1', example.com/cost: other}",
	"podLabels: {release: b, app.kubernetes.io/part-of: llm}",
	"podAnnotations: {kubectl.kubernetes.io/default-container: other, a: '1'}",
	"annotations: {a: 'true', helm.sh/resource-policy: keep}",
	"serviceMonitor: {enabled: true, labels: {release: c, team: '2'}, namespace: monitoring}",
	"serviceMonitor: {enabled: true, honorLabels: false, spec: {namespaceSelector: {any: true}, jobLabel: team}, namespace: other}",
	"serviceMonitor: {enabled: true, relabelings: [{action: labeldrop, regex: pod}], metricRelabelings: [{action: keep, regex: a, sourceLabels: [__name__]}]}",
	"podMonitor: {enabled: true, labels: {release: d}, interval: 1m, spec: {podTargetLabels: [team]}}",
	"podMonitor: {enabled: true, namespace: '7'}\nserviceMonitor: {enabled: false}",
	"prometheusRule: {enabled: true, namespace: rules, labels: {release: e}, groups: [{name: a, rules: [{record: 'a:b', expr: '1'}]}]}",
	"dashboards: {enabled: true, namespace: grafana, labels: {release: f}, annotations: {a: b}, files: {a.json: '{}'}}",
	"dashboards: {operator: {enabled: true, folder: 'on'}, files: {b.json: '{}'}}",
	"service: {labels: {release: g, monitored: 'yes'}, annotations: {a: b}, ipFamilyPolicy: PreferDualStack}",
	"service: {enabled: false}",
	"state: {claim: {annotations: {a: b, c: '3'}, size: 2Gi, storageClassName: '5'}}",
	"state: {claim: {enabled: false}, sizeLimit: 1G}",
	"state: {enabled: false}",
	"state: {existingClaim: mine}\nstrategy: {type: Recreate, rollingUpdate: null}",
	"global: {imagePullSecrets: [a, {name: b}], region: eu}",
	"global: {imagePullSecrets: [registry]}\nimagePullSecrets: [{name: registry}, {name: c}]",
	"global: {imagePullSecrets: null}\nimagePullSecrets: null",
	"routePrefix: /probes/llm",
	"readinessProbe: null",
	"livenessProbe: {initialDelaySeconds: 5, periodSeconds: null}",
	"webConfig: {existingSecret: web, scheme: https, probe: tcp}",
	"webConfig: {probeHeaders: [{name: Authorization, value: 'Basic e: #'}]}",
	"ingress: {enabled: true, hosts: [a.example, b.example], annotations: {a: b}, className: '1', tls: [{hosts: [a.example]}]}",
	"httpRoute: {enabled: true, parentRefs: [{name: a}], hostnames: [a.example]}",
	"networkPolicy: {enabled: true, ingress: {from: []}, egress: {enabled: true, fromConfig: true, dns: null}}",
	"networkPolicy: {enabled: true, egress: {targets: [{ports: [{port: 1}]}]}}",
	"podDisruptionBudget: {enabled: true, minAvailable: 1}",
	"podDisruptionBudget: {enabled: true, maxUnavailable: 50%}\nreplicaCount: 3",
	"shards: 2", "replicaCount: 0", "replicaCount: 2\nshards: 2",
	"openshift: true\npodSecurityContext: null",
	"podSecurityContext: {runAsUser: null, supplementalGroups: [1]}\nsecurityContext: null",
	"resources: null", "resources: {limits: {memory: null}, requests: {cpu: 1}}",
	"rbac: {create: true, scope: cluster}\nserviceAccount: {name: '9', annotations: {a: b}, automount: true}",
	"rbac: {create: true, namespaces: [a, '8']}",
	"serviceAccount: {create: false}",
	"env: [{name: A, value: '1'}]\nenvFrom: [{secretRef: {name: a}}]",
	"extraVolumes: [{name: mine, emptyDir: {}}]\nextraVolumeMounts: [{name: mine, mountPath: /mine}]",
	"extraContainers: [{name: other, image: a}]",
	"extraArgs: [--web.listen-address=:1]",
	"files: {a.pem: '#: {', b.yml: \"a: b\\n\"}",
	"nameOverride: '12'", "fullnameOverride: 1.2.3-A_b",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]\naffinity: null",
	"strategy: null", "tolerations: null\nnodeSelector: {a: 'true'}\npriorityClassName: 'no'",
	"keys: {existingSecret: '0x1'}", "log: {level: warn, format: json}\nenableLifecycle: true",
	"extraManifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]",
	"rollOnConfigChange: false\nautoReloadInterval: 1m", "shutdownTimeoutSeconds: 0", "port: 65535",
	"study: {shards: 2, startAt: '2030-01-01T00:00:00Z'}", "study: {results: {volume: {emptyDir: {}}}, ttlSecondsAfterFinished: 7}",
	"study: {results: {claim: {annotations: {a: b}, accessModes: [ReadWriteMany], size: 5Gi}}}",
}

// TestMutatedValues renders 600 combinations of mutations, each with both versions of Helm. A combination gives sound
// resources, or an error of the schema or the chart that a user understands.
func TestMutatedValues(t *testing.T) {
	files, err := filepath.Glob(chartDir + "/ci/*-values.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no values under ci/: %v", err)
	}
	renders := 600
	if testing.Short() {
		renders = 60
	}
	var rendered atomic.Int64
	t.Run("all", func(t *testing.T) {
		for seed := range renders {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(uint64(seed), 44))
				args := []string{"--values=" + files[random.IntN(len(files))], "--values=" + write(t, "dashboards: {files: {small.json: '{}'}}")}
				var added []string
				for range 1 + random.IntN(4) {
					added = append(added, mutations[random.IntN(len(mutations))])
					args = append(args, "--values="+write(t, added[len(added)-1]))
				}
				out, errs, err := helms(t, chartDir, args...)
				if err == nil {
					rendered.Add(1)
					err = sound(t, out)
				} else if strings.Contains(errs, "at '/") || strings.Contains(errs, "execution error at") && !strings.Contains(errs, "nil pointer") {
					return
				}
				if err != nil {
					t.Errorf("%s\n%s\n%v\n%s", args[0], strings.Join(added, "\n"), err, errs)
				}
			})
		}
	})
	n := rendered.Load()
	t.Logf("%d of %d combinations rendered", n, renders)
	if n < int64(renders)/2 {
		t.Error("too many are refused")
	}
}
