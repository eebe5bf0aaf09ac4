{{/* The endpoint of a ServiceMonitor or PodMonitor; takes the root and the monitor's values. */}}
{{- define "synthetic.endpoint" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 1 -}}
- port: http
  path: /metrics
  scheme: {{ $root.Values.webConfig.scheme }}
  interval: {{ $monitor.interval }}
  scrapeTimeout: {{ $monitor.scrapeTimeout }}
  {{- range $key := list "tlsConfig" "basicAuth" "relabelings" "metricRelabelings" }}
  {{- with index $monitor $key }}
  {{ $key }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end -}}
