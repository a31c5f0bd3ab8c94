import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { DATA } from './data.ts'
import type { Headers } from './format.ts'
import type { JsonObject } from './json.ts'

/** How a scenario is asked: whole answers, streamed ones. */
export type Mode = 'whole' | 'stream'

/** The hand-written bytes of a scenario in one format. */
export interface Wire {
  readonly request: JsonObject
  /** Bytes of a whole answer, and of a streamed one. */
  readonly whole?: Buffer
  readonly stream?: Buffer
  readonly error?: { readonly status: number; readonly headers: Headers; readonly body: JsonObject }
}

/** A fact that some formats cannot say. */
export interface Difference {
  /** A path of facts, `*` for any run of characters; begins with `request.` or `answer.`. */
  readonly fact: string
  readonly formats: readonly string[]
  readonly why: string
}

/** Statuses that a target may answer with instead of the upstream's error, because the fault is its own. */
export interface Instead {
  readonly statuses: readonly number[]
  readonly why: string
}

/** The behaviour of the kit's upstream beside the bytes of its answers. */
export interface UpstreamBehaviour {
  /** Share of an answer's bytes after which the connection is cut. */
  readonly cut_at?: number
  /** Share of an answer's bytes after which the upstream is silent for `pause`. */
  readonly pause_at?: number
  /** ms; length of the silence. It ends early if the connection is closed. */
  readonly pause?: number
  /** ms between two events of a stream. */
  readonly pace?: number
}

/** The behaviour of the kit's caller. */
export interface CallerBehaviour {
  /** ms after which the caller closes its connection. */
  readonly leaves_after?: number
  /** ms for which the caller does not read, after every chunk. */
  readonly reads_every?: number
}

export interface Scenario {
  readonly id: string
  readonly title: string
  /** The consequence of a failure, with the URL of a known real case. */
  readonly why: string
  readonly modes: readonly Mode[]
  readonly differences: readonly Difference[]
  readonly instead?: Instead
  readonly upstream: UpstreamBehaviour
  readonly caller: CallerBehaviour
  /** Whether the answer breaks off: by a cut connection, or by an error within a stream. */
  readonly breaks: boolean
  readonly wires: { readonly [format: string]: Wire }
}

const HOME = join(DATA, 'scenarios')

const jsonAt = (file: string): JsonObject | undefined =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as JsonObject) : undefined

const bytesAt = (file: string): Buffer | undefined => (existsSync(file) ? readFileSync(file) : undefined)

function wireOf(folder: string, format: string): Wire {
  const at = (rest: string): string => join(folder, `${format}.${rest}`)
  const whole = bytesAt(at('answer.json'))
  const stream = bytesAt(at('answer.sse'))
  const error = jsonAt(at('error.json')) as Wire['error']
  return {
    request: jsonAt(at('request.json'))!,
    ...(whole === undefined ? {} : { whole }),
    ...(stream === undefined ? {} : { stream }),
    ...(error === undefined ? {} : { error }),
  }
}

interface Described {
  readonly title: string
  readonly why: string
  readonly modes?: readonly Mode[]
  readonly differences?: readonly Difference[]
  readonly instead?: Instead
  readonly upstream?: UpstreamBehaviour
  readonly caller?: CallerBehaviour
  readonly breaks?: boolean
}

/** Reads one scenario's folder: `scenario.yaml` and the files of its formats. */
export function readScenario(id: string, home = HOME): Scenario {
  const folder = join(home, id)
  const described = parse(readFileSync(join(folder, 'scenario.yaml'), 'utf8')) as Described
  const formats = readdirSync(folder).flatMap(name => /^([a-z]+)\.request\.json$/.exec(name)?.[1] ?? [])
  return {
    id,
    title: described.title,
    why: described.why,
    modes: described.modes ?? ['whole', 'stream'],
    differences: described.differences ?? [],
    ...(described.instead === undefined ? {} : { instead: described.instead }),
    upstream: described.upstream ?? {},
    caller: described.caller ?? {},
    breaks: described.breaks ?? false,
    wires: Object.fromEntries(formats.sort().map(format => [format, wireOf(folder, format)])),
  }
}

/** All scenarios, by name. */
export const readScenarios = (home = HOME): Scenario[] =>
  readdirSync(home, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => readScenario(entry.name, home))
    .sort((a, b) => (a.id < b.id ? -1 : 1))

/** Whether a live target can run the scenario: it cannot be made to return errors, to break off or to pause. */
export const runsLive = ({ wires, upstream, breaks }: Scenario): boolean =>
  !breaks && Object.keys(upstream).length === 0 && Object.values(wires).every(({ error }) => error === undefined)
