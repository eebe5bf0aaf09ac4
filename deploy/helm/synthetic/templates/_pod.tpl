{{/* One probe of the kubelet: its timing from the values, its kind from webConfig. */}}
{{- define "synthetic.probe" -}}
{{- $root := index . 0 -}}
{{- if eq $root.Values.webConfig.probe "tcp" -}}
tcpSocket:
  port: http
{{- else -}}
httpGet:
  path: {{ index . 1 }}
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

{{/* What keeps the pods: each with a volume of its own, or none with one. */}}
{{- define "synthetic.kind" -}}
{{- if and .Values.state.enabled .Values.state.claim.enabled (not .Values.state.existingClaim) -}}
StatefulSet
{{- else -}}
Deployment
{{- end -}}
{{- end -}}

{{/* The volumes that a StatefulSet claims. */}}
{{- define "synthetic.claims" -}}
- metadata:
    name: state
    labels:
      {{- include "synthetic.selectorLabels" . | nindent 6 }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .Values.state.claim.storageClassName }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests:
        storage: {{ .Values.state.claim.size }}
{{- end -}}

{{- define "synthetic.args" -}}
- run
- --config.file=/etc/synthetic/synthetic.yml
- --web.listen-address=:{{ .Values.port }}
- --shutdown.timeout={{ .Values.shutdownTimeoutSeconds }}s
- --log.level={{ .Values.log.level }}
- --log.format={{ .Values.log.format }}
{{- if .Values.webConfig.existingSecret }}
- --web.config.file=/etc/synthetic-web/web-config.yml
{{- end }}
{{- if .Values.state.enabled }}
- --state.file=/var/lib/synthetic/baselines.json
{{- end }}
{{- if .Values.enableLifecycle }}
- --web.enable-lifecycle
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
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
{{- if .Values.state.enabled }}
- name: state
  mountPath: /var/lib/synthetic
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "synthetic.volumes" -}}
- name: config
  configMap:
    name: {{ include "synthetic.configMapName" . }}
{{- with .Values.keys.existingSecret }}
- name: keys
  secret:
    secretName: {{ . }}
    # Read by the pod's fsGroup.
    defaultMode: 0440
{{- end }}
{{- with .Values.webConfig.existingSecret }}
- name: web-config
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- if and .Values.state.enabled (ne (include "synthetic.kind" .) "StatefulSet") }}
- name: state
  {{- if .Values.state.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.state.existingClaim }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ .Values.state.sizeLimit }}
  {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Where the pods go; each value as Kubernetes has it. */}}
{{- define "synthetic.scheduling" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with index $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}
