{{- define "synthetic.jobSpec" -}}
{{- with .Values.study -}}
{{- if gt (int .shards) 1 -}}
completionMode: Indexed
completions: {{ .shards }}
parallelism: {{ .shards }}
{{ end -}}
backoffLimit: {{ .backoffLimit }}
podFailurePolicy:
  rules:
    # A refused plan would fail again.
    - action: FailJob
      onExitCodes:
        containerName: synthetic
        operator: In
        values: [2]
    # A drained node is not a failure of its pod, which continues elsewhere.
    - action: Ignore
      onPodConditions:
        - type: DisruptionTarget
          status: "True"
{{- with .ttlSecondsAfterFinished }}
ttlSecondsAfterFinished: {{ . }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* True if the pods serve /metrics, which a sweep does not. */}}
{{- define "synthetic.scraped" -}}
{{- if ne (include "synthetic.kind" .) "Job" -}}true{{- end -}}
{{- end -}}

{{/* --resume is always set, because the pod that replaces a lost one has the same arguments. */}}
{{- define "synthetic.sweepArgs" -}}
- sweep
- --plan.file=/etc/synthetic/plan.yml
{{- with .Values.study }}
{{- if gt (int .shards) 1 }}
- --output.dir=/results/{{ $.Release.Name }}/shard-$(JOB_COMPLETION_INDEX)
- --shard=$(JOB_COMPLETION_INDEX)/{{ .shards }}
- --start-at={{ required "study.startAt is missing: with study.shards, all pods begin at this time, for example 2026-03-01T12:00:00Z" .startAt }}
{{- else }}
- --output.dir=/results/{{ $.Release.Name }}
{{- end }}
{{- end }}
- --resume
- --log.level={{ .Values.log.level }}
- --log.format={{ .Values.log.format }}
{{- end -}}

{{/* The volume of a study's results. */}}
{{- define "synthetic.resultsVolume" -}}
{{- with .Values.study.results -}}
name: results
{{- if .volume }}
{{ toYaml .volume }}
{{- else }}
persistentVolumeClaim:
  claimName: {{ default (printf "%s-results" (include "synthetic.fullname" $)) .existingClaim | quote }}
{{- end }}
{{- end -}}
{{- end -}}
