{{/* A sweep as an Indexed Job: pod 0 runs it, the others are its workers. Pods are named JOB-INDEX, and the headless Service gives them addresses. */}}
{{- define "synthetic.jobSpec" -}}
{{- with .Values.study -}}
completionMode: Indexed
completions: {{ .shards }}
parallelism: {{ .shards }}
backoffLimitPerIndex: {{ .backoffLimitPerIndex }}
# Workers run until they are stopped: the Job succeeds with pod 0, and fails with any pod.
maxFailedIndexes: 0
{{- if include "synthetic.sharded" $ }}
successPolicy:
  rules:
    - succeededIndexes: "0"
{{- end }}
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

{{- define "synthetic.sharded" -}}
{{- if and (eq (include "synthetic.kind" .) "Job") (gt (int .Values.study.shards) 1) -}}true{{- end -}}
{{- end -}}

{{/* True if the pods serve /metrics: those of a sweep only with a PodMonitor. */}}
{{- define "synthetic.scraped" -}}
{{- if or .Values.podMonitor.enabled (ne (include "synthetic.kind" .) "Job") -}}true{{- end -}}
{{- end -}}

{{/* --resume is always set, because the pod that replaces a lost one has the same arguments. All pods have the same: those with an index above 0 are workers. */}}
{{- define "synthetic.sweepArgs" -}}
- sweep
- --plan.file=/etc/synthetic/plan.yml
- --output.dir=/results/{{ .Release.Name }}
- --resume
- --log.level={{ .Values.log.level }}
- --log.format={{ .Values.log.format }}
{{- if include "synthetic.scraped" . }}
- --web.listen-address=:{{ .Values.port }}
{{- if .Values.webConfig.existingSecret }}
- --web.config.file=/etc/synthetic-web/web-config.yml
{{- end }}
{{- end }}
{{- if include "synthetic.sharded" . }}
{{- $name := include "synthetic.fullname" . }}
- --workers={{ range $i := untilStep 1 (int .Values.study.shards) 1 }}{{ if gt $i 1 }},{{ end }}{{ $name }}-{{ $i }}.{{ $name }}:{{ $.Values.study.workers.port }}{{ end }}
- --worker.listen=:{{ .Values.study.workers.port }}
- --workers.token-file=/etc/synthetic-workers/token
{{- if .Values.study.workers.tls }}
- --workers.tls-dir=/etc/synthetic-workers
{{- end }}
{{- end }}
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
