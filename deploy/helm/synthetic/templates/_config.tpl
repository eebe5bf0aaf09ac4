{{/* The text of synthetic.yml. */}}
{{- define "synthetic.configText" -}}
{{- if .Values.configFile -}}
{{ .Values.configFile }}
{{- else -}}
{{ toYaml .Values.config }}
{{- end -}}
{{- end -}}

{{/* The data of the ConfigMap. The pods' checksum covers only this, so that a new chart version alone does not restart them. */}}
{{- define "synthetic.configData" -}}
{{- if eq (include "synthetic.kind" .) "Job" -}}
plan.yml: |2
  {{- .Values.study.plan | nindent 2 }}
{{- else -}}
synthetic.yml: |2
  {{- include "synthetic.configText" . | nindent 2 }}
{{- end }}
{{- range $name, $text := .Values.files }}
{{ $name | toJson }}: {{ $text | toJson }}
{{- end }}
{{- end -}}
