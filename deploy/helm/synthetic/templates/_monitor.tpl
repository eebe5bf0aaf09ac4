{{/* A ServiceMonitor or PodMonitor; takes the root, the kind, the monitor's values and the name of its list of endpoints. */}}
{{- define "synthetic.monitor" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 2 -}}
apiVersion: monitoring.coreos.com/v1
kind: {{ index . 1 }}
metadata:
  {{- include "synthetic.metadata" (dict "root" $root "namespace" $monitor.namespace "labels" $monitor.labels) | nindent 2 }}
spec:
  selector:
    matchLabels:
      {{- include "synthetic.selectorLabels" $root | nindent 6 }}
  {{ index . 3 }}:
    {{- include "synthetic.endpoint" (list $root $monitor) | nindent 4 }}
  {{- with $monitor.spec }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if and $monitor.namespace (not (dig "namespaceSelector" "" (default dict $monitor.spec))) }}
  namespaceSelector:
    matchNames: [{{ $root.Release.Namespace | quote }}]
  {{- end }}
{{- end -}}

{{- define "synthetic.endpoint" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 1 -}}
- port: http
  path: {{ $root.Values.routePrefix }}/metrics
  scheme: {{ $root.Values.webConfig.scheme }}
  interval: {{ $monitor.interval }}
  scrapeTimeout: {{ $monitor.scrapeTimeout }}
  honorLabels: {{ $monitor.honorLabels }}
  relabelings:
    # The operator's "service" is the name of the scraped Service, not the target's service.
    - action: labeldrop
      regex: service
    {{- with $monitor.relabelings }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- range $key := list "tlsConfig" "basicAuth" "metricRelabelings" }}
  {{- with index $monitor $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end -}}
