import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { EXIT_TIMEOUT_MS } from '../../src/commands/serving.ts'
import { readConfig } from '../../src/config/read.ts'
import { version } from '../../src/version.ts'
import {
  byName,
  CHART,
  chartText,
  Kubernetes,
  type Manifest,
  manifestsOf,
  manifestsOfHelm,
  only,
  pathsIn,
  TEMPLATES,
  VALUES,
} from './chart.ts'
import { hasRender, hasSchemas, helm, KUBERNETES } from './tools.ts'

/* The chart of Helm. Without the tools of `node test/deploy/install.ts`, only its files are checked. */

const SCHEMA = JSON.parse(chartText('values.schema.json'))
const check = new Ajv({ allErrors: true, strictTypes: false }).compile(SCHEMA)

describe('the files of the chart', () => {
  test('have the version of the package', () => {
    expect(parse(chartText('Chart.yaml'))).toMatchObject({ version: version(), appVersion: version() })
  })

  test('describe every value, and no other', () => {
    const described = (schema: Manifest, at = ''): readonly string[] =>
      Object.entries<Manifest>(schema.properties ?? {}).flatMap(([name, one]) => {
        const path = at === '' ? name : `${at}.${name}`
        return one.additionalProperties === false && one.type === 'object' ? described(one, path) : [path]
      })
    const values = pathsIn({ ...VALUES, config: {}, resources: {} })
    expect([...values].sort()).toEqual(
      described(SCHEMA)
        .filter(path => path !== 'global')
        .sort(),
    )
    expect(check(VALUES) ? [] : check.errors).toEqual([])
  })

  test.each<[string, object]>([
    ['a text as a number', { replicas: '2' }],
    ['an unknown value', { replica: 2 }],
    ['a store beside the one of `database`', { config: { store: 'postgres://x' } }],
    ['another database', { database: { url: 'mysql://x' } }],
    ['a variable without a valid name', { secrets: { 'A-B': 'x' } }],
    ['a path that is none', { ingress: { hosts: [{ host: 'a', path: 'x' }] } }],
  ])('refuse %s', (_, values) => {
    expect(check(values)).toBe(false)
  })

  test('use values that exist, and definitions that exist', () => {
    const known = new Set(
      pathsIn(VALUES).flatMap(path => path.split('.').map((_, index, all) => all.slice(0, index + 1).join('.'))),
    )
    const all = [...TEMPLATES.values()].join('\n')
    const used = [...all.matchAll(/\$?\.Values\.([\w.]+)/g)].map(([, path]) => path!)
    expect(used.length).toBeGreaterThan(60)
    expect(used.filter(path => !known.has(path))).toEqual([])
    const defined = [...all.matchAll(/define "([\w.]+)"/g)].map(([, name]) => name)
    const included = [...all.matchAll(/include "([\w.]+)"/g)].map(([, name]) => name)
    expect(new Set(included)).toEqual(new Set(defined))
  })

  test('quote names of values, which may look like numbers or truth values', () => {
    const unquoted = /(?:name|ClassName): \{\{ \. \}\}|\.secret\.\w+ \}\}|\{\{ \$name \}\}/
    for (const [name, text] of TEMPLATES) expect([name, unquoted.exec(text)?.[0]]).toEqual([name, undefined])
  })

  test.each([...TEMPLATES])('close every block: %s', (_, text) => {
    const actions = [...text.matchAll(/\{\{-?\s*(\w+)/g)].map(([, word]) => word!)
    const count = (...words: string[]): number => actions.filter(word => words.includes(word)).length
    expect(count('end')).toBe(count('if', 'range', 'with', 'define'))
    expect(text.match(/\{\{/g)?.length).toBe(text.match(/\}\}/g)?.length)
  })
})

const DATABASE = { url: 'postgres://u:p@db.example/interlingua' }
const EXISTING = (name: string) => ({ existingSecret: { name, key: 'address' } })

const PROBES = ['startupProbe', 'livenessProbe', 'readinessProbe']

/** Set-ups, each with its values. */
const SET_UPS: { readonly [name: string]: object } = {
  'without values': {},
  'with a disk': { persistence: { enabled: true, storageClass: 'fast' }, secrets: { OPENAI_API_KEY: '1"2\n3' } },
  'with everything': {
    ...{ replicas: 3, database: DATABASE, redis: { url: 'redis://r.example:6379' }, secrets: { OPENAI_API_KEY: 'k' } },
    ...{ image: { repository: 'r.example/interlingua', tag: '1.2.3', pullSecrets: [{ name: 'registry' }] } },
    persistence: { enabled: true, accessModes: ['ReadWriteMany'] },
    ingress: {
      ...{ enabled: true, className: 'nginx', annotations: { 'nginx.ingress.kubernetes.io/proxy-buffering': 'off' } },
      ...{ hosts: [{ host: 'ai.example.org' }], tls: [{ hosts: ['ai.example.org'], secretName: 'tls' }] },
    },
    metrics: { enabled: true, serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
    ...{ podAnnotations: { a: 'b' }, podLabels: { c: 'd' }, nodeSelector: { disk: 'ssd' } },
    ...{ tolerations: [{ key: 'gpu', operator: 'Exists' }], extraEnv: [{ name: 'TZ', value: 'UTC' }] },
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
    ],
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca', readOnly: true }],
    serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/x' } },
  },
  'with names that look like numbers or truth values': {
    ...{ secrets: { NO: 'a' }, existingSecrets: ['1e3'], database: { existingSecret: { name: '0123', key: 'true' } } },
    ...{ persistence: { enabled: true, storageClass: '1' }, serviceAccount: { name: '007' } },
  },
  'with secrets that exist': {
    ...{ replicas: 2, database: EXISTING('postgres'), redis: EXISTING('redis'), existingSecrets: ['provider-keys'] },
    ...{ serviceAccount: { create: false }, persistence: { enabled: true, existingClaim: 'videos' } },
  },
  'with a certificate, at IPv6': {
    ...{ host: '::', metrics: { enabled: true } },
    config: { server: { tls: { cert: '/tls/tls.crt', key: '/tls/tls.key' } } },
  },
  'that grows': {
    ...{ database: DATABASE, autoscaling: { enabled: true, memory: 80 } },
    config: { channels: [{ name: 'o', provider: 'openai', key: 'k', models: ['*'] }], server: { workers: 2 } },
  },
}

describe.skipIf(!hasRender).each(Object.entries(SET_UPS))('a release %s', (_, values) => {
  const manifests = hasRender ? manifestsOf(values) : []

  test('has a valid config', () => {
    const written = only(manifests, 'ConfigMap').data['interlingua.yaml']
    const secret = only(manifests, 'Secret').stringData ?? {}
    const { env = [] } = gatewayOf(manifests)
    const config = readConfig(written, {
      ...secret,
      ...Object.fromEntries(
        env.map(({ name }: Manifest) => [name, name === 'DATABASE_URL' ? DATABASE.url : 'redis://r:1']),
      ),
    })
    expect(config.store.engine).toBe('database' in values ? 'postgres' : 'sqlite')
    expect(config.redis !== undefined).toBe('redis' in values)
    expect(deploymentOf(manifests).terminationGracePeriodSeconds * 1000).toBeGreaterThan(
      config.server.drain + config.server.grace + EXIT_TIMEOUT_MS,
    )
    // The first probe after SIGTERM tells the service to send nothing more while the gateway still answers.
    const { periodSeconds, failureThreshold } = gatewayOf(manifests).readinessProbe
    expect(periodSeconds * failureThreshold * 1000).toBeLessThan(config.server.drain)
    const scheme = config.server.tls === undefined ? 'HTTP' : 'HTTPS'
    for (const probe of PROBES) expect(gatewayOf(manifests)[probe].httpGet.scheme).toBe(scheme)
    const host = 'host' in values ? values.host : '0.0.0.0'
    expect(gatewayOf(manifests).args).toEqual(expect.arrayContaining(['--host', host]))
    if (config.metrics.listen !== undefined) expect(config.metrics.listen.host).toBe(host)
  })

  test('runs without rights, and writes to its volumes alone', () => {
    const { securityContext, volumes } = deploymentOf(manifests)
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    const gateway = gatewayOf(manifests)
    expect(gateway.securityContext).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    })
    const paths = gateway.volumeMounts.map(({ mountPath }: Manifest) => mountPath)
    expect(paths).toEqual(expect.arrayContaining(['/etc/interlingua', '/var/lib/interlingua', '/tmp']))
    expect(volumes.map(({ name }: Manifest) => name).sort()).toEqual(
      gateway.volumeMounts.map(({ name }: Manifest) => name).sort(),
    )
  })

  test('has parts that find each other', () => {
    const { spec: deployment } = only(manifests, 'Deployment')
    const labels = deployment.template.metadata.labels
    const service = only(manifests, 'Service').spec
    for (const selector of [service.selector, deployment.selector.matchLabels]) expect(labels).toMatchObject(selector)
    const { ports } = gatewayOf(manifests)
    expect(service.ports.map(({ targetPort }: Manifest) => targetPort)).toEqual(ports.map(({ name }: Manifest) => name))
    const gateway = gatewayOf(manifests)
    for (const probe of PROBES)
      expect(ports.some(({ name }: Manifest) => name === gateway[probe].httpGet.port)).toBe(true)
    expect(gateway.args.slice(-2)).toEqual(['--port', String(ports[0].containerPort)])
  })

  test.skipIf(!hasSchemas).each(KUBERNETES)('follows the schemas of Kubernetes %s', kubernetes => {
    const schemas = new Kubernetes(kubernetes)
    const known = manifests.filter(({ kind }) => kind !== 'ServiceMonitor')
    expect(known.flatMap(one => schemas.faultsOf(one))).toEqual([])
    expect(schemas.faultsOf({ ...only(manifests, 'Service'), spec: { port: 80 } })).not.toEqual([])
  })

  test.skipIf(helm === undefined)('is what Helm makes of the chart', () => {
    expect(byName(manifestsOfHelm(values))).toEqual(byName(manifests))
  })
})

const deploymentOf = (manifests: readonly Manifest[]): Manifest => only(manifests, 'Deployment').spec.template.spec
const gatewayOf = (manifests: readonly Manifest[]): Manifest => deploymentOf(manifests).containers[0]

describe.skipIf(!hasRender)('the chart', () => {
  const kinds = (values: object): readonly string[] => manifestsOf(values).map(({ kind }) => kind)

  test('has the parts that its values ask for', () => {
    const always = ['ConfigMap', 'Deployment', 'Secret', 'Service', 'ServiceAccount']
    expect([...kinds({})].sort()).toEqual(always)
    expect([...kinds(SET_UPS['with everything']!)].sort()).toEqual(
      [...always, 'Ingress', 'PersistentVolumeClaim', 'PodDisruptionBudget', 'ServiceMonitor'].sort(),
    )
    expect(kinds(SET_UPS['that grows']!)).toEqual(expect.arrayContaining(['HorizontalPodAutoscaler']))
    expect(only(manifestsOf(SET_UPS['that grows']!), 'Deployment').spec).not.toHaveProperty('replicas')
  })

  test('ends a pod before its successor starts if only one of them can have the file or the disk', () => {
    const strategy = (values: object) => only(manifestsOf(values), 'Deployment').spec.strategy.type
    const disk = { enabled: true }
    const claim = { enabled: true, existingClaim: 'videos' }
    expect(strategy({})).toBe('Recreate')
    expect(strategy({ persistence: disk })).toBe('Recreate')
    expect(strategy({ persistence: disk, database: DATABASE })).toBe('Recreate')
    expect(strategy({ persistence: claim, database: DATABASE })).toBe('Recreate')
    expect(strategy({ persistence: claim, database: DATABASE, replicas: 2 })).toBe('RollingUpdate')
    expect(strategy({ persistence: { ...disk, accessModes: ['ReadWriteMany'] }, database: DATABASE })).toBe(
      'RollingUpdate',
    )
    expect(strategy({ database: DATABASE })).toBe('RollingUpdate')
  })

  test('restarts pods whose config or secrets changed', () => {
    const annotations = (values: object) => only(manifestsOf(values), 'Deployment').spec.template.metadata.annotations
    const before = annotations({})
    expect(annotations({ config: { server: { drain: '6s' } } })['checksum/config']).not.toBe(before['checksum/config'])
    expect(annotations({ secrets: { A: 'b' } })['checksum/secret']).not.toBe(before['checksum/secret'])
  })

  test.each<[string, object, RegExp]>([
    ['several replicas without a database', { replicas: 2 }, /several replicas need one database/],
    ['pods that grow without a database', { autoscaling: { enabled: true } }, /several replicas need one database/],
    [
      'one disk for several replicas',
      { replicas: 2, database: DATABASE, persistence: { enabled: true } },
      /ReadWriteMany/,
    ],
    ['a monitor without metrics', { metrics: { serviceMonitor: { enabled: true } } }, /needs metrics\.enabled/],
  ])('refuses %s', (_, values, message) => {
    expect(() => manifestsOf(values)).toThrow(message)
  })

  test('monitors the port that serves metrics', () => {
    const manifests = manifestsOf(SET_UPS['with everything']!)
    const { spec, metadata } = only(manifests, 'ServiceMonitor')
    expect(metadata.labels).toMatchObject({ release: 'prometheus' })
    const service = only(manifests, 'Service')
    expect(service.metadata.labels).toMatchObject(spec.selector.matchLabels)
    expect(service.spec.ports.map(({ name }: Manifest) => name)).toContain(spec.endpoints[0].port)
    expect(parse(only(manifests, 'ConfigMap').data['interlingua.yaml']).metrics).toEqual({
      host: '0.0.0.0',
      port: 9464,
    })
  })

  test.skipIf(helm === undefined)('is installed by the command of its page', () => {
    const page = readFileSync('docs/deployment.md', 'utf8')
    const [, command] = /^helm install (ai [\s\S]*?)\n```/m.exec(page)!
    const out = execFileSync('sh', ['-c', `"$0" template ${command}`, helm!], { encoding: 'utf8' })
    expect(out).toContain('image: "registry.example.org/interlingua:')
    expect(out).toContain('secretKeyRef: { name: postgres, key: url }')
  })

  test.skipIf(helm === undefined)('passes `helm lint`', () => {
    const out = execFileSync(helm!, ['lint', CHART, '--strict'], { encoding: 'utf8', stdio: 'pipe' })
    expect(out).toContain('1 chart(s) linted, 0 chart(s) failed')
    expect(out).not.toMatch(/\[(ERROR|WARNING)\]/)
  })
})
