import * as v from 'valibot'
import { append } from '../canonical/lists.ts'
import type { Path } from '../canonical/loss.ts'
import { ADDRESS_PARTS } from './channel.ts'
import { ConfigError, type Fault, pathText } from './faults.ts'
import { CONFIG_SCHEMA } from './index.ts'
import { faultsOf, type PathFault } from './issues.ts'
import { salvage } from './salvage.ts'
import { readSource } from './source.ts'
import type { Config } from './types.ts'
import type { Env } from './variable.ts'
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
  const explained = new ExplainedFaults(found, value)
  for (const { path, message } of others) {
    const source = [...sourceOf(path)]
    if (explained.has(source)) continue
    found.push({ path: source, message })
    explained.add(source)
  }
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
 * Faults that other faults explain. The other fault is at the same path, at a parent, in the group that a key names, or
 * at the address for which an address part is missing.
 */
class ExplainedFaults {
  private readonly paths = new Set<string>()
  /** Channels with a fault in their address. */
  private readonly channels = new Set<string>()
  private readonly value: unknown

  constructor(faults: readonly PathFault[], value: unknown) {
    this.value = value
    for (const { path } of faults) this.add(path)
  }

  add(path: Path): void {
    this.paths.add(JSON.stringify(path))
    if (path[0] === 'channels' && path[2] === 'base_url') this.channels.add(String(path[1]))
  }

  has(path: Path): boolean {
    const group = path[0] === 'keys' && path[2] === 'group' ? groupOf(this.value, path[1] as number) : undefined
    return (
      this.hasWithin(path) ||
      (group !== undefined && this.hasWithin(['groups', group])) ||
      (isAddressPart(path) && this.channels.has(String(path[1])))
    )
  }

  /** Returns true for a path that has a fault, or is inside a value that has one. */
  private hasWithin(path: Path): boolean {
    return [...path.keys(), path.length].some(length => this.paths.has(JSON.stringify(path.slice(0, length))))
  }
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
