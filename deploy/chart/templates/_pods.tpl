{{/* Labels that select the pods of one component: (list $ "portal"). */}}
{{- define "tau.selector" -}}
app.kubernetes.io/name: taugrid-portal
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "tau.image" -}}
{{- with .Values.image -}}
{{- .repository -}}{{- if .digest }}@{{ .digest }}{{- else }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end }}

{{/* What every pod of the chart has in common: restricted pod security, and where it may run. */}}
{{- define "tau.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What every container has in common: no rights, a root file system that cannot be written, /tmp in memory. */}}
{{- define "tau.container" -}}
image: {{ include "tau.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* The clusters that portal and sync read, as environment. */}}
{{- define "tau.clusters" -}}
- {name: CLUSTER_NAME, value: {{ .Values.cluster.name | quote }}}
{{- with .Values.cluster.others }}
{{- $entries := list }}
{{- range . }}
{{- $entries = append $entries (printf "%s=/run/secrets/clusters/%s%s" .name .name (.context | empty | ternary "" (printf "#%s" .context))) }}
{{- end }}
- {name: CLUSTERS, value: {{ join "," $entries | quote }}}
{{- end }}
{{- end }}

{{/* Volumes of portal and sync: the secrets used, each a file named by its use (list $ "databaseURL" …), and kubeconfig files. */}}
{{- define "tau.volumes" -}}
{{- $root := index . 0 -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
    {{- range rest . }}
    {{- $reference := index $root.Values.secrets . }}
    - secret: {name: {{ $reference.existingSecret }}, items: [{key: {{ $reference.key }}, path: {{ . }}}]}
    {{- end }}
{{- with $root.Values.cluster.others }}
- name: clusters
  projected:
    defaultMode: 0440
    sources:
    {{- range . }}
    - secret: {name: {{ .existingSecret }}, items: [{key: {{ .key }}, path: {{ .name }}}]}
    {{- end }}
{{- end }}
{{ include "tau.tmp" $root }}
{{- end }}

{{- define "tau.tmp" -}}
- name: tmp
  emptyDir: {medium: Memory, sizeLimit: 64Mi}
{{- end }}

{{- define "tau.mounts" -}}
- {name: secrets, mountPath: /run/secrets/taugrid-portal, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- if .Values.cluster.others }}
- {name: clusters, mountPath: /run/secrets/clusters, readOnly: true}
{{- end }}
{{- end }}
