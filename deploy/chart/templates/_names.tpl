{{/* Labels on everything the chart installs. */}}
{{- define "tau.labels" -}}
app.kubernetes.io/part-of: taugrid-portal
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The user name that the API server gives the controller's service account. */}}
{{- define "tau.controllerUsername" -}}
system:serviceaccount:{{ .Release.Namespace }}:tau-validation-controller
{{- end }}

{{/* Who may write the status of checks and runs: the controller, and the controllers of checks that bring their own. JSON list. */}}
{{- define "tau.statusWriters" -}}
{{- concat (list (include "tau.controllerUsername" .)) .Values.rights.ownControllers | toJson -}}
{{- end }}
