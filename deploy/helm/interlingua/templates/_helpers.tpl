{{- define "interlingua.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "interlingua.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "interlingua.labels" -}}
{{ include "interlingua.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "interlingua.serviceAccount" -}}
{{- if .Values.serviceAccount.name }}{{ .Values.serviceAccount.name }}
{{- else if .Values.serviceAccount.create }}{{ include "interlingua.name" . }}
{{- else }}default{{ end }}
{{- end }}

{{- define "interlingua.hasDatabase" -}}
{{- if or .Values.database.url .Values.database.existingSecret.name }}true{{ end }}
{{- end }}

{{- define "interlingua.hasRedis" -}}
{{- if or .Values.redis.url .Values.redis.existingSecret.name }}true{{ end }}
{{- end }}

{{- define "interlingua.hasSeveral" -}}
{{- if .Values.autoscaling.enabled }}{{ if gt (int .Values.autoscaling.maxReplicas) 1 }}true{{ end }}
{{- else if gt (int .Values.replicas) 1 }}true{{ end }}
{{- end }}

{{- /* The scheme at the pod's port: HTTPS if the config has a certificate. */ -}}
{{- define "interlingua.scheme" -}}
{{- if (default dict .Values.config.server).tls }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- /* Whether two pods may run at the same time: they share a database, and a disk that several nodes can mount. */ -}}
{{- define "interlingua.overlaps" -}}
{{- $isShared := or (not .Values.persistence.enabled) (include "interlingua.hasSeveral" .) (has "ReadWriteMany" .Values.persistence.accessModes) }}
{{- if and (include "interlingua.hasDatabase" .) $isShared }}true{{ end }}
{{- end }}

{{- /* Combinations that would lose data or answers. */ -}}
{{- define "interlingua.check" -}}
{{- if and (include "interlingua.hasSeveral" .) (not (include "interlingua.hasDatabase" .)) }}
{{- fail "several replicas need one database: set database.url or database.existingSecret.name, or replicas: 1" }}
{{- end }}
{{- if and (include "interlingua.hasSeveral" .) .Values.persistence.enabled (not .Values.persistence.existingClaim) (not (has "ReadWriteMany" .Values.persistence.accessModes)) }}
{{- fail "several replicas share persistence: its accessModes need ReadWriteMany" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) }}
{{- fail "metrics.serviceMonitor needs metrics.enabled" }}
{{- end }}
{{- end }}

{{- /* The gateway's config with the parts that the other values decide. */ -}}
{{- define "interlingua.config" -}}
{{- $config := deepCopy .Values.config }}
{{- if include "interlingua.hasDatabase" . }}{{ $_ := set $config "store" "${DATABASE_URL}" }}{{ end }}
{{- if include "interlingua.hasRedis" . }}{{ $_ := set $config "redis" "${REDIS_URL}" }}{{ end }}
{{- if .Values.metrics.enabled }}{{ $_ := set $config "metrics" (dict "host" .Values.host "port" (int .Values.metrics.port)) }}{{ end }}
{{- toYaml $config }}
{{- end }}

{{- /* A variable with the address of a server, from a Secret that exists already. */ -}}
{{- define "interlingua.address" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef: { name: {{ .secret.name | quote }}, key: {{ .secret.key | quote }} }
{{- end }}
