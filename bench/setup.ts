import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UPSTREAMS } from './formats.ts'
import type { Reading } from './meter.ts'
import { pinned } from './pin.ts'

/** The key of every caller of the bench. */
export const KEY = 'il-bench-0123456789abcdef0123456789'
/** The stub's kinds of answers. A model here is named by format and mode: `chat-burst-500`. */
const MODES = ['whole', 'few', 'burst-100', 'burst-500', 'once-500', 'paced-50', 'paced-2s', 'open', 'flood']

/** One proxy under measurement. */
export interface Side {
  readonly name: 'bare' | 'gateway'
  readonly origin: string
  read(): Promise<Reading>
  /** Collects garbage first. */
  readClean(): Promise<Reading>
}

/** The processes of a measurement: an upstream, and two proxies in front of it. */
export interface Setup {
  readonly upstream: string
  readonly bare: Side
  readonly gateway: Side
  close(): Promise<void>
}

export interface SetupOptions {
  /** The directory of the gateway's CPU profile. */
  readonly profile: string | undefined
}

/** Starts all three on the loopback, the proxies on a separate core where the system supports that. */
export async function openSetup({ profile }: SetupOptions): Promise<Setup> {
  const dir = mkdtempSync(join(tmpdir(), 'interlingua-bench-'))
  const [stubPort, echoPort, barePort, gatewayPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  const upstream = `http://127.0.0.1:${stubPort}`
  const sessions = `http://127.0.0.1:${echoPort}`
  const config = join(dir, 'interlingua.json')
  writeFileSync(config, JSON.stringify(configOf(upstream, sessions, gatewayPort, join(dir, 'data'))))

  const log = openSync(join(dir, 'log'), 'w')
  const stub = start('load', ['bench/stub.ts', `${stubPort}`], log)
  const echo = start('load', ['bench/echo.ts', `${echoPort}`], log)
  const bare = start('proxy', [...METERED, 'bench/bare.ts', `${barePort}`, upstream, sessions], log)
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const gateway = start(
    'proxy',
    [...METERED, ...profiling, ...(process.env['FLAGS']?.split(' ') ?? []), ...STARTED, 'serve', '--config', config],
    log,
  )
  const close = async (): Promise<void> => {
    await Promise.all([stub, echo, bare, gateway].map(stopped))
    rmSync(dir, { recursive: true })
  }
  await Promise.all([stubPort, echoPort, barePort, gatewayPort].map(opened)).catch(async (fault: unknown) => {
    await close()
    throw fault
  })
  return {
    upstream,
    bare: proxy('bare', bare, barePort),
    gateway: proxy('gateway', gateway, gatewayPort),
    close,
  }
}

/** The flags that `npm start` passes to Node. */
export const STARTED = (
  JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: { readonly start: string } }
).scripts.start
  .split(' ')
  .slice(1)

const METERED = ['--expose-gc', '--import', './bench/meter.ts']

/** Formats whose paths have the version, instead of the base address. */
const VERSIONED = new Set(['messages', 'contents'])

/** Everything that costs time is switched on: a key, limits out of reach, the log. */
export const configOf = (upstream: string, sessions: string, port: number, dataDir: string) => ({
  server: { host: '127.0.0.1', port, drain: '0s', grace: '1s' },
  data_dir: dataDir,
  groups: { default: { models: ['*'], rpm: 1e9, tpm: 1e12 } },
  keys: [{ name: 'bench', key: KEY, group: 'default' }],
  realtime: { sessions: { key: 10_000, all: 10_000 } },
  channels: [
    ...Object.keys(UPSTREAMS).flatMap(format =>
      MODES.map(mode => ({
        name: `${format}-${mode}`,
        provider: 'custom',
        formats: [format],
        base_url: `${upstream}/${mode}${VERSIONED.has(format) ? '' : '/v1'}`,
        key: 'upstream-key',
        models: { [`${format}-${mode}`]: 'upstream-model' },
      })),
    ),
    {
      ...{ name: 'realtime', provider: 'custom', formats: ['realtime'], base_url: `${sessions}/echo/v1` },
      ...{ key: 'upstream-key', models: { 'realtime-echo': 'upstream-model' } },
    },
  ],
})

function start(role: 'proxy' | 'load', args: readonly string[], output: number): ChildProcess {
  const [command, ...all] = pinned(role, [process.execPath, ...args])
  return spawn(command!, all, { stdio: ['ignore', output, 'inherit', 'ipc'] })
}

export async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exit = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exit
}

const proxy = (name: Side['name'], child: ChildProcess, port: number): Side => {
  const request = (command: 'read' | 'collect') =>
    new Promise<Reading>((resolve, reject) => {
      child.once('message', reading => resolve(reading as Reading))
      child.send(command, fault => fault && reject(fault))
    })
  return { name, origin: `http://127.0.0.1:${port}`, read: () => request('read'), readClean: () => request('collect') }
}

export const freePort = (): Promise<number> =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** Resolves once something listens there; rejects after ten seconds. */
export async function opened(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await listens(port)) return
    await sleep(50)
  }
  throw new Error(`nothing listens at port ${port}`)
}

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
