{{/* Turns a text into a valid resource name: lower case, digits and dashes, starting with a letter. A long name ends in a digest, so that different texts give different names. */}}
{{- define "synthetic.toName" -}}
{{- $name := regexReplaceAll "[^a-z0-9]+" (lower .) "-" | trimAll "-" -}}
{{- if not (regexMatch "^[a-z]" $name) -}}
{{- $name = printf "synthetic-%s" $name | trimSuffix "-" -}}
{{- end -}}
{{- if gt (len $name) 40 -}}
{{- $name = printf "%s-%s" (trunc 31 $name | trimSuffix "-") (sha256sum . | trunc 8) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "synthetic.name" -}}
{{- include "synthetic.toName" (default .Chart.Name .Values.nameOverride) -}}
{{- end -}}

{{/* Names of resources: short enough that the longest suffix still fits into 63 characters. */}}
{{- define "synthetic.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- include "synthetic.toName" .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- include "synthetic.toName" .Release.Name -}}
{{- else -}}
{{- include "synthetic.toName" (printf "%s-%s" .Release.Name $name) -}}
{{- end -}}
{{- end -}}

{{/* Labels of all resources. */}}
{{- define "synthetic.commonLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels by which the Service, monitors and policies select the pods. They must never change, because selectors are immutable. */}}
{{- define "synthetic.selectorLabels" -}}
app.kubernetes.io/name: {{ include "synthetic.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: {{ ternary "study" "prober" (eq (include "synthetic.kind" .) "Job") }}
{{- end -}}

{{- define "synthetic.labels" -}}
{{ include "synthetic.selectorLabels" . }}
{{ include "synthetic.commonLabels" . }}
{{- end -}}

{{/* A resource's metadata: takes root, labels and annotations, and optionally name, namespace and standard. Names are quoted, so that digits stay a string. */}}
{{- define "synthetic.metadata" -}}
name: {{ default (include "synthetic.fullname" .root) .name | quote }}
namespace: {{ default .root.Release.Namespace .namespace | quote }}
labels:
  {{- default (include "synthetic.labels" .root) .standard | nindent 2 }}
{{- with .labels }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Labels of the test pod, which no selector of the prober may match. */}}
{{- define "synthetic.testLabels" -}}
app.kubernetes.io/name: {{ include "synthetic.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: test
{{- end -}}

{{- define "synthetic.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "synthetic.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* True if the pods may watch objects of the cluster; never for a study. */}}
{{- define "synthetic.watches" -}}
{{- if and .Values.rbac.create (ne (include "synthetic.kind" .) "Job") -}}true{{- end -}}
{{- end -}}

{{/* Takes an image of the values and its default tag. */}}
{{- define "synthetic.image" -}}
{{- $image := index . 0 -}}
{{- if not $image.repository -}}
{{- fail "\n\nNo image is published: build one, push it to a registry that your cluster can pull from, and name it.\n  make image IMAGE=registry.example.com/team/synthetic VERSION=0.1.0\n  docker push registry.example.com/team/synthetic:0.1.0\n  --set image.repository=registry.example.com/team/synthetic\n" -}}
{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default (index . 1) $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* True if the configuration is in an existing ConfigMap or Secret, whose changes the chart cannot see. */}}
{{- define "synthetic.foreign" -}}
{{- or .Values.existingConfigMap .Values.existingSecret | default "" -}}
{{- end -}}
