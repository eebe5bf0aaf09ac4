{{/* Egress rules for every http address in the configuration or the plan. NAME.NAMESPACE.svc allows its namespace on any port, because a policy sees the pod's port, not the Service's. An IP address allows itself. Any other name allows its port on any host, because a policy cannot contain names. */}}
{{- define "synthetic.namedEgress" -}}
{{- if and .Values.networkPolicy.egress.fromConfig (not (include "synthetic.foreign" .)) -}}
{{- $text := ternary .Values.study.plan (include "synthetic.configText" .) (eq (include "synthetic.kind" .) "Job") -}}
{{- $rules := list -}}
{{- range regexFindAll "https?://[^][/\\s\"'@,{}]+|https?://\\[[0-9a-fA-F:]+\\](:[0-9]+)?" (fromYaml $text | toYaml) -1 | uniq -}}
{{- $rules = append $rules (include "synthetic.egressTo" (list . $.Release.Namespace)) -}}
{{- end -}}
{{- $rules | uniq | join "\n" -}}
{{- end -}}
{{- end -}}

{{- define "synthetic.egressTo" -}}
{{- $url := urlParse (index . 0) -}}
{{- $host := regexReplaceAll ":[0-9]+$" $url.host "" | trimAll "[]" -}}
{{- $port := default (ternary "443" "80" (eq $url.scheme "https")) (regexFind ":[0-9]+$" $url.host | trimPrefix ":") -}}
{{- if regexMatch "^[0-9.]+$|:" $host -}}
- to:
    - ipBlock:
        cidr: {{ $host }}/{{ ternary 128 32 (contains ":" $host) }}
  ports:
    - port: {{ $port }}
      protocol: TCP
{{- else if not (contains "." $host) -}}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ index . 1 | quote }}
{{- else if regexMatch "^[^.]+(\\.[^.]+)?\\.[^.]+\\.svc(\\.|$)" $host -}}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ regexReplaceAll "^.*\\.([^.]+)\\.svc(\\..*)?$" $host "${1}" | quote }}
{{- else -}}
- ports:
    - port: {{ $port }}
      protocol: TCP
{{- end -}}
{{- end -}}
