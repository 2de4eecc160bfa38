/**
 * What users of kube-freeze-operator have in their repositories, by the fields that its pages document: every field of
 * its three kinds occurs.
 */
export const referenceManifests = [
  {
    apiVersion: 'freeze-operator.io/v1alpha1',
    kind: 'ChangeFreeze',
    metadata: { name: 'year-end', labels: { 'app.kubernetes.io/name': 'kube-freeze-operator' } },
    spec: {
      startTime: '2026-12-24T00:00:00Z',
      endTime: '2026-12-27T00:00:00+02:00',
      timezone: 'Europe/Berlin',
      target: {
        namespaceSelector: { matchLabels: { env: 'prod' } },
        objectSelector: { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['test'] }] },
        kinds: ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'],
      },
      rules: { deny: ['ROLL_OUT', 'SCALE', 'CREATE', 'DELETE'] },
      behavior: {
        suspendCronJobs: true,
        gitops: {
          enabled: true,
          providers: ['argocd', 'flux'],
          argocd: {
            applicationSelector: { matchLabels: { env: 'prod' } },
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'argocd' } },
            pauseMode: 'DisableAutoSync',
          },
          flux: {
            kustomizationSelector: { matchLabels: { env: 'prod' } },
            helmReleaseSelector: { matchLabels: { env: 'prod' } },
            namespaceSelector: { matchLabels: { team: 'platform' } },
          },
        },
      },
      message: { reason: 'Nobody is in', docsURL: 'https://wiki.example.com/freeze', contact: '#platform' },
    },
  },
  {
    apiVersion: 'freeze-operator.io/v1alpha1',
    kind: 'ChangeFreeze',
    metadata: { name: 'plain' },
    spec: {
      startTime: '2026-11-27T00:00:00Z',
      endTime: '2026-11-30T23:59:59Z',
      target: { kinds: ['Deployment'] },
      rules: { deny: ['ROLL_OUT'] },
    },
  },
  {
    apiVersion: 'freeze-operator.io/v1alpha1',
    kind: 'MaintenanceWindow',
    metadata: { name: 'nights' },
    spec: {
      timezone: 'Europe/Berlin',
      mode: 'DenyOutsideWindows',
      windows: [
        { name: 'night', schedule: '0 1 * * *', duration: '6h' },
        { name: 'sunday', schedule: '30 8 * * SUN', duration: '1h30m' },
      ],
      target: {
        namespaceSelector: { matchLabels: { env: 'prod' } },
        kinds: ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'],
      },
      rules: { deny: ['ROLL_OUT', 'SCALE', 'CREATE', 'DELETE'] },
      behavior: { suspendCronJobs: true },
      message: { reason: 'Only in windows', docsURL: 'https://wiki.example.com/windows', contact: '#platform' },
    },
  },
  {
    apiVersion: 'freeze-operator.io/v1alpha1',
    kind: 'FreezeException',
    metadata: { name: 'payments-fix' },
    spec: {
      activeFrom: '2026-12-25T10:00:00Z',
      activeTo: '2026-12-25T12:00:00Z',
      target: {
        namespaceSelector: { matchLabels: { env: 'prod' } },
        objectSelector: { matchLabels: { 'app.kubernetes.io/name': 'payments' } },
        kinds: ['Deployment'],
      },
      allow: ['ROLL_OUT'],
      constraints: {
        requireLabels: { 'freeze-operator.io/ticket': 'true' },
        allowedUsers: ['sre@example.com'],
        allowedGroups: ['sre'],
      },
      reason: 'Payments fail',
      ticketURL: 'https://tickets.example.com/INC-1',
      approvedBy: 'sre-lead',
    },
  },
] as const;
