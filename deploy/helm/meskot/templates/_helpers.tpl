{{- define "meskot.name" -}}
{{- if contains "meskot" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-meskot" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* Of every object. */ -}}
{{- define "meskot.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/version: {{ include "meskot.tag" . | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "meskot.selector" . }}
{{- end }}

{{- /* Of all pods; each kind adds app.kubernetes.io/component. */ -}}
{{- define "meskot.selector" -}}
app.kubernetes.io/name: meskot
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "meskot.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "meskot.image" -}}
{{ .Values.image.repository }}:{{ include "meskot.tag" . }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "meskot.buildId" -}}
{{ .Values.worker.builds.id | default (include "meskot.tag" .) }}
{{- end }}

{{- /* SIGKILL comes after the delay, the 15 s in which a process finishes what is under way, and a reserve. */ -}}
{{- define "meskot.gracePeriod" -}}
{{ add .Values.shutdownDelaySeconds 25 }}
{{- end }}

{{- define "meskot.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "meskot.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Of every pod, of jobs too. */ -}}
{{- define "meskot.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- include "meskot.podSecurity" . | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- /* Over zones and machines where there are several; a release spreads by itself. Of (list root component). */ -}}
{{- define "meskot.spread" -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- include "meskot.selector" (first $) | nindent 6 }}
      app.kubernetes.io/component: {{ last $ }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}

{{- /* The `temporal` program knows these names too. */ -}}
{{- define "meskot.temporalEnv" -}}
{{- $certificates := "/run/secrets/temporal" }}
- { name: TEMPORAL_ADDRESS, value: {{ required "temporal.address is the host and port of Temporal's frontend" .Values.temporal.address | quote }} }
- { name: TEMPORAL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }} }
{{- if .Values.temporal.tls }}
- { name: TEMPORAL_TLS, value: 'true' }
{{- end }}
{{- with .Values.temporal.serverName }}
- { name: TEMPORAL_TLS_SERVER_NAME, value: {{ . | quote }} }
{{- end }}
{{- if .Values.temporal.caCertSecret }}
- { name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: {{ $certificates }}/ca/ca.crt }
{{- end }}
{{- if .Values.temporal.clientCertSecret }}
- { name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: {{ $certificates }}/client/tls.crt }
- { name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: {{ $certificates }}/client/tls.key }
{{- end }}
{{- with .Values.temporal.existingSecret }}
- name: TEMPORAL_API_KEY
  valueFrom: { secretKeyRef: { name: {{ . }}, key: TEMPORAL_API_KEY } }
{{- end }}
{{- end }}

{{- define "meskot.temporalMounts" -}}
{{- if .Values.temporal.caCertSecret }}
- { name: temporal-ca, mountPath: /run/secrets/temporal/ca, readOnly: true }
{{- end }}
{{- if .Values.temporal.clientCertSecret }}
- { name: temporal-client, mountPath: /run/secrets/temporal/client, readOnly: true }
{{- end }}
{{- end }}

{{- define "meskot.temporalVolumes" -}}
{{- with .Values.temporal.caCertSecret }}
- name: temporal-ca
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- with .Values.temporal.clientCertSecret }}
- name: temporal-client
  secret: { secretName: {{ . }}, defaultMode: 0440 }
{{- end }}
{{- end }}
