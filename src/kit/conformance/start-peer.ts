import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../../root.ts'
import { send } from './client.ts'
import { secretsOf } from './configured-secrets.ts'
import { baseFormatOf } from './format.ts'
import { FORMATS } from './formats/index.ts'
import { freePort } from './free-port.ts'
import { fillPlaceholders, type Peer, type Values } from './peer.ts'
import { redactor } from './report/secrets.ts'
import type { Target } from './run-cells.ts'
import { SESSION_FORMATS } from './sockets/formats.ts'
import { DEFAULT_SPECS, type Specs } from './specs.ts'
import type { Upstream } from './upstream.ts'

/** Error for a peer whose program is missing on this machine. The message explains how to install it. */
export class MissingPeer extends Error {
  override readonly name = 'MissingPeer'
}

export interface RunningPeer {
  readonly target: Target
  /** Id of the peer's process. */
  readonly pid: number
  /** Returns the last part of the peer's output. */
  readonly output: () => string
  close(): Promise<void>
}

/** Maximum time for a peer to become ready, in milliseconds. */
const READY_TIMEOUT_MS = 120_000
/** Maximum time for a peer to stop, in milliseconds. */
const STOP_TIMEOUT_MS = 10_000

/** Maximum length of the stored output of a peer, in characters. */
const MAX_OUTPUT_LENGTH = 20_000

/** Finds the program of an external peer by an environment variable or else in PATH. */
function programOf({ program, title }: Peer): string {
  if (program === undefined) return ''
  const configuredPath = process.env[program.env]
  const candidates = configuredPath
    ? [configuredPath]
    : (process.env['PATH'] ?? '').split(delimiter).map(dir => join(dir, program.name))
  const found = candidates.find(existsSync)
  if (found === undefined) throw new MissingPeer(`${title} is not installed: ${program.get} (or set ${program.env})`)
  return found
}

/** Extracts the version number from a peer's output, or else returns the last line. */
export const versionIn = (printed: string): string | undefined =>
  /\d+(?:\.\d+)+(?:-[\w.]+)?/.exec(printed)?.[0] ?? printed.trim().split('\n').at(-1)

async function versionOf(peer: Peer, values: Values, options: object): Promise<string | undefined> {
  const [command, ...args] = (peer.version ?? []).map(text => fillPlaceholders(text, values))
  if (command === undefined) return undefined
  const { stdout } = await promisify(execFile)(command, args, {
    ...options,
    encoding: 'utf8',
    timeout: READY_TIMEOUT_MS,
  })
  return versionIn(stdout)
}

const filledIn = (texts: Values, values: Values): Values =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fillPlaceholders(text, values)]))

/** Returns the name of the format whose base URL and model a format shares. */
const baseFormatNamed = (format: string): string => {
  const knownFormat = FORMATS[format]
  return knownFormat === undefined ? format : baseFormatOf(knownFormat)
}

/** Writes the files of a peer. If one cannot be written, removes the folder, because the files contain keys. */
function writeFiles(folder: string, templates: readonly (readonly [name: string, text: string])[], values: Values) {
  try {
    for (const [name, text] of templates) writeFileSync(join(folder, name), fillPlaceholders(text, values))
  } catch (fault) {
    rmSync(folder, { recursive: true, force: true })
    throw fault
  }
}

interface StartingPeer {
  readonly child: ChildProcess
  readonly output: () => string
  readonly signal: AbortSignal | undefined
}

async function waitUntilReady(url: string, health: string | undefined, { child, output, signal }: StartingPeer) {
  const deadline = performance.now() + READY_TIMEOUT_MS
  const empty = { method: 'GET', headers: {}, body: Buffer.alloc(0) }
  while (performance.now() < deadline) {
    if (signal?.aborted) throw new Error('the run was interrupted')
    const exit = child.exitCode ?? child.signalCode
    if (exit !== null) throw new Error(`The peer exited with ${exit}:\n${output()}`)
    const { got } = await send(
      { ...empty, url: `${url}${health ?? '/'}` },
      { total: 5000, idle: 5000, bytes: 1_000_000 },
    )
    if (got !== undefined && (health === undefined || got.status < 400)) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(`The peer was not ready after ${READY_TIMEOUT_MS} ms:\n${output()}`)
}

/** Sends a signal to a peer and to the processes that it started, such as the gateway that a shell runs. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The processes have ended.
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = new Promise(resolve => child.once('exit', resolve))
    signalGroup(child, 'SIGTERM')
    const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_TIMEOUT_MS)
    await exit
    clearTimeout(timer)
  }
  // A process of another group may still hold the pipes, which would keep this process alive.
  child.stdout?.destroy()
  child.stderr?.destroy()
}

/** The addresses of an upstream, as peers are configured with them. */
type Addresses = Pick<Upstream, 'root' | 'base' | 'origin'>

/** Opens the addresses that a peer's texts reference as `${origin.<format>}`, and returns them by placeholder. */
async function originsIn(texts: readonly string[], upstream: Addresses): Promise<Values> {
  const originFormats = texts.flatMap(text =>
    [...text.matchAll(/\$\{origin\.([a-z_.]+)\}/g)].map(([, format]) => format!),
  )
  const addresses = [...new Set(originFormats)].map(async format => [`origin.${format}`, await upstream.origin(format)])
  return Object.fromEntries(await Promise.all(addresses))
}

/**
 * Starts a peer in a separate folder and in front of an upstream.
 *
 * @param signal stops a peer that is not ready yet.
 */
export async function startPeer(
  peer: Peer,
  upstream: Addresses,
  specs: Specs = {},
  signal?: AbortSignal,
): Promise<RunningPeer> {
  const program = programOf(peer)
  const port = await freePort()
  const key = `kit-${randomBytes(12).toString('hex')}`
  const upstreamKey = `up-${key}`
  const names = [...Object.keys(FORMATS), ...Object.keys(SESSION_FORMATS)]
  const templates = Object.entries(peer.files).map(
    ([name, template]) => [name, readFileSync(join(peer.folder, template), 'utf8')] as const,
  )
  const headers = Object.values(peer.headers).flatMap(one => Object.values(one))
  const texts = [...templates.map(([, text]) => text), ...peer.start, ...Object.values(peer.env), ...headers]
  const usesUpstreamKey = texts.some(text => /\$\{upstream_key\}/.test(text))
  const bases = names.map(name => [`upstream.${name}`, upstream.base(name)])
  const versions = Object.entries({ ...DEFAULT_SPECS, ...specs }).map(([name, version]) => [`version.${name}`, version])
  const origins = await originsIn(texts, upstream)
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  const values: Values = {
    ...{ port: String(port), key, upstream_key: upstreamKey, folder, root: ROOT, node: process.execPath, program },
    ...{ upstream: upstream.root, ...Object.fromEntries([...bases, ...versions]) },
    ...origins,
  }
  writeFiles(folder, templates, values)
  const [command, ...args] = peer.start.map(text => fillPlaceholders(text, values))
  const options = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder, ...filledIn(peer.env, values) } }
  const child = spawn(command!, args, { ...options, detached: true })
  const killGroup = (): void => signalGroup(child, 'SIGKILL')
  child.once('exit', () => {
    killGroup()
    // Another process may get the same id later.
    process.off('exit', killGroup)
  })
  process.once('exit', killGroup)
  const secrets = secretsOf(
    peer,
    templates.map(([, text]) => text),
  )
  const clean = redactor(key, ...secrets)
  let output = ''
  const keep = (piece: Buffer): void => {
    output = (output + piece.toString('utf8')).slice(-MAX_OUTPUT_LENGTH)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  child.on('error', fault => keep(Buffer.from(fault.message)))
  const close = async (): Promise<void> => {
    await stop(child)
    process.off('exit', killGroup)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await waitUntilReady(`http://127.0.0.1:${port}`, peer.health, { child, output: () => clean(output), signal })
    const version = await versionOf(peer, values, options)
    const target: Target = {
      ...{ name: peer.title, peer: peer.name },
      ...(version === undefined ? {} : { version }),
      bases: Object.fromEntries(
        Object.entries(peer.callers).map(([format, path]) => [format, `http://127.0.0.1:${port}${path}`]),
      ),
      ...{ key, specs, secrets },
      ...(usesUpstreamKey ? { keys: { caller: key, upstream: upstreamKey } } : {}),
      model: (format = '') => peer.models[format] ?? `kit-${baseFormatNamed(format)}`,
      headers: format => filledIn(peer.headers[format] ?? peer.headers[baseFormatNamed(format)] ?? {}, values),
      ...(peer.lossHeader === undefined ? {} : { lossHeader: peer.lossHeader }),
      ...(peer.lossEvent === undefined ? {} : { lossEvent: peer.lossEvent }),
      translates: peer.translates,
      claims: (caller, upstream) => peer.upstreams[caller]?.includes(upstream) ?? false,
    }
    return { target, pid: child.pid!, output: () => clean(output), close }
  } catch (fault) {
    await close()
    throw fault
  }
}
