import * as v from 'valibot'
import { append } from '../canonical/lists.ts'
import { complete } from './complete.ts'
import { ConfigError, type Fault, pathText } from './faults.ts'
import { CONFIG_SCHEMA } from './index.ts'
import { type Env, readSource } from './source.ts'
import type { Config } from './types.ts'

/**
 * Reads a config file: YAML or JSON, with `${NAME}` and `${NAME:-default}` in its text values.
 *
 * @param file how its faults name it.
 * @throws ConfigError listing every fault with its line.
 */
export function readConfig(written: string, env: Env = process.env, file = 'interlingua.yaml'): Config {
  const source = readSource(written, env)
  const faults = [...source.faults]
  const value = source.value ?? {}
  if (Array.isArray(value))
    throw new ConfigError([{ path: '', message: 'expected a map, found a list', line: 1 }], file)
  const parsed = v.safeParse(CONFIG_SCHEMA, value)
  for (const issue of (parsed.issues ?? []).flatMap(precise)) {
    const path = (issue.path ?? []).map(step => step.key as string | number)
    faults.push({ path: pathText(path), message: issue.message, line: source.lineOf(path) })
  }
  if (parsed.success) {
    const done = complete(parsed.output, env)
    append(
      faults,
      done.faults.map(({ path, message }) => ({ path: pathText(path), message, line: source.lineOf(path) })),
    )
    if (faults.length === 0) return done.config
  }
  throw new ConfigError(inOrder(faults), file)
}

/** The config of a gateway nobody configured: a channel for every provider whose usual key is in the environment. */
export function defaultConfig(env: Env = process.env): Config {
  return complete({}, env).config
}

/** What is wrong inside the alternative of a union that was meant, instead of the union as a whole. */
function precise(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown>[] {
  const depth = issue.path?.length ?? 0
  const list = Array.isArray(issue.input)
  const inner = (issue.type === 'union' ? (issue.issues ?? []) : []).filter(
    one => one.path !== undefined && (one.path[0].type === 'array') === list,
  )
  if (inner.length === 0) return [issue]
  return inner.map(one => ({ ...one, path: [...(issue.path ?? []).slice(0, depth), ...one.path!] }) as typeof issue)
}

const inOrder = (faults: readonly Fault[]): Fault[] => [...faults].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
