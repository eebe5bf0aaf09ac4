{{/* A probe of the kubelet, with the timing of its values and the kind of webConfig. */}}
{{- define "synthetic.probe" -}}
{{- $root := index . 0 -}}
{{- if eq $root.Values.webConfig.probe "tcp" -}}
tcpSocket:
  port: http
{{- else -}}
httpGet:
  path: {{ $root.Values.routePrefix }}{{ index . 1 }}
  port: http
  {{- if eq $root.Values.webConfig.scheme "https" }}
  scheme: HTTPS
  {{- end }}
  {{- with $root.Values.webConfig.probeHeaders }}
  httpHeaders:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{ toYaml (index . 2) }}
{{- end -}}

{{/* True if each pod of a prober claims its own volume. */}}
{{- define "synthetic.claiming" -}}
{{- if and .Values.state.enabled .Values.state.claim.enabled (not .Values.state.existingClaim) -}}true{{- end -}}
{{- end -}}

{{/* The number of pods of a prober. */}}
{{- define "synthetic.pods" -}}
{{- ternary .Values.shards .Values.replicaCount (gt (int .Values.shards) 1) -}}
{{- end -}}

{{/* The kind of workload: Job for a study; StatefulSet if each pod has its own volume or shard; otherwise Deployment. */}}
{{- define "synthetic.kind" -}}
{{- if .Values.study.plan -}}
Job
{{- else if or (include "synthetic.claiming" .) (gt (int .Values.shards) 1) -}}
StatefulSet
{{- else -}}
Deployment
{{- end -}}
{{- end -}}

{{/* The volume claims of a StatefulSet. */}}
{{- define "synthetic.claims" -}}
- metadata:
    name: state
    labels:
      {{- include "synthetic.selectorLabels" . | nindent 6 }}
    {{- with .Values.state.claim.annotations }}
    annotations:
      {{- toYaml . | nindent 6 }}
    {{- end }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .Values.state.claim.storageClassName }}
    storageClassName: {{ . | quote }}
    {{- end }}
    resources:
      requests:
        storage: {{ .Values.state.claim.size }}
{{- end -}}

{{- define "synthetic.args" -}}
{{- if eq (include "synthetic.kind" .) "Job" -}}
{{- include "synthetic.sweepArgs" . -}}
{{- else -}}
{{- include "synthetic.runArgs" . -}}
{{- end -}}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "synthetic.runArgs" -}}
- run
- --config.file=/etc/synthetic/synthetic.yml
- --web.listen-address=:{{ .Values.port }}
- --shutdown.timeout={{ .Values.shutdownTimeoutSeconds }}s
- --log.level={{ .Values.log.level }}
- --log.format={{ .Values.log.format }}
{{- if gt (int .Values.shards) 1 }}
- --shard=$(POD_NAME)/{{ .Values.shards }}
{{- end }}
{{- if .Values.webConfig.existingSecret }}
- --web.config.file=/etc/synthetic-web/web-config.yml
{{- end }}
{{- if .Values.state.enabled }}
- --state.file=/var/lib/synthetic/baselines.json
{{- end }}
{{- with .Values.routePrefix }}
- --web.route-prefix={{ . }}
{{- end }}
{{- if .Values.enableLifecycle }}
- --web.enable-lifecycle
{{- end }}
{{- if or (include "synthetic.foreign" .) (not .Values.rollOnConfigChange) }}
- --config.auto-reload-interval={{ .Values.autoReloadInterval }}
{{- end }}
{{- end -}}

{{- define "synthetic.volumeMounts" -}}
- name: config
  mountPath: /etc/synthetic
  readOnly: true
{{- if .Values.keys.existingSecret }}
- name: keys
  mountPath: /etc/synthetic/keys
  readOnly: true
{{- end }}
{{- if .Values.webConfig.existingSecret }}
- name: web-config
  mountPath: /etc/synthetic-web
  readOnly: true
{{- end }}
{{- if eq (include "synthetic.kind" .) "Job" }}
- name: results
  mountPath: /results
{{- else if .Values.state.enabled }}
- name: state
  mountPath: /var/lib/synthetic
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "synthetic.volumes" -}}
- name: config
  {{- if .Values.existingSecret }}
  secret:
    secretName: {{ .Values.existingSecret | quote }}
    defaultMode: 0440
  {{- else }}
  configMap:
    name: {{ default (include "synthetic.fullname" .) .Values.existingConfigMap | quote }}
  {{- end }}
{{- with .Values.keys.existingSecret }}
- name: keys
  secret:
    secretName: {{ . | quote }}
    # Readable by the pod's fsGroup.
    defaultMode: 0440
{{- end }}
{{- with .Values.webConfig.existingSecret }}
- name: web-config
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
{{- end }}
{{- if eq (include "synthetic.kind" .) "Job" }}
- {{ include "synthetic.resultsVolume" . | nindent 2 | trim }}
{{- else if and .Values.state.enabled (not (include "synthetic.claiming" .)) }}
- name: state
  {{- if .Values.state.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.state.existingClaim | quote }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ .Values.state.sizeLimit }}
  {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The pod's security context. OpenShift chooses users itself and refuses others. */}}
{{- define "synthetic.podSecurityContext" -}}
{{- if .Values.openshift -}}
{{ omit (default dict .Values.podSecurityContext) "runAsUser" "runAsGroup" "fsGroup" | toYaml }}
{{- else -}}
{{ toYaml .Values.podSecurityContext }}
{{- end -}}
{{- end -}}

{{/* By default several pods are spread over the nodes. */}}
{{- define "synthetic.spread" -}}
{{- if .Values.topologySpreadConstraints -}}
{{ toYaml .Values.topologySpreadConstraints }}
{{- else if gt (int (include "synthetic.pods" .)) 1 -}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "synthetic.selectorLabels" . | nindent 6 }}
{{- end -}}
{{- end -}}

{{/* Scheduling and network settings of the pods, as in Kubernetes. */}}
{{- define "synthetic.scheduling" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "hostAliases" "dnsConfig" }}
{{- with index $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "synthetic.spread" . }}
topologySpreadConstraints:
  {{- . | nindent 2 }}
{{- end }}
{{- range $key := list "dnsPolicy" "priorityClassName" }}
{{- with index $.Values $key }}
{{ $key }}: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}
