import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { DATA } from './data.ts'
import type { LossEvent } from './sockets/turn-caller.ts'

/** A gateway that the kit can start, described by a folder without code. Strings may have placeholders `${name}`. */
export interface Peer {
  readonly folder: string
  readonly name: string
  readonly title: string
  readonly home: string
  readonly about?: string
  /** True if the gateway translates between formats. */
  readonly translates: boolean
  /** Header in which the gateway reports losses, in lower case. */
  readonly lossHeader?: string
  /** Event in which the gateway reports losses on sockets, and the headers that enable it. */
  readonly lossEvent?: LossEvent
  /** Command that prints the version. */
  readonly version?: readonly string[]
  readonly start: readonly string[]
  readonly env: { readonly [name: string]: string }
  /** Files to write before the start: the name of a template in the peer's folder, by file name. */
  readonly files: { readonly [name: string]: string }
  /** Path that answers once the gateway is ready. Without it, the kit waits for an open port. */
  readonly health?: string
  /** Program outside this repository: the environment variable with its path, and how to install it. */
  readonly program?: { readonly env: string; readonly name: string; readonly get: string }
  /** Paths of base URLs, by format. */
  readonly callers: { readonly [format: string]: string }
  /** Names of models, by upstream format. The default is `kit-` and the format whose model it shares. */
  readonly models: { readonly [upstream: string]: string }
  /** Additional headers for callers, by the upstream's format or by the format whose model it shares. */
  readonly headers: { readonly [upstream: string]: { readonly [name: string]: string } }
  /** Upstream formats that the gateway claims to support, by caller format. The default is all formats of callers. */
  readonly upstreams: { readonly [caller: string]: readonly string[] }
}

interface PeerFile {
  readonly name: string
  readonly title?: string
  readonly home?: string
  readonly about?: string
  readonly translates?: boolean
  readonly loss_header?: string
  readonly loss_event?: LossEvent
  readonly version?: { readonly command: readonly string[] }
  readonly start: { readonly command: readonly string[]; readonly env?: Peer['env'] }
  readonly files?: Peer['files']
  readonly health?: string
  readonly program?: Peer['program']
  readonly callers: Peer['callers']
  readonly models?: Peer['models']
  readonly headers?: Peer['headers']
  /** A list applies to every caller. In an object, `*` applies to callers without an entry. */
  readonly upstreams?: readonly string[] | Peer['upstreams']
}

const isList = (value: object): value is readonly string[] => Array.isArray(value)

const PEERS_FOLDER = join(DATA, 'peers')

/** Returns the names of the peers that the kit ships with. */
export const peerNames = (): string[] => readdirSync(PEERS_FOLDER).sort()

/** Gives every caller without an entry the upstreams of `*`. */
function withRest(callers: Peer['callers'], { '*': rest, ...named }: Peer['upstreams']): Peer['upstreams'] {
  return rest === undefined
    ? named
    : { ...Object.fromEntries(Object.keys(callers).map(name => [name, rest])), ...named }
}

const claimedBy = (callers: Peer['callers'], claimed: NonNullable<PeerFile['upstreams']>): Peer['upstreams'] =>
  isList(claimed)
    ? Object.fromEntries(Object.keys(callers).map(caller => [caller, claimed]))
    : withRest(callers, claimed)

/** Upstream formats that the gateway claims to support for any caller. */
export const upstreamsOf = ({ upstreams }: Peer): ReadonlySet<string> => new Set(Object.values(upstreams).flat())

/**
 * Reads a peer, given the name of one of the kit's folders or the path of another folder. Throws if it does not exist.
 */
export function readPeer(nameOrFolder: string): Peer {
  const bundled = join(PEERS_FOLDER, nameOrFolder)
  const folder = existsSync(join(bundled, 'peer.yaml')) ? bundled : resolve(nameOrFolder)
  const file = join(folder, 'peer.yaml')
  if (!existsSync(file)) throw new Error(`no peer ${nameOrFolder}; the kit has ${peerNames().join(', ')}`)
  const written = parse(readFileSync(file, 'utf8')) as PeerFile
  for (const [field, value] of [
    ['name', written?.name],
    ['start.command', written?.start?.command],
    ['callers', written?.callers],
  ] as const)
    if (value == null) throw new Error(`${file}: ${field} is missing`)
  const { name, title = name, home = '', about, translates = true, health, program, callers } = written
  const { models = {}, headers = {}, files = {} } = written
  return {
    ...{ folder, name, title, home, translates, callers, models, headers, files },
    ...(about === undefined ? {} : { about }),
    ...(written.loss_header === undefined ? {} : { lossHeader: written.loss_header }),
    ...(written.loss_event === undefined ? {} : { lossEvent: written.loss_event }),
    ...(written.version === undefined ? {} : { version: written.version.command }),
    start: written.start.command,
    env: written.start.env ?? {},
    ...(health === undefined ? {} : { health }),
    ...(program === undefined ? {} : { program }),
    upstreams: claimedBy(callers, written.upstreams ?? Object.keys(callers)),
  }
}

export type Values = { readonly [name: string]: string }

/** Fills in placeholders. Keeps unknown ones, because a peer may use the same syntax itself. */
export const fillPlaceholders = (text: string, values: Values): string =>
  text.replace(/\$\{([a-z_.]+)\}/g, (whole, name: string) => values[name] ?? whole)
