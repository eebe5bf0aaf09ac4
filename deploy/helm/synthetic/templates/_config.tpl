{{/* The text of synthetic.yml. */}}
{{- define "synthetic.configText" -}}
{{- if .Values.configFile -}}
{{ .Values.configFile }}
{{- else -}}
{{ toYaml .Values.config }}
{{- end -}}
{{- end -}}

{{/* The data of the ConfigMap; the pods' checksum is taken of it alone, so that a new chart version does not restart them for nothing. */}}
{{- define "synthetic.configData" -}}
synthetic.yml: |2
  {{- include "synthetic.configText" . | nindent 2 }}
{{- range $name, $text := .Values.files }}
{{ $name | toJson }}: {{ $text | toJson }}
{{- end }}
{{- end -}}

{{/* What no schema can say, because it concerns several values. */}}
{{- define "synthetic.validate" -}}
{{- $sources := 0 -}}
{{- range list .Values.config .Values.configFile .Values.existingConfigMap -}}
{{- if . -}}{{- $sources = add1 $sources -}}{{- end -}}
{{- end -}}
{{- if eq $sources 0 -}}
{{- fail "\n\nThere is nothing to probe: name at least one deployment. Set one of\n  --set 'config.targets[0].base_url=http://vllm.default.svc:8000/v1'\n  --set-file configFile=synthetic.yml\n  --set existingConfigMap=NAME   (a ConfigMap with the key synthetic.yml)\nSee the README of the chart.\n" -}}
{{- end -}}
{{- if gt $sources 1 -}}
{{- fail "\n\nconfig, configFile and existingConfigMap exclude each other: set one of them.\n" -}}
{{- end -}}
{{- if not .Values.existingConfigMap -}}
{{- $config := include "synthetic.configText" . | fromYaml -}}
{{- if hasKey $config "Error" -}}
{{- fail (printf "\n\nconfigFile is not YAML: %s\n" $config.Error) -}}
{{- end -}}
{{- if not $config.targets -}}
{{- fail "\n\nconfigFile has no targets: name at least one deployment. \"synthetic check config\" tells more.\n" -}}
{{- end -}}
{{- if and (contains "/etc/synthetic/keys/" (include "synthetic.configText" .)) (not .Values.keys.existingSecret) -}}
{{- fail "\n\nThe configuration reads a key under /etc/synthetic/keys, where nothing is mounted: set keys.existingSecret to the name of a Secret with that key.\n" -}}
{{- end -}}
{{- else if .Values.files -}}
{{- fail "\n\nfiles go into the chart's own ConfigMap, and existingConfigMap replaces it: put the files there.\n" -}}
{{- end -}}
{{- include "synthetic.validateState" . -}}
{{- if hasKey (default dict .Values.files) "synthetic.yml" -}}
{{- fail "\n\nfiles cannot hold synthetic.yml: that is config or configFile.\n" -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled -}}
{{- fail "\n\nserviceMonitor and podMonitor would scrape each pod twice: enable one of them.\n" -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.service.enabled) -}}
{{- fail "\n\nserviceMonitor needs the Service: set service.enabled, or use podMonitor.\n" -}}
{{- end -}}
{{- end -}}

{{/* Whether what should outlive a restart has a disk, of its own. */}}
{{- define "synthetic.validateState" -}}
{{- $state := .Values.state -}}
{{- if and $state.existingClaim (not $state.enabled) -}}
{{- fail "\n\nstate.existingClaim is not mounted without state.enabled: set it to true.\n" -}}
{{- end -}}
{{- if $state.existingClaim -}}
{{- if gt (int .Values.replicaCount) 1 -}}
{{- fail "\n\nstate.existingClaim serves one pod, whose state it holds: set replicaCount to 1, or leave existingClaim out.\n" -}}
{{- end -}}
{{- if ne (default "" .Values.strategy.type) "Recreate" -}}
{{- fail "\n\nstate.existingClaim serves one pod at a time, and a new pod would wait for the old one's disk: set\n  --set strategy.type=Recreate --set strategy.rollingUpdate=null\n" -}}
{{- end -}}
{{- end -}}
{{- if not (or .Values.existingConfigMap $state.enabled .Values.extraVolumeMounts) -}}
{{- $alerting := (include "synthetic.configText" . | fromYaml).alerting -}}
{{- if and (not (kindIs "invalid" $alerting)) (dig "readOnlyRootFilesystem" false .Values.securityContext) -}}
{{- fail "\n\nThe pager of alerting needs a disk, and the root file system is read-only: set state.enabled, and in the configuration\n  alerting: {directory: /var/lib/synthetic/pager}\n" -}}
{{- end -}}
{{- end -}}
{{- end -}}
