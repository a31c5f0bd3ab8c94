import * as v from 'valibot'
import { append } from '../canonical/lists.ts'
import type { Path } from '../canonical/loss.ts'
import { ADDRESS_PARTS } from './channel.ts'
import { ConfigError, type Fault, pathText } from './faults.ts'
import { CONFIG_SCHEMA } from './index.ts'
import { faultsOf, type PathFault } from './issues.ts'
import { salvage } from './salvage.ts'
import { type Env, readSource } from './source.ts'
import type { Config } from './types.ts'
import { withDefaults } from './with-defaults.ts'

/**
 * Reads a config from YAML or JSON, replacing `${NAME}` and `${NAME:-default}` in text values.
 *
 * @param file the name of the file, for error messages.
 * @throws ConfigError that lists every fault with its line.
 */
export function readConfig(written: string, env: Env = process.env, file = 'interlingua.yaml'): Config {
  const source = readSource(written, env)
  const faults = [...source.faults]
  const value = source.value ?? {}
  const parsed = v.safeParse(CONFIG_SCHEMA, value)
  const isUnset = (path: Path): boolean => source.unset.some(unset => isWithin(path, unset))
  const found: PathFault[] = faultsOf(parsed.issues)
  const { written: usable, sourceOf } = parsed.success
    ? { written: parsed.output, sourceOf: (path: Path) => path }
    : salvage(
        value,
        found.map(({ path }) => path),
      )
  const { config, faults: others } = withDefaults(usable, env)
  for (const { path, message } of others)
    if (!isExplained(sourceOf(path), found, value)) found.push({ path: [...sourceOf(path)], message })
  append(
    faults,
    found
      .filter(({ path }) => !isUnset(path))
      .map(({ path, message }) => ({
        ...{ path: pathText(path), line: source.lineOf(path) },
        message: source.withoutValues(message),
      })),
  )
  if (faults.length === 0) return config
  throw new ConfigError(sortedByLine(faults), file)
}

/**
 * Returns true if another fault already explains the fault at a path. That other fault is at the same path, at a
 * parent, in the group that a key names, or at the address for which an address part is missing.
 */
function isExplained(path: Path, by: readonly { readonly path: Path }[], value: unknown): boolean {
  const group = path[0] === 'keys' && path[2] === 'group' ? groupOf(value, path[1] as number) : undefined
  return by.some(
    other =>
      isWithin(path, other.path) ||
      (group !== undefined && other.path.length < 3 && isWithin(['groups', group], other.path)) ||
      (isAddressPart(path) && other.path.length > 2 && isWithin(other.path, [...path.slice(0, 2), 'base_url'])),
  )
}

const isWithin = (path: Path, outer: Path): boolean => outer.every((step, index) => step === path[index])

/** Returns true for the path of an address part, which a channel with its own address does not need. */
const isAddressPart = ([section, , field]: Path): boolean => section === 'channels' && ADDRESS_PARTS.has(String(field))

const groupOf = (value: unknown, key: number): string =>
  String((value as { readonly keys: readonly { readonly group?: unknown }[] }).keys[key]?.group)

/**
 * Returns the config used without a config file: one channel for every provider whose usual API key variable is set.
 */
export function defaultConfig(env: Env = process.env): Config {
  return withDefaults({}, env).config
}

const sortedByLine = (faults: readonly Fault[]): Fault[] => [...faults].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
