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

{{/* Labels by which the Service, monitors and policies select the pods. They must never change, because selectors are immutable. */}}
{{- define "synthetic.selectorLabels" -}}
app.kubernetes.io/name: {{ include "synthetic.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: {{ ternary "study" "prober" (eq (include "synthetic.kind" .) "Job") }}
{{- end -}}

{{/* Labels of a resource, each once. Takes root and, optionally, the resource's labels and those that others select. */}}
{{- define "synthetic.labels" -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- $own := dict "helm.sh/chart" $chart "app.kubernetes.io/version" .root.Chart.AppVersion "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- $selected := default (include "synthetic.selectorLabels" .root) .standard | fromYaml -}}
{{- merge $selected $own (default dict .labels) (default dict .root.Values.commonLabels) | toYaml -}}
{{- end -}}

{{/* A resource's metadata: takes root and, optionally, name, namespace, labels, standard and annotations. Names are quoted, so that digits stay a string. */}}
{{- define "synthetic.metadata" -}}
name: {{ default (include "synthetic.fullname" .root) .name | quote }}
namespace: {{ default .root.Release.Namespace .namespace | quote }}
labels:
  {{- include "synthetic.labels" . | nindent 2 }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* True if "helm test" has a pod, which has neither a password nor a certificate. */}}
{{- define "synthetic.tested" -}}
{{- if and .Values.service.enabled (include "synthetic.scraped" .) (eq .Values.webConfig.probe "http") (not .Values.webConfig.probeHeaders) -}}true{{- end -}}
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

{{- define "synthetic.image" -}}
{{- $image := .Values.image -}}
{{- if not $image.repository -}}
{{- fail "\n\nNo image is published: build one, push it to a registry that your cluster can pull from, and name it.\n  make image IMAGE=registry.example.com/team/synthetic VERSION=0.1.0\n  docker push registry.example.com/team/synthetic:0.1.0\n  --set image.repository=registry.example.com/team/synthetic\n" -}}
{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* True if the configuration is in an existing ConfigMap or Secret, whose changes the chart cannot see. */}}
{{- define "synthetic.foreign" -}}
{{- or .Values.existingConfigMap .Values.existingSecret | default "" -}}
{{- end -}}

{{/* The pull secrets of the chart and of its parents, which are names or have names. */}}
{{- define "synthetic.pullSecrets" -}}
{{- $all := list -}}
{{- range concat (dig "imagePullSecrets" list (default dict .Values.global) | default list) (.Values.imagePullSecrets | default list) -}}
{{- $all = append $all (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- with $all | uniq -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
