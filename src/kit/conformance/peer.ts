import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { DATA } from './data.ts'
import type { LossEvent } from './sockets/turn-caller.ts'

/** A gateway that the kit can start. Its folder describes it without code. Strings may have placeholders `${name}`. */
export interface Peer {
  readonly folder: string
  readonly name: string
  readonly title: string
  readonly home: string
  readonly about?: string
  /** Whether the gateway translates between formats. */
  readonly translates: boolean
  /** Header in which the gateway reports losses, in lower case. */
  readonly lossHeader?: string
  /** Event in which the gateway reports losses on sockets, and the headers that request it. */
  readonly lossEvent?: LossEvent
  /** Command that prints the version. */
  readonly version?: readonly string[]
  readonly start: readonly string[]
  readonly env: { readonly [name: string]: string }
  /** Files to write before the start, by name. The values are the names of templates in the peer's folder. */
  readonly files: { readonly [name: string]: string }
  /** Path that answers once the gateway is ready. Without a path, an open port is enough. */
  readonly health?: string
  /** Program from outside this repository: the environment variable that names it, and how to get it. */
  readonly program?: { readonly env: string; readonly name: string; readonly get: string }
  /** Paths of base URLs, by format. */
  readonly callers: { readonly [format: string]: string }
  /** Names of models, by the format of the upstream (default: `kit-` and the format that it shares its model with). */
  readonly models: { readonly [upstream: string]: string }
  /** Headers that callers send beside their own, by the format of the upstream or the one it shares its model with. */
  readonly headers: { readonly [upstream: string]: { readonly [name: string]: string } }
  /** Formats of upstreams that it claims, by the caller's format (default: all that callers have). */
  readonly upstreams: { readonly [caller: string]: readonly string[] }
}

interface Written {
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
  /** A list is claimed for every caller. In an object, `*` stands for the callers that it does not name. */
  readonly upstreams?: readonly string[] | Peer['upstreams']
}

const isList = (value: object): value is readonly string[] => Array.isArray(value)

const HOME = join(DATA, 'peers')

/** Returns the names of the peers that come with the kit. */
export const peerNames = (): string[] => readdirSync(HOME).sort()

/** An object of claims with those of `*` for each caller that it does not name. */
function withRest(callers: Peer['callers'], { '*': rest, ...named }: Peer['upstreams']): Peer['upstreams'] {
  return rest === undefined
    ? named
    : { ...Object.fromEntries(Object.keys(callers).map(name => [name, rest])), ...named }
}

const claimedBy = (callers: Peer['callers'], claimed: NonNullable<Written['upstreams']>): Peer['upstreams'] =>
  isList(claimed)
    ? Object.fromEntries(Object.keys(callers).map(caller => [caller, claimed]))
    : withRest(callers, claimed)

/** Formats of upstreams that it claims for any caller. */
export const upstreamsOf = ({ upstreams }: Peer): ReadonlySet<string> => new Set(Object.values(upstreams).flat())

/** Reads a peer by the name of a folder of the kit, or by the path of any other. Throws where there is none. */
export function readPeer(nameOrFolder: string): Peer {
  const own = join(HOME, nameOrFolder)
  const folder = existsSync(join(own, 'peer.yaml')) ? own : resolve(nameOrFolder)
  const file = join(folder, 'peer.yaml')
  if (!existsSync(file)) throw new Error(`no peer ${nameOrFolder}; the kit has ${peerNames().join(', ')}`)
  const written = parse(readFileSync(file, 'utf8')) as Written
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

/** Returns a string with its placeholders filled in. Unknown ones stay, because a peer may have its own. */
export const filled = (text: string, values: Values): string =>
  text.replace(/\$\{([a-z_.]+)\}/g, (whole, name: string) => values[name] ?? whole)
