import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { DATA } from './data.ts'
import type { Work } from './format.ts'
import type { Texts } from './long-texts.ts'
import { type Wires, wiresIn } from './scenario-files.ts'

/** Mode of a scenario: whole answers or streamed ones. */
export type Mode = 'whole' | 'stream'

/** A fact that some formats cannot express, or express in other words. */
export interface Difference {
  /** Path pattern of facts, in which `*` matches any characters. Starts with `request.` or `answer.`. */
  readonly fact: string
  readonly formats: readonly string[]
  /** True if the formats express the fact in another way. If not, they cannot express it at all. */
  readonly other?: boolean
  /** Fact of the answer that proves that the target itself did what the request asked for. */
  readonly shown_by?: string
  /** Fact of the request that a target may add to ask in words for what the formats cannot express. */
  readonly may_add?: string
  readonly why: string
}

/**
 * Statuses that a target may return instead of the upstream's error because it detects the fault itself, or 200 if it
 * can do the work itself.
 */
export interface OtherStatuses {
  readonly statuses: readonly number[]
  readonly why: string
}

/** Behaviour of the kit's upstream, apart from the bytes of its answers. */
export interface UpstreamBehaviour {
  /** Share of an answer's bytes after which the connection is cut. */
  readonly cut_at?: number
  /** Share of an answer's bytes after which the upstream is silent for `pause`. */
  readonly pause_at?: number
  /** Length of the pause, in milliseconds. The pause ends early if the connection closes. */
  readonly pause?: number
  /** Interval between two events of a stream, in milliseconds. */
  readonly pace?: number
}

/** Behaviour of the kit's caller. */
export interface CallerBehaviour {
  /** Delay after which the caller closes its connection, in milliseconds. */
  readonly leaves_after?: number
  /** Time for which the caller stops reading after every chunk, in milliseconds. */
  readonly reads_every?: number
  /** Number of further callers that send the same request at the same time, each with a word of its own. */
  readonly beside?: number
}

export interface Scenario {
  readonly id: string
  readonly work: Work
  readonly title: string
  /** Consequence of a failure, with the URL of a known real-world case. */
  readonly why: string
  readonly modes: readonly Mode[]
  /**
   * Formats whose callers can express what the scenario tests. Upstreams may have any format. The default is all
   * formats.
   */
  readonly callers?: readonly string[]
  readonly differences: readonly Difference[]
  readonly instead?: OtherStatuses
  readonly upstream: UpstreamBehaviour
  readonly caller: CallerBehaviour
  /** True if the answer is interrupted by a closed connection or by an error within the stream. */
  readonly breaks: boolean
  /** Versions, by format, that should refuse a request because of a feature in this scenario. */
  readonly refusedBy: { readonly [format: string]: string }
  /**
   * True if a target may answer without calling its upstream, for example with a list of its own models. A list
   * contains the numbers of the steps for which it may, starting at 1.
   */
  readonly local: boolean | readonly number[]
  /** The first step. */
  readonly wires: Wires
  /** Steps after the first, by the same caller. For example, a caller submits a job and then polls its state. */
  readonly later: readonly Wires[]
  /** The steps before this one. Only for scenarios that were split into single steps. */
  readonly earlier: readonly Wires[]
}

const SCENARIOS_FOLDER = join(DATA, 'scenarios')

interface ScenarioFile {
  readonly work?: Work
  readonly title: string
  readonly why: string
  readonly modes?: readonly Mode[]
  readonly callers?: readonly string[]
  readonly texts?: Texts
  readonly differences?: readonly Difference[]
  readonly instead?: OtherStatuses
  readonly upstream?: UpstreamBehaviour
  readonly caller?: CallerBehaviour
  readonly breaks?: boolean
  readonly refused_by?: { readonly [format: string]: string }
  readonly local?: boolean | readonly number[]
}

/** Kinds of work whose answers are streamed unless a scenario says otherwise. */
const STREAMED_WORK: readonly Work[] = ['conversation', 'completion']

/** Reads a scenario from its folder: `scenario.yaml` and the files of each format. */
export function readScenario(id: string, home = SCENARIOS_FOLDER): Scenario {
  const folder = join(home, id)
  const described = parse(readFileSync(join(folder, 'scenario.yaml'), 'utf8')) as ScenarioFile
  const { work = 'conversation' } = described
  const [wires = {}, ...later] = wiresIn(folder, described.texts)
  return {
    id,
    work,
    title: described.title,
    why: described.why,
    modes: described.modes ?? (STREAMED_WORK.includes(work) ? ['whole', 'stream'] : ['whole']),
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

/** Splits a scenario into scenarios of one step each. */
export const stepsOf = (scenario: Scenario): Scenario[] => {
  const { wires: first, later, local } = scenario
  const steps = [first, ...later]
  return steps.map((wires, index) => ({
    ...{ ...scenario, wires, later: [], earlier: steps.slice(0, index) },
    local: typeof local === 'boolean' ? local : local.includes(index + 1),
  }))
}

/** Reads all scenarios, sorted by name. */
export const readScenarios = (home = SCENARIOS_FOLDER): Scenario[] =>
  readdirSync(home, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => readScenario(entry.name, home))
    .sort((a, b) => (a.id < b.id ? -1 : 1))

/**
 * Returns true if the scenario can run against a live target. A live target cannot be told to return errors, interrupt
 * an answer or pause, its jobs take minutes, and its model may leave out the word of a caller.
 */
export const runsLive = ({ wires, later, upstream, caller, breaks }: Scenario): boolean => {
  const all = [wires, ...later].flatMap(one => Object.values(one))
  const needsKitUpstream = all.some(({ error, request }) => error !== undefined || request.until !== undefined)
  return !breaks && Object.keys(upstream).length === 0 && caller.beside === undefined && !needsKitUpstream
}
