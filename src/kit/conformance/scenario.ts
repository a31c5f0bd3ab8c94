import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { DATA } from './data.ts'
import type { Work } from './format.ts'
import type { Texts } from './long-texts.ts'
import { type Wires, wiresIn } from './scenario-files.ts'

/** Mode of a scenario: whole answers or streamed ones. */
export type Mode = 'whole' | 'stream'

/** A fact that some formats cannot say, or have other words for. */
export interface Difference {
  /** Path of facts, with `*` for any characters. Begins with `request.` or `answer.`. */
  readonly fact: string
  readonly formats: readonly string[]
  /** Whether the formats say it in another way, instead of not at all. */
  readonly other?: boolean
  /** Fact of the answer that shows that the target itself did what the request says. */
  readonly shown_by?: string
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

/** Behaviour of the kit's upstream apart from the bytes of its answers. */
export interface UpstreamBehaviour {
  /** Share of an answer's bytes after which the connection is cut. */
  readonly cut_at?: number
  /** Share of an answer's bytes after which the upstream is silent for `pause`. */
  readonly pause_at?: number
  /** Length of the silence, in milliseconds. It ends early if the connection is closed. */
  readonly pause?: number
  /** Interval between two events of a stream, in milliseconds. */
  readonly pace?: number
}

/** Behaviour of the kit's caller. */
export interface CallerBehaviour {
  /** Time after which the caller closes its connection, in milliseconds. */
  readonly leaves_after?: number
  /** Time for which the caller does not read after every chunk, in milliseconds. */
  readonly reads_every?: number
}

export interface Scenario {
  readonly id: string
  readonly work: Work
  readonly title: string
  /** Consequence of a failure, with the URL of a known real case. */
  readonly why: string
  readonly modes: readonly Mode[]
  /** Formats whose callers can say what the scenario is about; the others are formats of upstreams. All by default. */
  readonly callers?: readonly string[]
  readonly differences: readonly Difference[]
  readonly instead?: Instead
  readonly upstream: UpstreamBehaviour
  readonly caller: CallerBehaviour
  /** Whether the answer breaks off: by a cut connection, or by an error within a stream. */
  readonly breaks: boolean
  /** Versions, by format, whose requests should be refused because of what this one has. */
  readonly refusedBy: { readonly [format: string]: string }
  /**
   * Whether a target may answer without asking its upstream, as it may with a list of its own models; or the numbers of
   * the steps that it may answer so, from 1.
   */
  readonly local: boolean | readonly number[]
  /** The first step. */
  readonly wires: Wires
  /** Steps after the first, by the same caller. One submits a job and then requests its state. */
  readonly later: readonly Wires[]
  /** The steps before this one, in a scenario of one step that was taken from several. */
  readonly earlier: readonly Wires[]
}

const HOME = join(DATA, 'scenarios')

interface Described {
  readonly work?: Work
  readonly title: string
  readonly why: string
  readonly modes?: readonly Mode[]
  readonly callers?: readonly string[]
  readonly texts?: Texts
  readonly differences?: readonly Difference[]
  readonly instead?: Instead
  readonly upstream?: UpstreamBehaviour
  readonly caller?: CallerBehaviour
  readonly breaks?: boolean
  readonly refused_by?: { readonly [format: string]: string }
  readonly local?: boolean | readonly number[]
}

/** Works whose answers are streamed, unless a scenario states otherwise. */
const STREAMED: readonly Work[] = ['conversation', 'completion']

/** Reads the folder of one scenario: `scenario.yaml` and the files of its formats. */
export function readScenario(id: string, home = HOME): Scenario {
  const folder = join(home, id)
  const described = parse(readFileSync(join(folder, 'scenario.yaml'), 'utf8')) as Described
  const { work = 'conversation' } = described
  const [wires = {}, ...later] = wiresIn(folder, described.texts)
  return {
    id,
    work,
    title: described.title,
    why: described.why,
    modes: described.modes ?? (STREAMED.includes(work) ? ['whole', 'stream'] : ['whole']),
    differences: described.differences ?? [],
    ...(described.callers === undefined ? {} : { callers: described.callers }),
    ...(described.instead === undefined ? {} : { instead: described.instead }),
    upstream: described.upstream ?? {},
    caller: described.caller ?? {},
    breaks: described.breaks ?? false,
    refusedBy: described.refused_by ?? {},
    local: described.local ?? false,
    wires,
    later,
    earlier: [],
  }
}

/** A scenario of each step. */
export const stepsOf = (scenario: Scenario): Scenario[] => {
  const { wires: first, later, local } = scenario
  const steps = [first, ...later]
  return steps.map((wires, index) => ({
    ...{ ...scenario, wires, later: [], earlier: steps.slice(0, index) },
    local: typeof local === 'boolean' ? local : local.includes(index + 1),
  }))
}

/** Reads all scenarios, sorted by name. */
export const readScenarios = (home = HOME): Scenario[] =>
  readdirSync(home, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => readScenario(entry.name, home))
    .sort((a, b) => (a.id < b.id ? -1 : 1))

/**
 * Whether a live target can run the scenario: it cannot be made to return errors, to break off or to pause, and its jobs
 * take minutes.
 */
export const runsLive = ({ wires, later, upstream, breaks }: Scenario): boolean => {
  const all = [wires, ...later].flatMap(one => Object.values(one))
  const isPlayed = all.some(({ error, request }) => error !== undefined || request.until !== undefined)
  return !breaks && Object.keys(upstream).length === 0 && !isPlayed
}
