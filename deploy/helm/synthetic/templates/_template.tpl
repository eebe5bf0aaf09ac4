{{/* The user's environment variables, and those that give a shard its number. */}}
{{- define "synthetic.env" -}}
{{- with .Values.env }}
{{- toYaml . }}
{{ end }}
{{- if and (eq (include "synthetic.kind" .) "StatefulSet") (gt (int .Values.shards) 1) -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end -}}
{{- end -}}

{{/* The port of a pod for scraping. */}}
{{- define "synthetic.ports" -}}
{{- if include "synthetic.scraped" . -}}
- name: http
  containerPort: {{ .Values.port }}
  protocol: TCP
{{- end -}}
{{- end -}}

{{/* The pod template of the Deployment, StatefulSet or Job. */}}
{{- define "synthetic.podTemplate" -}}
{{- $job := eq (include "synthetic.kind" .) "Job" -}}
metadata:
  labels:
    {{- include "synthetic.selectorLabels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- $checked := dict }}
    {{- if not (or $job (not .Values.rollOnConfigChange) (include "synthetic.foreign" .)) }}
    {{- $checked = dict "checksum/config" (include "synthetic.configData" . | sha256sum) }}
    {{- end }}
    {{- merge $checked (default dict .Values.podAnnotations) (dict "kubectl.kubernetes.io/default-container" "synthetic") | toYaml | nindent 4 }}
spec:
  serviceAccountName: {{ include "synthetic.serviceAccountName" . | quote }}
  automountServiceAccountToken: {{ or .Values.serviceAccount.automount (include "synthetic.watches" . | not | not) }}
  enableServiceLinks: false
  {{- if $job }}
  restartPolicy: Never
  {{- end }}
  # Time for turns in flight, a last scrape, and the end of the process.
  terminationGracePeriodSeconds: {{ add .Values.shutdownTimeoutSeconds 5 }}
  securityContext:
    {{- include "synthetic.podSecurityContext" . | nindent 4 }}
  {{- with include "synthetic.pullSecrets" . }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .Values.extraInitContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: synthetic
      image: {{ include "synthetic.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        {{- include "synthetic.args" . | nindent 8 }}
      {{- with include "synthetic.env" . }}
      env:
        {{- . | nindent 8 }}
      {{- end }}
      {{- with .Values.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with include "synthetic.ports" . }}
      ports:
        {{- . | nindent 8 }}
      {{- end }}
      {{- if not $job }}
      {{- with .Values.livenessProbe }}
      livenessProbe:
        {{- include "synthetic.probe" (list $ "/-/healthy" .) | nindent 8 }}
      {{- end }}
      {{- with .Values.readinessProbe }}
      readinessProbe:
        {{- include "synthetic.probe" (list $ "/-/ready" .) | nindent 8 }}
      {{- end }}
      {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      volumeMounts:
        {{- include "synthetic.volumeMounts" . | nindent 8 }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "synthetic.volumes" . | nindent 4 }}
  {{- include "synthetic.scheduling" . | trim | nindent 2 }}
{{- end -}}
