{{- /* What the API's pods and the workers' have in common: settings, files, Secrets. */ -}}

{{- define "meskot.processEnv" -}}
{{- include "meskot.temporalEnv" . }}
{{- with .Values.database.existingSecret }}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ . }}, key: DATABASE_URL } }
{{- end }}
{{- $url := required "publicBaseUrl is the https address of the API for customers and providers" .Values.publicBaseUrl }}
{{- $settings := dict
  "PUBLIC_BASE_URL" $url
  "LISTEN_HOST" "0.0.0.0"
  "CONSOLE_HOST" "0.0.0.0"
  "LOG_LEVEL" .Values.logLevel
  "DATABASE_POOL_MAX" .Values.database.poolMax
  "TRUSTED_PROXY_COUNT" .Values.trustedProxyCount
  "SHUTDOWN_DELAY_SECONDS" .Values.shutdownDelaySeconds
  "WEBHOOK_PORTS" (join "," .Values.webhooks.ports)
  "TEMPORAL_DEPLOYMENT_NAME" .Values.temporal.deploymentName
  "TASK_QUEUE_PREFIX" .Values.temporal.taskQueuePrefix
}}
{{- with .Values.portalUrl }}{{ $_ := set $settings "PORTAL_URL" . }}{{ end }}
{{- with .Values.consoleUrl }}{{ $_ := set $settings "CONSOLE_URL" . }}{{ end }}
{{- with .Values.temporal.uiUrl }}{{ $_ := set $settings "TEMPORAL_UI_URL" . }}{{ end }}
{{- if .Values.simulator.enabled }}{{ $_ := set $settings "SIMULATOR_URL" (printf "http://%s-simulator:4002" (include "meskot.name" .)) }}{{ end }}
{{- with .Values.simulator.publicUrl }}{{ $_ := set $settings "SIMULATOR_PUBLIC_URL" . }}{{ end }}
{{- with .Values.objectStore }}
{{- if .bucket }}
{{- $_ := set $settings "S3_BUCKET" .bucket }}
{{- with .prefix }}{{ $_ := set $settings "S3_PREFIX" . }}{{ end }}
{{- with .endpoint }}{{ $_ := set $settings "S3_ENDPOINT" . }}{{ end }}
{{- with .region }}{{ $_ := set $settings "S3_REGION" . }}{{ end }}
{{- if .pathStyle }}{{ $_ := set $settings "S3_PATH_STYLE" "true" }}{{ end }}
{{- else }}
{{- $_ := set $settings "KYC_DOCUMENTS_DIR" "/var/lib/meskot/documents" }}
{{- $_ := set $settings "REPORTS_DIR" "/var/lib/meskot/reports" }}
{{- end }}
{{- end }}
{{- range $name, $value := merge (dict) .Values.env $settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "meskot.processEnvFrom" -}}
{{- $bucketKeys := ternary .Values.objectStore.existingSecret "" (ne .Values.objectStore.bucket "") }}
{{- range compact (list .Values.existingSecret .Values.providers.existingSecret $bucketKeys) }}
- secretRef: { name: {{ . }} }
{{- end }}
{{- with .Values.extraEnvFrom }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "meskot.processMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if not .Values.objectStore.bucket }}
- { name: files, mountPath: /var/lib/meskot/documents, subPath: documents }
- { name: files, mountPath: /var/lib/meskot/reports, subPath: reports }
{{- end }}
{{- include "meskot.temporalMounts" . }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "meskot.processVolumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 1Gi }
{{- if not .Values.objectStore.bucket }}
- name: files
  persistentVolumeClaim: { claimName: {{ .Values.volume.existingClaim | default (printf "%s-files" (include "meskot.name" .)) }} }
{{- end }}
{{- include "meskot.temporalVolumes" . }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Of (dict "root" . "component" "api" "replicas" N "autoscaling" {…}): the head of a Deployment that is never short of pods. */ -}}
{{- define "meskot.deploymentHead" -}}
metadata:
  name: {{ include "meskot.name" .root }}-{{ .component }}
  labels: {{- include "meskot.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  {{- if not .autoscaling.enabled }}
  replicas: {{ .replicas }}
  {{- end }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels: {{- include "meskot.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "meskot.podHead" -}}
metadata:
  labels: {{- include "meskot.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with .root.Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- with .root.Values.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
