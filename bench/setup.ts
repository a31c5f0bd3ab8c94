import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { START_OPTIONS } from '../building/start-options.ts'
import { freePort } from '../src/kit/conformance/free-port.ts'
import { CONFIGS, configOf, type GatewayName, storeKey } from './configs.ts'
import type { Reading } from './meter.ts'
import { pinned, type Role } from './pin.ts'

/** The bare proxy, the gateway of another checkout, or a gateway of this one. */
export type SideName = 'bare' | 'former' | GatewayName

/** One measured proxy. */
export interface Side {
  readonly name: SideName
  readonly origin: string
  read(): Promise<Reading>
}

/** The processes of a measurement: an upstream and the proxies in front of it. */
export interface Setup {
  readonly upstream: string
  readonly side: (name: SideName) => Side
  close(): Promise<void>
}

export interface SetupOptions {
  /** Proxies to start. */
  readonly sides: readonly SideName[]
  /** Directory for the CPU profiles of the gateways. */
  readonly profile: string | undefined
  /** Folder of the checkout whose gateway is the side `former`. */
  readonly against?: string | undefined
}

/** Starts all processes on the loopback interface. The proxies run on a separate core if the system supports that. */
export async function openSetup({ sides, profile, against }: SetupOptions): Promise<Setup> {
  const dir = mkdtempSync(join(tmpdir(), 'interlingua-bench-'))
  const log = openSync(join(dir, 'log'), 'w')
  const children: ChildProcess[] = []
  const close = async (): Promise<void> => {
    await Promise.all(children.map(stopped))
    rmSync(dir, { recursive: true })
  }
  const begin = async (role: Role, argsOf: (port: number) => readonly string[], folder = '.'): Promise<Begun> => {
    const port = await freePort()
    const child = start(role, argsOf(port), { output: log, folder })
    children.push(child)
    return { child, port }
  }
  const [stub, echo] = [
    await begin('load', port => ['bench/stub.ts', `${port}`]),
    await begin('load', port => ['bench/echo.ts', `${port}`]),
  ]
  const upstream = `http://127.0.0.1:${stub.port}`
  const sessions = `http://127.0.0.1:${echo.port}`
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const flags = [...METERED, ...profiling, ...(process.env['FLAGS']?.split(' ') ?? []), ...STARTED]
  const begun = new Map<SideName, Begun>()
  for (const name of sides) {
    const own = join(dir, name)
    mkdirSync(own)
    if (name === 'limited') await storeKey(join(own, 'data'))
    const argsOf = (port: number): readonly string[] => {
      if (name === 'bare') return [...METERED, 'bench/bare.ts', `${port}`, upstream, sessions]
      const config = join(own, 'interlingua.json')
      const change = CONFIGS[name === 'former' ? 'gateway' : name]
      writeFileSync(config, JSON.stringify(change(configOf(upstream, sessions, port, join(own, 'data')))))
      return [...flags, 'serve', '--config', config]
    }
    begun.set(name, await begin('proxy', argsOf, name === 'former' ? against : undefined))
  }
  await Promise.all([stub, echo, ...begun.values()].map(({ port }) => opened(port))).catch(async (fault: unknown) => {
    await close()
    throw fault
  })
  const all = new Map([...begun].map(([name, { child, port }]) => [name, proxy(name, child, port)]))
  return { upstream, side: name => all.get(name)!, close }
}

interface Begun {
  readonly child: ChildProcess
  readonly port: number
}

/** Arguments with which `npm start` runs Node. */
export const STARTED: readonly string[] = [...START_OPTIONS, 'bin/interlingua.js']

const METERED = ['--expose-gc', '--import', './bench/meter.ts']

interface StartOptions {
  /** Descriptor of the file that the process writes to. */
  readonly output: number
  readonly folder: string
}

function start(role: Role, args: readonly string[], { output, folder }: StartOptions): ChildProcess {
  const [command, ...all] = pinned(role, [process.execPath, ...args])
  return spawn(command!, all, { stdio: ['ignore', output, 'inherit', 'ipc'], cwd: folder })
}

export async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exit = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exit
}

const proxy = (name: Side['name'], child: ChildProcess, port: number): Side => {
  const read = () =>
    new Promise<Reading>((resolve, reject) => {
      child.once('message', reading => resolve(reading as Reading))
      child.send('read', fault => fault && reject(fault))
    })
  return { name, origin: `http://127.0.0.1:${port}`, read }
}

/** Resolves when a process listens on the port. Rejects after ten seconds. */
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
