{{/* What no schema can say, because it concerns several values. */}}
{{- define "synthetic.validate" -}}
{{- $sources := compact (list .Values.config .Values.configFile .Values.existingConfigMap .Values.existingSecret) | len -}}
{{- if eq (include "synthetic.kind" .) "Job" -}}
{{- include "synthetic.validateStudy" (list . $sources) -}}
{{- else if eq $sources 0 -}}
{{- fail "\n\nThere is nothing to probe: name at least one deployment. Set one of\n  --set 'config.targets[0].base_url=http://vllm.default.svc:8000/v1'\n  --set-file configFile=synthetic.yml\n  --set existingConfigMap=NAME   (a ConfigMap with the key synthetic.yml)\n  --set existingSecret=NAME      (a Secret with that key)\nor, for a sweep, --set-file study.plan=plan.yml. See the README of the chart.\n" -}}
{{- else if gt $sources 1 -}}
{{- fail "\n\nconfig, configFile, existingConfigMap and existingSecret exclude each other: set one of them.\n" -}}
{{- else -}}
{{- if and (gt (int .Values.shards) 1) (ne (int .Values.replicaCount) 1) -}}
{{- fail (printf "\n\nEach of the %d shards is one pod: set replicaCount to 1. A pair of each is two releases.\n" (int .Values.shards)) -}}
{{- end -}}
{{- if and .Values.rbac.create (eq (include "synthetic.serviceAccountName" .) "default") -}}
{{- fail "\n\nrbac would give its rights to every pod of the namespace that runs as its default account: set serviceAccount.create, or serviceAccount.name to another one.\n" -}}
{{- end -}}
{{- include "synthetic.validateConfig" . -}}
{{- include "synthetic.validateState" . -}}
{{- include "synthetic.validateWeb" . -}}
{{- end -}}
{{- end -}}

{{/* The configuration, as far as the chart can see it. */}}
{{- define "synthetic.validateConfig" -}}
{{- if include "synthetic.foreign" . -}}
{{- if .Values.files -}}
{{- fail "\n\nfiles go into the chart's own ConfigMap, which existingConfigMap and existingSecret replace: put the files there.\n" -}}
{{- end -}}
{{- else -}}
{{- $config := include "synthetic.configText" . | fromYaml -}}
{{- if hasKey $config "Error" -}}
{{- fail (printf "\n\nconfigFile is not YAML: %s\n" $config.Error) -}}
{{- end -}}
{{- if not (or $config.targets $config.discovery $config.modules) -}}
{{- fail "\n\nThe configuration has no targets: name at least one deployment, or discovery. \"synthetic check config\" tells more.\n" -}}
{{- end -}}
{{- if and (contains "/etc/synthetic/keys/" (include "synthetic.configText" .)) (not .Values.keys.existingSecret) -}}
{{- fail "\n\nThe configuration reads a key under /etc/synthetic/keys, where nothing is mounted: set keys.existingSecret to the name of a Secret with that key.\n" -}}
{{- end -}}
{{- if not (or .Values.rbac.create .Values.serviceAccount.automount) -}}
{{- range $config.discovery -}}
{{- if and (or .preset .kubernetes) (not (dig "kubernetes" "kubeconfig" "" .)) -}}
{{- fail (printf "\n\nThe group %q watches objects of the cluster, and the pods have no token for that: set rbac.create, or serviceAccount.automount where the account has a role already.\n" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if hasKey (default dict .Values.files) "synthetic.yml" -}}
{{- fail "\n\nfiles cannot hold synthetic.yml: that is config or configFile.\n" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether what should outlive a restart has a disk, of its own. */}}
{{- define "synthetic.validateState" -}}
{{- $state := .Values.state -}}
{{- if and $state.existingClaim (not $state.enabled) -}}
{{- fail "\n\nstate.existingClaim is not mounted without state.enabled: set it to true.\n" -}}
{{- end -}}
{{- if $state.existingClaim -}}
{{- if gt (int (include "synthetic.pods" .)) 1 -}}
{{- fail "\n\nstate.existingClaim serves one pod, whose state it holds: set replicaCount and shards to 1, or leave existingClaim out.\n" -}}
{{- end -}}
{{- if ne (default "" .Values.strategy.type) "Recreate" -}}
{{- fail "\n\nstate.existingClaim serves one pod at a time, and a new pod would wait for the old one's disk: set\n  --set strategy.type=Recreate --set strategy.rollingUpdate=null\n" -}}
{{- end -}}
{{- end -}}
{{- if not (or (include "synthetic.foreign" .) $state.enabled .Values.extraVolumeMounts) -}}
{{- $alerting := (include "synthetic.configText" . | fromYaml).alerting -}}
{{- if and (not (kindIs "invalid" $alerting)) (dig "readOnlyRootFilesystem" false .Values.securityContext) -}}
{{- fail "\n\nThe pager of alerting needs a disk, and the root file system is read-only: set state.enabled, and in the configuration\n  alerting: {directory: /var/lib/synthetic/pager}\n" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Who reaches the port, and through what. */}}
{{- define "synthetic.validateWeb" -}}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled -}}
{{- fail "\n\nserviceMonitor and podMonitor would scrape each pod twice: enable one of them.\n" -}}
{{- end -}}
{{- if not .Values.service.enabled -}}
{{- if .Values.serviceMonitor.enabled -}}
{{- fail "\n\nserviceMonitor needs the Service: set service.enabled, or use podMonitor.\n" -}}
{{- end -}}
{{- if or .Values.ingress.enabled .Values.httpRoute.enabled -}}
{{- fail "\n\ningress and httpRoute lead to the Service: set service.enabled.\n" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "\n\nhttpRoute.parentRefs names no Gateway, and a route without one serves nobody:\n  --set 'httpRoute.parentRefs[0].name=GATEWAY'\n" -}}
{{- end -}}
{{- end -}}

{{/* A study: a release of its own, with what its shards share. */}}
{{- define "synthetic.validateStudy" -}}
{{- $root := index . 0 -}}
{{- $study := $root.Values.study -}}
{{- if semverCompare "<1.29.0-0" $root.Capabilities.KubeVersion.Version -}}
{{- fail (printf "\n\nA study is an Indexed Job that replaces lost pods by index, which takes Kubernetes 1.29, and this is %s.\n" $root.Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if gt (index . 1) 0 -}}
{{- fail "\n\nstudy.plan is a sweep, and config, configFile, existingConfigMap and existingSecret are a prober: install them as two releases.\n" -}}
{{- end -}}
{{- if $root.Values.extraContainers -}}
{{- fail "\n\nA Job ends when all its containers have, and those of extraContainers may go on for ever: put them into extraInitContainers with restartPolicy: Always.\n" -}}
{{- end -}}
{{- if hasKey (default dict $root.Values.files) "plan.yml" -}}
{{- fail "\n\nfiles cannot hold plan.yml: that is study.plan.\n" -}}
{{- end -}}
{{- if and (contains "/etc/synthetic/keys/" $study.plan) (not $root.Values.keys.existingSecret) -}}
{{- fail "\n\nThe plan reads a key under /etc/synthetic/keys, where nothing is mounted: set keys.existingSecret to the name of a Secret with that key.\n" -}}
{{- end -}}
{{- if and (gt (int $study.shards) 1) (not $study.barrier.existingSecret) -}}
{{- fail (printf "\n\nThe %d shards meet at a barrier that asks for a token. Make a Secret with the key token, and name it:\n  kubectl create secret generic synthetic-barrier --from-literal=token=\"$(openssl rand -hex 32)\"\n  --set study.barrier.existingSecret=synthetic-barrier\n" (int $study.shards)) -}}
{{- end -}}
{{- end -}}
