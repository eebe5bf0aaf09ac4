{{- define "synthetic.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Names of resources: short enough that the longest suffix still fits into 63 characters. */}}
{{- define "synthetic.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that all resources share. */}}
{{- define "synthetic.commonLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels that the Service, the monitors and the policies find the pods by. They never change: selectors are immutable. */}}
{{- define "synthetic.selectorLabels" -}}
app.kubernetes.io/name: {{ include "synthetic.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: prober
{{- end -}}

{{- define "synthetic.labels" -}}
{{ include "synthetic.selectorLabels" . }}
{{ include "synthetic.commonLabels" . }}
{{- end -}}

{{/* The test pod is no prober: no selector may find it. */}}
{{- define "synthetic.testLabels" -}}
app.kubernetes.io/name: {{ include "synthetic.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: test
{{- end -}}

{{- define "synthetic.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "synthetic.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* image takes an image of the values and the tag that stands in for an absent one. */}}
{{- define "synthetic.image" -}}
{{- $image := index . 0 -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default (index . 1) $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "synthetic.configMapName" -}}
{{- default (include "synthetic.fullname" .) .Values.existingConfigMap -}}
{{- end -}}
