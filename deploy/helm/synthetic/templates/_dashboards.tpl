{{/* The dashboards as {name.json: text}: those of the values, or of the chart. */}}
{{- define "synthetic.dashboards" -}}
{{- $files := .Values.dashboards.files -}}
{{- if not $files -}}
{{- range $path, $bytes := .Files.Glob "dashboards/*.json" -}}
{{- $files = set (default dict $files) (base $path) (toString $bytes) -}}
{{- end -}}
{{- end -}}
{{- $files | toJson -}}
{{- end -}}

{{- define "synthetic.dashboardName" -}}
{{- printf "%s-%s" (include "synthetic.fullname" (index . 0)) (index . 1 | trimSuffix ".json") | trunc 63 | trimSuffix "-" -}}
{{- end -}}
