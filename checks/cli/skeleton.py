"""What `tau-check init` writes: a template, a registration that pins it, and the commands to go on with.

The workload needs only a shell: it looks at something, and says so as its termination message.
"""

TEMPLATE = """\
# How the check runs. Created once by a platform admin; its spec cannot be changed afterwards, so a new version gets a
# new name. The registration in check.yaml pins the digest of this spec: `tau-check validate .` says which it is.
apiVersion: tau.azure.com/v1alpha1
kind: TauValidationTemplate
metadata:
  name: ${NAME}
spec:
  description: ${TITLE}
  # Each reaches the pods as the environment variable TAU_PARAM_<name>. Runs may set what the registration leaves open.
  parameters:
  - name: path
    type: string
    maxLength: 256
    pattern: ^/[A-Za-z0-9._/-]*$$
    default: /proc/meminfo
    description: What the pod looks for on its node
  # Which workspaces may use it, by the labels of their namespaces.
  allowedWorkspaces:
    matchExpressions:
    - key: tau.azure.com/workspace
      operator: Exists
  deadlines:
    queueSeconds: 600
    runSeconds: 300
    cleanupSeconds: 120
  reporters: ${COUNT}
  job:
    spec:
      completions: ${COUNT}
      parallelism: ${COUNT}
      completionMode: Indexed
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          automountServiceAccountToken: false
          securityContext:
            runAsNonRoot: true
            runAsUser: 65532
            seccompProfile:
              type: RuntimeDefault
          containers:
          - name: look
            image: ${IMAGE}
            # The report: one JSON object, at most 4096 bytes. Exit status 0 means "reported", whatever it reports.
            # outcome is passed only where something was seen, failed only where the contrary was; else unknown.
            command:
            - /bin/sh
            - -c
            - |
              say() {
                {
                  printf '{"schema":"tau.validation-report.v1","rank":%s,' "$$JOB_COMPLETION_INDEX"
                  printf '"runID":"%s","outcome":"%s","reason":"%s",' "$$TAU_RUN_ID" "$$1" "$$2"
                  printf '"message":"%s"}' "$$3"
                } > /dev/termination-log
              }
              if [ ! -e "$$TAU_PARAM_path" ]; then
                say failed path_missing "There is no $$TAU_PARAM_path"
              elif [ ! -r "$$TAU_PARAM_path" ]; then
                say unknown path_unreadable "$$TAU_PARAM_path cannot be read, so nothing is known"
              else
                say passed validation_passed "$$TAU_PARAM_path is there and can be read"
              fi
            resources:
              requests:
                cpu: 100m
                memory: 32Mi
              limits:
                memory: 32Mi
            securityContext:
              allowPrivilegeEscalation: false
              readOnlyRootFilesystem: true
              capabilities:
                drop: [ALL]
"""

CHECK = """\
# The registration. It pins its template by digest, so that approving it approves both; after any change of either, a
# platform admin has to look again.
apiVersion: tau.azure.com/v1alpha1
kind: TauValidationCheck
metadata:
  name: ${NAME}
  namespace: ${NAMESPACE}
spec:
  type: ${TYPE}
  version: '1.0'
  title: ${TITLE}
  owner: ${OWNER}
  launch:
    template:
      name: ${NAME}
      digest: ${DIGEST}
      parameters: {}
      queue: ${QUEUE}
  schedule:
    cron: 0 */6 * * *
    timeZone: Etc/UTC
  suspend: false
  targets:
    count: ${COUNT}
    bindTo: [uid]
  results:
    versions: ['1.0']
    freshForSeconds: 86400
    publisher:
      namespace: tau-system
      serviceAccount: tau-validation-controller
    # What the control plane itself writes of every run that is launched from a template.
    requiredEvidence: [manifest, logs, placement, image-receipt, cleanup]
    historyLimit: 20
"""

README = """\
# ${TITLE}

`template.yaml` says how the check runs, `check.yaml` registers it in the workspace `${NAMESPACE}`.

1. Change the command in `template.yaml` to look at what you want to prove, and `image` to one of yours, by digest.
2. `tau-check validate .` names every problem with its line; write the digest it expects into `check.yaml`.
3. A platform admin creates the template, you create the registration:
   `tau-check register template.yaml`, `tau-check register check.yaml`. Each says what comes next.
4. A platform admin approves it with the digest that `register` printed. Then it runs by its schedule, and now with
   `tau-check run ${NAME} --namespace ${NAMESPACE} --wait`; the portal shows what is proven.

How a report is read: `passed` counts only if every rank reports it, and only as long as the result is fresh, the nodes
are the same machines, and the evidence can be read. A pod that says nothing has not passed.
"""
