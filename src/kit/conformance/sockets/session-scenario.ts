import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { DATA } from '../data.ts'
import type { JsonObject } from '../json.ts'
import type { Difference } from '../scenario.ts'
import type { Closing } from './frame.ts'

/* Scenarios of sessions: for each format, a script of frames as JSON lines. */

export type Side = 'client' | 'server'

/** One line of a script: a side sends a frame or closes the connection. */
export type Line =
  | { readonly side: Side; readonly frame: JsonObject }
  | { readonly side: Side; readonly close: Closing }

export interface SessionScenario {
  readonly id: string
  readonly title: string
  /** Consequence of a failure. */
  readonly why: string
  readonly differences: readonly Difference[]
  /** Settings of the client secret that opens the session, and its lifetime in seconds. */
  readonly secret?: { readonly session: JsonObject; readonly seconds: number }
  readonly scripts: { readonly [format: string]: readonly Line[] }
}

interface ScriptLine {
  readonly client?: JsonObject
  readonly server?: JsonObject
  readonly close?: { readonly by: Side } & Closing
}

function lineOf(text: string): Line {
  const { client, server, close } = JSON.parse(text) as ScriptLine
  if (close !== undefined) return { side: close.by, close: { code: close.code, reason: close.reason } }
  return client === undefined ? { side: 'server', frame: server! } : { side: 'client', frame: client }
}

const SESSIONS_FOLDER = join(DATA, 'sessions')

/** Reads a scenario from its folder: `session.yaml`, and `FORMAT.jsonl` for each format. */
export function readSession(id: string, home = SESSIONS_FOLDER): SessionScenario {
  const folder = join(home, id)
  const described = parse(readFileSync(join(folder, 'session.yaml'), 'utf8')) as Omit<SessionScenario, 'id' | 'scripts'>
  const names = readdirSync(folder).flatMap(name => /^(.+)\.jsonl$/.exec(name)?.[1] ?? [])
  const scriptOf = (format: string): Line[] =>
    readFileSync(join(folder, `${format}.jsonl`), 'utf8')
      .trim()
      .split('\n')
      .map(lineOf)
  return {
    ...{ id, title: described.title, why: described.why, differences: described.differences ?? [] },
    ...(described.secret === undefined ? {} : { secret: described.secret }),
    scripts: Object.fromEntries(names.sort().map(name => [name, scriptOf(name)])),
  }
}

/** Reads all scenarios of sessions, sorted by name. */
export const readSessions = (home = SESSIONS_FOLDER): SessionScenario[] =>
  existsSync(home)
    ? readdirSync(home)
        .sort()
        .map(id => readSession(id, home))
    : []
