import { readFileSync, writeFileSync } from 'node:fs'
import { FORMATS } from '../kit/conformance/formats/index.ts'
import { readPeer } from '../kit/conformance/peer.ts'
import { badge } from '../kit/conformance/report/badge.ts'
import { deviationOf, deviationText, readExpected } from '../kit/conformance/report/expected.ts'
import { html } from '../kit/conformance/report/html.ts'
import { junit } from '../kit/conformance/report/junit.ts'
import { markdown } from '../kit/conformance/report/markdown.ts'
import { type Results, resultsOf } from '../kit/conformance/report/results.ts'
import { hasFailed, judgedOf, summary } from '../kit/conformance/report/summary.ts'
import { type CellResult, run, type Target } from '../kit/conformance/run.ts'
import { readScenarios, runsLive } from '../kit/conformance/scenario.ts'
import { MissingPeer, startPeer } from '../kit/conformance/start-peer.ts'
import { Upstream } from '../kit/conformance/upstream.ts'
import { version } from '../version.ts'
import { type Terminal, UsageError } from './outcome.ts'

export interface ConformanceOptions {
  readonly target?: string
  readonly key?: string
  readonly model?: string
  readonly peer?: string
  readonly door?: readonly string[]
  readonly upstream?: readonly string[]
  readonly only?: string
  readonly json?: string
  readonly html?: string
  readonly junit?: string
  readonly markdown?: string
  readonly badge?: string
  readonly expectedFailures?: string
  readonly delay?: number
}

/**
 * Returns the base URL per format for a live target, as SDKs of that format expect it. OpenAI's formats take a path as it
 * is given, such as `/api/paas/v4`, and `/v1` if there is none.
 */
function liveBases(url: string): Target['bases'] {
  const given = url.replace(/\/+$/, '')
  const root = given.replace(/\/v1(beta)?$/, '')
  const openAi = new URL(given).pathname === '/' ? `${given}/v1` : given
  const isOpenAi = (name: string): boolean => name === 'chat' || name === 'responses'
  return Object.fromEntries(Object.keys(FORMATS).map(name => [name, isOpenAi(name) ? openAi : root]))
}

/** Refuses a URL that holds a credential, because reports name the target. */
function checkTarget(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError('--target must be an http or https URL')
  const { username, password, search, hash } = new URL(url)
  if (username + password + search + hash !== '')
    throw new UsageError('--target must have no credential, query or fragment; give the credential as --key')
}

/** Runs work until the first Ctrl-C, which aborts it, so that the partial results are still reported. */
async function untilInterrupted(
  work: (signal: AbortSignal) => Promise<readonly CellResult[]>,
): Promise<Omit<Ran, 'target'>> {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  process.once('SIGINT', abort)
  try {
    const results = await work(controller.signal)
    return { results, isInterrupted: controller.signal.aborted }
  } finally {
    process.removeListener('SIGINT', abort)
  }
}

type Ran = { readonly results: readonly CellResult[]; readonly target: Target; readonly isInterrupted: boolean }

async function runLive({ target: url, key = '', model, door, only, delay }: ConformanceOptions): Promise<Ran> {
  checkTarget(url!)
  if (model === undefined) throw new UsageError('--target requires --model')
  const target: Target = { name: url!, bases: liveBases(url!), key, model: () => model, translates: true }
  const scenarios = readScenarios().filter(runsLive)
  const wanted = { scenarios, callers: door ?? Object.keys(FORMATS), ...(only === undefined ? {} : { only }) }
  const ran = await untilInterrupted(signal => run({ target, ...wanted, delay: delay ?? 0, signal }))
  return { ...ran, target }
}

async function runPeer({ peer: name, door, upstream: wantedUpstreams, only, delay }: ConformanceOptions): Promise<Ran> {
  const described = readPeer(name!)
  const known = Object.keys(FORMATS)
  const upstream = await Upstream.open()
  try {
    const peer = await startPeer(described, upstream)
    const { target } = peer
    const callers = door ?? known.filter(format => target.bases[format] !== undefined)
    const upstreams = wantedUpstreams ?? known.filter(format => described.upstreams.includes(format))
    const wanted = { scenarios: readScenarios(), callers, upstreams, ...(only === undefined ? {} : { only }) }
    try {
      const ran = await untilInterrupted(signal => run({ target, upstream, ...wanted, delay: delay ?? 0, signal }))
      return { ...ran, target }
    } finally {
      await peer.close()
    }
  } finally {
    await upstream.close()
  }
}

/** Returns the command line for the report, without the key and the options that select cells. */
const commandOf = ({ target, model, peer }: ConformanceOptions): string =>
  peer === undefined
    ? `interlingua conformance --target ${target} --model ${model} --key "$KEY"`
    : `interlingua conformance --peer ${peer}`

/** A peer that is not installed is no failure. */
function unlessMissing(thrown: unknown): MissingPeer {
  if (thrown instanceof MissingPeer) return thrown
  throw thrown
}

/** Reports by the option that names their file. */
const VIEWS = [
  ['json', (document: Results) => `${JSON.stringify(document, null, 2)}\n`],
  ['html', html],
  ['junit', junit],
  ['markdown', markdown],
  ['badge', badge],
] as const

/** Compares the failures with the expected ones. Throws if one is unexpected, or an entry is stale. */
function compareExpected(document: Results, { only, door, upstream }: ConformanceOptions, file: string): void {
  const isWhole = [only, door, upstream, document.interrupted].every(one => one === undefined)
  const deviation = deviationOf(document, readExpected(readFileSync(file, 'utf8')), isWhole)
  const text = deviationText(deviation)
  if (text !== '') throw new Error(`the failures are not the expected ones\n${text}`)
}

/**
 * `interlingua conformance`: tests a running endpoint, or a gateway placed between the kit's client and its mock
 * upstream. Rejects if a check fails.
 */
export async function conformanceCommand(options: ConformanceOptions, terminal: Terminal): Promise<void> {
  if ((options.target === undefined) === (options.peer === undefined))
    throw new UsageError('give either --target or --peer')
  const started = new Date()
  const ran = await (options.peer === undefined ? runLive(options) : runPeer(options)).catch(unlessMissing)
  if (ran instanceof MissingPeer) return terminal.out(`unsupported: ${ran.message}`)
  const { results, target, isInterrupted } = ran
  if (results.length === 0) throw new UsageError('no cell matches --only, --door and --upstream')
  const document: Results = resultsOf(results, {
    ...{ kit: version(), started, target, command: commandOf(options) },
    ...(isInterrupted ? { isInterrupted } : {}),
  })
  for (const [name, view] of VIEWS) {
    const file = options[name]
    if (file !== undefined) writeFileSync(file, view(document))
  }
  terminal.out(summary(document))
  if (options.expectedFailures !== undefined) compareExpected(document, options, options.expectedFailures)
  else if (hasFailed(document)) throw new Error('a check failed')
  if (isInterrupted) throw new Error('the run was interrupted; the reports have the cells that ran')
  if (options.target !== undefined && judgedOf(document) === 0)
    throw new Error('nothing was judged: the target has none of the endpoints')
}
