{{/* Of an Ingress or an HTTPRoute; takes the root and its values. */}}
{{- define "synthetic.routeMetadata" -}}
{{- $root := index . 0 -}}
{{- $route := index . 1 -}}
name: {{ include "synthetic.fullname" $root }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "synthetic.labels" $root | nindent 2 }}
{{- with $route.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
