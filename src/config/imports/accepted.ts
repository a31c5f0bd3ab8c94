import { stringify } from 'yaml'
import { append } from '../../canonical/lists.ts'
import { getOrAdd } from '../../canonical/maps.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { ConfigError, type Fault } from '../faults.ts'
import { readConfig } from '../read.ts'
import { hasVariable } from './literal-texts.ts'
import type { Note } from './note.ts'

/** A config without the values that `check` refuses, and a note for each removed value. */
export interface AcceptedConfig {
  readonly config: JsonObject
  readonly notes: readonly Note[]
}

/**
 * Removes values that `check` refuses. Another gateway's file may contain any value, and some gateways accept
 * meaningless values. Values that depend on the environment or on files are not removed, because those may be missing
 * only on this machine. Each check removes all values that it refuses, because a check takes as long as the config.
 */
export function withoutRefusedValues(config: JsonObject): AcceptedConfig {
  const notes: Note[] = []
  const remaining = structuredClone(config)
  for (;;) {
    const removed = removeAll(remaining, refusedValues(remaining))
    if (removed.length === 0) return { config: remaining, notes }
    append(
      notes,
      removed.map(({ path, message }) => ({ path, text: `left out${withChannel(path)}, because it ${message}` })),
    )
  }
}

/** Matches the path of a field that decides where a channel's requests go, or with which credential. */
const DESTINATION = /^(channels\[\d+\])\.(?:key|keys|auth(?:\..+)?|base_url|region|project|resource)$/

const withChannel = (path: string): string => (DESTINATION.test(path) ? ' with its channel' : '')

/**
 * Returns the path of the value that a fault removes. A refused key or address is removed with its channel, which would
 * otherwise use those of the environment or the provider: requests would reach another account or another host.
 */
const removedPath = (path: string): string => DESTINATION.exec(path)?.[1] ?? path

/** Placeholder value of every variable during the check. */
const PLACEHOLDER = 'https://variable.example.org'
const environment = (): NodeJS.ProcessEnv => new Proxy({}, { get: () => PLACEHOLDER })

function refusedValues(config: JsonObject): readonly Fault[] {
  try {
    readConfig(stringify(config, { aliasDuplicateObjects: false }), environment())
    return []
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    return thrown.faults.filter(({ path }) => path !== '' && !dependsOnPlace(valueAt(config, path), path))
  }
}

const dependsOnPlace = (value: unknown, path: string): boolean =>
  path.endsWith('.file') || (typeof value === 'string' && hasVariable(value))

/** Position of a value in a config: its container and its key in the container. */
interface Position {
  readonly container: JsonObject | unknown[]
  readonly key: string | number
}

/** Returns the positions along a path such as `channels[0].key`, starting with the outermost, as far as they exist. */
function positionsOf(config: JsonObject, path: string): readonly Position[] {
  const positions: Position[] = []
  let value: unknown = config
  let rest = path
  while (rest !== '') {
    if (!isObject(value) && !Array.isArray(value)) break
    const key = Array.isArray(value) ? indexIn(value, rest) : nameIn(value, rest)
    if (key === undefined) break
    positions.push({ container: value as JsonObject, key })
    value = (value as JsonObject)[key]
    rest = rest.slice(typeof key === 'number' ? `[${key}]`.length : key.length).replace(/^\./, '')
  }
  return positions
}

/** Returns the index at the beginning of a path, if the list has it. */
function indexIn(list: readonly unknown[], path: string): number | undefined {
  const index = /^\[(\d{1,9})\]/.exec(path)?.[1]
  return index !== undefined && Number(index) < list.length ? Number(index) : undefined
}

/** Returns the longest name in the map that begins a path, because names may contain dots. */
function nameIn(map: JsonObject, path: string): string | undefined {
  let longest: string | undefined
  for (const name of Object.keys(map)) {
    const isLonger = longest === undefined || name.length > longest.length
    if (isLonger && path.startsWith(name) && ['', '.', '['].includes(path.charAt(name.length))) longest = name
  }
  return longest
}

function valueAt(config: JsonObject, path: string): unknown {
  const position = positionsOf(config, path).at(-1)
  return position === undefined ? undefined : (position.container as JsonObject)[position.key]
}

/**
 * Removes the innermost existing value at the path that each fault removes. If a channel lacks a required field, this
 * removes the channel. Returns the faults whose values were removed, without those inside other removed values.
 */
function removeAll(config: JsonObject, faults: readonly Fault[]): readonly Fault[] {
  const found = faults.map(fault => ({ fault, positions: positionsOf(config, removedPath(fault.path)) }))
  const removed = new Map<object, Set<string | number>>()
  for (const { positions } of found) {
    const last = positions.at(-1)
    if (last !== undefined) getOrAdd(removed, last.container, () => new Set<string | number>()).add(last.key)
  }
  const isRemoved = ({ container, key }: Position): boolean => removed.get(container)?.has(key) === true
  const reported = found.filter(({ positions }) => positions.length > 0 && !positions.slice(0, -1).some(isRemoved))
  for (const [container, keys] of removed) removeKeys(container as Position['container'], keys)
  return reported.map(({ fault }) => fault)
}

function removeKeys(container: Position['container'], keys: ReadonlySet<string | number>): void {
  if (Array.isArray(container))
    append(
      container,
      container.splice(0).filter((_, index) => !keys.has(index)),
    )
  else for (const key of keys) delete (container as { [field: string]: unknown })[key]
}
