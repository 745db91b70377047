{{- define "paraph.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "paraph.redis" -}}
{{ include "paraph.fullname" . }}-redis
{{- end -}}

{{/* The labels by which pods are selected. They never change in the life of a release. */}}
{{- define "paraph.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* Call it with root and component. */}}
{{- define "paraph.labels" -}}
{{ include "paraph.selector" . }}
app.kubernetes.io/part-of: {{ .root.Chart.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "paraph.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "paraph.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "paraph.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* What every process of Paraph is told, but for the authority and the data directory. */}}
{{- define "paraph.env" -}}
{{- /* Of two with one name, the last counts. */}}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- with .Values.secret }}
{{- if $.Values.redis.enabled }}
- name: REDIS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ .name }}, key: {{ .keys.redisPassword }} } }
- name: REDIS_URL
  value: redis://:$(REDIS_PASSWORD)@{{ include "paraph.redis" $ }}:6379
{{- else }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ .name }}, key: {{ .keys.redisUrl }} } }
{{- end }}
- name: PARAPH_MASTER_KEY
  valueFrom: { secretKeyRef: { name: {{ .name }}, key: {{ .keys.masterKey }} } }
{{- end }}
- { name: PARAPH_CONFIG, value: /etc/paraph/paraph.json }
{{- end -}}

{{- define "paraph.mounts" -}}
- { name: configuration, mountPath: /etc/paraph, readOnly: true }
- { name: tmp, mountPath: /tmp }
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "paraph.volumes" -}}
- name: configuration
  secret:
    secretName: {{ .Values.secret.name }}
    items: [{ key: {{ .Values.secret.keys.configuration }}, path: paraph.json }]
- { name: tmp, emptyDir: {} }
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "paraph.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "paraph.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
A Deployment with its PodDisruptionBudget. Call it with root, component (api or worker), values (of
the component), port and portName.
*/}}
{{- define "paraph.deployment" -}}
{{- $name := printf "%s-%s" (include "paraph.fullname" .root) .component -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels: {{ include "paraph.labels" . | nindent 4 }}
spec:
  {{- /* The number is the autoscaler's: one that stands here would undo its work at each upgrade. */}}
  {{- if not .values.autoscaling.enabled }}
  replicas: {{ .values.replicas }}
  {{- end }}
  strategy:
    rollingUpdate: { maxUnavailable: 0 }
  selector:
    matchLabels: {{ include "paraph.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{ include "paraph.labels" . | nindent 8 }}
      {{- with .values.podAnnotations }}
      annotations: {{ toYaml . | nindent 8 }}
      {{- end }}
    spec:
      automountServiceAccountToken: false
      {{- include "paraph.pullSecrets" .root | nindent 6 }}
      securityContext: {{ include "paraph.podSecurity" .root | nindent 8 }}
      terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
      {{- with .root.Values.spreadOver }}
      topologySpreadConstraints:
        {{- range . }}
        - maxSkew: 1
          topologyKey: {{ . }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{ include "paraph.selector" $ | nindent 14 }}
        {{- end }}
      {{- end }}
      {{- include "paraph.placement" .values | nindent 6 }}
      containers:
        - name: paraph
          image: {{ include "paraph.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: [{{ .component }}]
          env:
            {{- include "paraph.env" .root | nindent 12 }}
            {{- /* The job of the first start makes the authority: these keep no note that the key was used. */}}
            - { name: PARAPH_NEW_AUTHORITY, value: {{ ternary "wait" "0" .root.Values.firstStart.enabled | quote }} }
            - { name: PARAPH_DATA, value: /tmp }
          ports:
            - { name: {{ .portName }}, containerPort: {{ .port }} }
          # A start waits for a Redis that loads its file; ten minutes are for the largest.
          startupProbe:
            httpGet: { path: /livez, port: {{ .portName }} }
            periodSeconds: 2
            timeoutSeconds: 3
            failureThreshold: 300
          readinessProbe:
            httpGet: { path: /readyz, port: {{ .portName }} }
            periodSeconds: 3
            timeoutSeconds: 3
          livenessProbe:
            httpGet: { path: /livez, port: {{ .portName }} }
            timeoutSeconds: 3
            failureThreshold: 6
          resources: {{ toYaml .values.resources | nindent 12 }}
          securityContext: {{ include "paraph.containerSecurity" .root | nindent 12 }}
          volumeMounts: {{ include "paraph.mounts" .root | nindent 12 }}
      volumes: {{ include "paraph.volumes" .root | nindent 8 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels: {{ include "paraph.labels" . | nindent 4 }}
spec:
  {{- toYaml .values.podDisruptionBudget | nindent 2 }}
  # A pod that is not ready serves nobody, and may go.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{ include "paraph.selector" . | nindent 6 }}
{{- end -}}

{{- define "paraph.firstStartPod" -}}
metadata:
  labels: {{ include "paraph.selector" (dict "root" . "component" "first-start") | nindent 4 }}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  {{- include "paraph.pullSecrets" . | nindent 2 }}
  securityContext: {{ include "paraph.podSecurity" . | nindent 4 }}
  {{- include "paraph.placement" .Values.api | nindent 2 }}
  containers:
    - name: paraph
      image: {{ include "paraph.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [authority]
      env:
        {{- include "paraph.env" . | nindent 8 }}
        - { name: PARAPH_DATA, value: /data }
      resources: {{ toYaml .Values.firstStart.resources | nindent 8 }}
      securityContext: {{ include "paraph.containerSecurity" . | nindent 8 }}
      volumeMounts:
        {{- include "paraph.mounts" . | nindent 8 }}
        - { name: data, mountPath: /data }
  volumes:
    {{- include "paraph.volumes" . | nindent 4 }}
    - name: data
      persistentVolumeClaim: { claimName: {{ include "paraph.fullname" . }}-first-start }
{{- end -}}
