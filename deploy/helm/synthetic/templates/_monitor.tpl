{{/* The endpoint of a ServiceMonitor or PodMonitor; takes the root and the monitor's values. */}}
{{- define "synthetic.endpoint" -}}
{{- $root := index . 0 -}}
{{- $monitor := index . 1 -}}
- port: http
  path: /metrics
  scheme: {{ $root.Values.webConfig.scheme }}
  interval: {{ $monitor.interval }}
  scrapeTimeout: {{ $monitor.scrapeTimeout }}
  # The labels of a target are its own; the operator's "service" is the name of the scraped Service.
  honorLabels: true
  relabelings:
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
