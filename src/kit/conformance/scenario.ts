import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { DATA } from './data.ts'
import type { Work } from './format.ts'
import { type Wires, wiresIn } from './scenario-files.ts'

/** How a scenario is asked: whole answers, streamed ones. */
export type Mode = 'whole' | 'stream'

/** A fact that some formats cannot say, or have other words for. */
export interface Difference {
  /** A path of facts, `*` for any run of characters; begins with `request.` or `answer.`. */
  readonly fact: string
  readonly formats: readonly string[]
  /** Whether the formats say it in another way, instead of not at all. */
  readonly other?: boolean
  readonly why: string
}

/**
 * Statuses that a target may answer with instead of the upstream's error, because the fault is its own; 200 if it can
 * do the work itself.
 */
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
  readonly work: Work
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
  /** Whether a target may answer without asking its upstream, as it may with a list of its own models. */
  readonly local: boolean
  /** The first step. */
  readonly wires: Wires
  /** The steps after the first: the same caller goes on, as one who submits a job and then asks for its state. */
  readonly later: readonly Wires[]
}

const HOME = join(DATA, 'scenarios')

interface Described {
  readonly work?: Work
  readonly title: string
  readonly why: string
  readonly modes?: readonly Mode[]
  readonly differences?: readonly Difference[]
  readonly instead?: Instead
  readonly upstream?: UpstreamBehaviour
  readonly caller?: CallerBehaviour
  readonly breaks?: boolean
  readonly local?: boolean
}

/** Works whose answers are streamed, where a scenario does not say otherwise. */
const STREAMED: readonly Work[] = ['conversation', 'completion']

/** Reads one scenario's folder: `scenario.yaml` and the files of its formats. */
export function readScenario(id: string, home = HOME): Scenario {
  const folder = join(home, id)
  const described = parse(readFileSync(join(folder, 'scenario.yaml'), 'utf8')) as Described
  const { work = 'conversation' } = described
  const [wires = {}, ...later] = wiresIn(folder)
  return {
    id,
    work,
    title: described.title,
    why: described.why,
    modes: described.modes ?? (STREAMED.includes(work) ? ['whole', 'stream'] : ['whole']),
    differences: described.differences ?? [],
    ...(described.instead === undefined ? {} : { instead: described.instead }),
    upstream: described.upstream ?? {},
    caller: described.caller ?? {},
    breaks: described.breaks ?? false,
    local: described.local ?? false,
    wires,
    later,
  }
}

/** A scenario of each step. */
export const stepsOf = (scenario: Scenario): Scenario[] =>
  [scenario.wires, ...scenario.later].map(wires => ({ ...scenario, wires, later: [] }))

/** All scenarios, by name. */
export const readScenarios = (home = HOME): Scenario[] =>
  readdirSync(home, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => readScenario(entry.name, home))
    .sort((a, b) => (a.id < b.id ? -1 : 1))

/** Whether a live target can run the scenario: it cannot be made to return errors, to break off or to pause. */
export const runsLive = ({ wires, upstream, breaks }: Scenario): boolean =>
  !breaks && Object.keys(upstream).length === 0 && Object.values(wires).every(({ error }) => error === undefined)
