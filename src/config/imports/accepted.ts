import { isDeepStrictEqual } from 'node:util'
import { stringify } from 'yaml'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { ConfigError, type Fault } from '../faults.ts'
import { readConfig } from '../read.ts'
import type { Note } from './note.ts'

/** A config without the values that `check` refuses, and a note for each removed value. */
export interface AcceptedConfig {
  readonly config: JsonObject
  readonly notes: readonly Note[]
}

/**
 * Removes values that `check` refuses. Another gateway's file may contain any value, and some gateways accept
 * meaningless values. Values that depend on the environment or on files are not removed, because those may be missing
 * only on this machine.
 */
export function withoutRefusedValues(config: JsonObject): AcceptedConfig {
  const notes: Note[] = []
  const remaining = structuredClone(config)
  for (let fault = firstFault(remaining); fault !== undefined; fault = firstFault(remaining)) {
    const before = structuredClone(remaining)
    remove(remaining, fault.path)
    if (isDeepStrictEqual(remaining, before)) break
    notes.push({ path: fault.path, text: `left out, because it ${fault.message}` })
  }
  return { config: remaining, notes }
}

/** Placeholder value of every variable during the check. */
const PLACEHOLDER = 'https://variable.example.org'
const environment = (): NodeJS.ProcessEnv => new Proxy({}, { get: () => PLACEHOLDER })

function firstFault(config: JsonObject): Fault | undefined {
  try {
    readConfig(stringify(config), environment())
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    return thrown.faults.find(({ path }) => path !== '' && !dependsOnPlace(valueAt(config, path), path))
  }
}

const dependsOnPlace = (value: unknown, path: string): boolean =>
  path.endsWith('.file') || (typeof value === 'string' && value.includes('${'))

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
    const keys: (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
    // Names may contain dots, so the longest matching name is used.
    const matchingKeys = keys.filter(key => stepsTo(rest, key)).sort((a, b) => String(b).length - String(a).length)
    const [key] = matchingKeys
    if (key === undefined) break
    positions.push({ container: value as JsonObject, key })
    value = (value as JsonObject)[key]
    rest = rest.slice(typeof key === 'number' ? `[${key}]`.length : key.length).replace(/^\./, '')
  }
  return positions
}

const stepsTo = (path: string, key: string | number): boolean => {
  const step = typeof key === 'number' ? `[${key}]` : key
  return path === step || path.startsWith(`${step}.`) || path.startsWith(`${step}[`)
}

function valueAt(config: JsonObject, path: string): unknown {
  const position = positionsOf(config, path).at(-1)
  return position === undefined ? undefined : (position.container as JsonObject)[position.key]
}

/** Removes the innermost existing value at a path. If a channel lacks a required field, this removes the channel. */
function remove(config: JsonObject, path: string): void {
  const position = positionsOf(config, path).at(-1)
  if (position === undefined) return
  const { container, key } = position
  if (Array.isArray(container)) container.splice(Number(key), 1)
  else delete (container as { [field: string]: unknown })[key]
}
