{{/* Checks that involve several values, which a schema cannot express. */}}
{{- define "synthetic.validate" -}}
{{- $sources := compact (list .Values.config .Values.configFile .Values.existingConfigMap .Values.existingSecret) | len -}}
{{- if eq (include "synthetic.kind" .) "Job" -}}
{{- include "synthetic.validateStudy" (list . $sources) -}}
{{- else if eq $sources 0 -}}
{{- fail "\n\nThere is nothing to probe. Name at least one deployment with one of\n  --set 'config.targets[0].base_url=http://vllm.default.svc:8000/v1'\n  --set-file configFile=synthetic.yml\n  --set existingConfigMap=NAME   (a ConfigMap with the key synthetic.yml)\n  --set existingSecret=NAME      (a Secret with that key)\nor, for a sweep, --set-file study.plan=plan.yml. See the README of the chart.\n" -}}
{{- else if gt $sources 1 -}}
{{- fail "\n\nconfig, configFile, existingConfigMap and existingSecret exclude each other: set only one of them.\n" -}}
{{- else -}}
{{- if and (gt (int .Values.shards) 1) (ne (int .Values.replicaCount) 1) -}}
{{- fail (printf "\n\nWith %d shards each shard is one pod: set replicaCount to 1. A pair of each is two releases.\n" (int .Values.shards)) -}}
{{- end -}}
{{- if and .Values.rbac.create (eq (include "synthetic.serviceAccountName" .) "default") -}}
{{- fail "\n\nrbac would grant its rights to the namespace's default account, and so to every pod that uses it: set serviceAccount.create, or serviceAccount.name to another account.\n" -}}
{{- end -}}
{{- include "synthetic.validateConfig" . -}}
{{- include "synthetic.validateState" . -}}
{{- include "synthetic.validateWeb" . -}}
{{- end -}}
{{- end -}}

{{/* Checks of the configuration, if the chart can see it. */}}
{{- define "synthetic.validateConfig" -}}
{{- if include "synthetic.foreign" . -}}
{{- if .Values.files -}}
{{- fail "\n\nfiles are stored in the chart's own ConfigMap, but existingConfigMap or existingSecret replaces it: put the files there.\n" -}}
{{- end -}}
{{- else -}}
{{- $config := include "synthetic.configText" . | fromYaml -}}
{{- if hasKey $config "Error" -}}
{{- fail (printf "\n\nconfigFile is not YAML: %s\n" $config.Error) -}}
{{- end -}}
{{- if not (or $config.targets $config.discovery) -}}
{{- fail "\n\nThe configuration has no targets: name at least one deployment, or discovery. \"synthetic check\" shows details.\n" -}}
{{- end -}}
{{- if and (contains "/etc/synthetic/keys/" (include "synthetic.configText" .)) (not .Values.keys.existingSecret) -}}
{{- fail "\n\nThe configuration reads a key under /etc/synthetic/keys, but no Secret is mounted there: set keys.existingSecret to the name of a Secret with that key.\n" -}}
{{- end -}}
{{- if not (or .Values.rbac.create .Values.serviceAccount.automount) -}}
{{- range $config.discovery -}}
{{- if .kubernetes_sd_configs -}}
{{- fail (printf "\n\nThe group %q watches objects of the cluster, but the pods have no token for that: set rbac.create, or serviceAccount.automount if the account already has a role.\n" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if hasKey (default dict .Values.files) "synthetic.yml" -}}
{{- fail "\n\nfiles cannot hold synthetic.yml: use config or configFile.\n" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks that state which must survive a restart has its own disk. */}}
{{- define "synthetic.validateState" -}}
{{- $state := .Values.state -}}
{{- if and $state.existingClaim (not $state.enabled) -}}
{{- fail "\n\nstate.existingClaim is only mounted with state.enabled: set it to true.\n" -}}
{{- end -}}
{{- if $state.existingClaim -}}
{{- if gt (int (include "synthetic.pods" .)) 1 -}}
{{- fail "\n\nstate.existingClaim holds the state of one pod: set replicaCount and shards to 1, or remove existingClaim.\n" -}}
{{- end -}}
{{- if ne (dig "type" "" (default dict .Values.strategy)) "Recreate" -}}
{{- fail "\n\nOnly one pod at a time can use state.existingClaim, so in a rolling update the new pod would wait for the old one's disk: set\n  --set strategy.type=Recreate --set strategy.rollingUpdate=null\n" -}}
{{- end -}}
{{- end -}}
{{- if not (or (include "synthetic.foreign" .) $state.enabled .Values.extraVolumeMounts) -}}
{{- $alerting := (include "synthetic.configText" . | fromYaml).alerting -}}
{{- if and (not (kindIs "invalid" $alerting)) (dig "readOnlyRootFilesystem" false (default dict .Values.securityContext)) -}}
{{- fail "\n\nThe embedded pager (alerting) needs a disk, but the root file system is read-only: set state.enabled, and in the configuration\n  alerting: {directory: /var/lib/synthetic/pager}\n" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks of monitors, Ingress and HTTPRoute. */}}
{{- define "synthetic.validateWeb" -}}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled -}}
{{- fail "\n\nserviceMonitor and podMonitor would scrape each pod twice: enable one of them.\n" -}}
{{- end -}}
{{- if not .Values.service.enabled -}}
{{- if .Values.serviceMonitor.enabled -}}
{{- fail "\n\nserviceMonitor needs the Service: set service.enabled, or use podMonitor.\n" -}}
{{- end -}}
{{- if or .Values.ingress.enabled .Values.httpRoute.enabled -}}
{{- fail "\n\ningress and httpRoute lead to the Service, which is switched off: set service.enabled.\n" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "\n\nhttpRoute.parentRefs names no Gateway, so no traffic would reach the route:\n  --set 'httpRoute.parentRefs[0].name=GATEWAY'\n" -}}
{{- end -}}
{{- end -}}

{{/* Checks of a study. */}}
{{- define "synthetic.validateStudy" -}}
{{- $root := index . 0 -}}
{{- $study := $root.Values.study -}}
{{- if gt (index . 1) 0 -}}
{{- fail "\n\nstudy.plan is for a sweep; config, configFile, existingConfigMap and existingSecret are for a prober: install them as two releases.\n" -}}
{{- end -}}
{{- if $root.Values.extraContainers -}}
{{- fail "\n\nA Job ends only when all of its containers end, which those of extraContainers may never do: put them into extraInitContainers with restartPolicy: Always.\n" -}}
{{- end -}}
{{- if hasKey (default dict $root.Values.files) "plan.yml" -}}
{{- fail "\n\nfiles cannot hold plan.yml: use study.plan.\n" -}}
{{- end -}}
{{- if and (contains "/etc/synthetic/keys/" $study.plan) (not $root.Values.keys.existingSecret) -}}
{{- fail "\n\nThe plan reads a key under /etc/synthetic/keys, but no Secret is mounted there: set keys.existingSecret to the name of a Secret with that key.\n" -}}
{{- end -}}
{{- end -}}
