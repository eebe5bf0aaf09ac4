{{/* The rule groups as {"groups": …}: those of the values, or of the generated file in either of its two forms. */}}
{{- define "synthetic.ruleGroups" -}}
{{- $groups := .Values.prometheusRule.groups -}}
{{- with .Values.prometheusRule.rulesFile -}}
{{- $file := fromYaml . -}}
{{- if hasKey $file "Error" -}}
{{- fail (printf "\n\nprometheusRule.rulesFile is not YAML: %s\n" $file.Error) -}}
{{- end -}}
{{- include "synthetic.checkRules" (list $ .) -}}
{{- $groups = concat $groups (default (dig "spec" "groups" list $file) $file.groups) -}}
{{- end -}}
{{- if not $groups -}}
{{- fail (printf "\n\nprometheusRule has no groups and no rulesFile. Generate them from your configuration, because they depend on its SLOs, rates and targets:\n  synthetic generate rules --config.file=synthetic.yml --output.dir=alerts\n  helm … --set-file configFile=synthetic.yml --set-file prometheusRule.rulesFile=alerts/synthetic-rules.yml\n") -}}
{{- end -}}
{{ toYaml (dict "groups" $groups) }}
{{- end -}}

{{/* A generated file that does not name an SLO of the configuration comes from another one, and would not watch that SLO. */}}
{{- define "synthetic.checkRules" -}}
{{- $root := index . 0 -}}
{{- $text := index . 1 -}}
{{- if not $root.Values.existingConfigMap -}}
{{- range (include "synthetic.configText" $root | fromYaml).slos -}}
{{- $name := default .sli .name -}}
{{- if not (contains (printf "slo=%q" $name) $text) -}}
{{- fail (printf "\n\nprometheusRule.rulesFile does not know the SLO %q of the configuration, so it was generated from another configuration. Run \"synthetic generate rules\" on this configuration.\n" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
