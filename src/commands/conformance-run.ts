import { readFileSync } from 'node:fs'
import { withoutTrailingSlashes } from '../canonical/text.ts'
import { Budget, type Price } from '../kit/conformance/budget.ts'
import { CONVERSATIONS, FORMATS } from '../kit/conformance/formats/index.ts'
import { readPeer, upstreamsOf } from '../kit/conformance/peer.ts'
import { badge } from '../kit/conformance/report/badge.ts'
import { deviationOf, deviationText, readExpected } from '../kit/conformance/report/expected.ts'
import { html } from '../kit/conformance/report/html.ts'
import { junit } from '../kit/conformance/report/junit.ts'
import { markdown } from '../kit/conformance/report/markdown.ts'
import { type Results, resultsOf } from '../kit/conformance/report/results.ts'
import { hasFailed, judgedOf, summary } from '../kit/conformance/report/summary.ts'
import { type AllOptions, runAll } from '../kit/conformance/run-all.ts'
import type { CellResult, Target } from '../kit/conformance/run-cells.ts'
import { readScenarios, runsLive } from '../kit/conformance/scenario.ts'
import { SESSION_FORMATS } from '../kit/conformance/sockets/formats.ts'
import { readSessions } from '../kit/conformance/sockets/session-scenario.ts'
import { SessionUpstream } from '../kit/conformance/sockets/session-upstream.ts'
import type { Specs } from '../kit/conformance/specs.ts'
import { MissingPeer, startPeer } from '../kit/conformance/start-peer.ts'
import { Upstream } from '../kit/conformance/upstream.ts'
import { version } from '../version.ts'
import { Progress } from './conformance-progress.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { checkReportFiles, type ReportFile, writeReports } from './report-files.ts'

export interface ConformanceOptions {
  readonly target?: string
  readonly key?: string
  readonly model?: string
  readonly peer?: string
  /** Formats of callers. */
  readonly caller?: readonly string[]
  readonly upstream?: readonly string[]
  /** Versions of formats. */
  readonly spec?: Specs
  readonly only?: string
  readonly json?: string
  readonly html?: string
  readonly junit?: string
  readonly markdown?: string
  readonly badge?: string
  readonly expectedFailures?: string
  readonly delay?: number
  readonly repeat?: number
  /** Maximum cost of a run, in US dollars. */
  readonly budget?: number
  readonly price?: Price
}

/**
 * Returns the base URL for each format of a live target, as the SDKs of the format expect it. OpenAI's formats keep a
 * given path, such as `/api/paas/v4`, and otherwise use `/v1`.
 */
function liveBases(url: string): Target['bases'] {
  const baseUrl = withoutTrailingSlashes(url)
  const root = baseUrl.replace(/\/v1(beta)?$/, '')
  const openAi = new URL(baseUrl).pathname === '/' ? `${baseUrl}/v1` : baseUrl
  const isOpenAi = (name: string): boolean => FORMATS[name]?.base === '/v1' || name.startsWith('realtime')
  const names = [...Object.keys(FORMATS), ...Object.keys(SESSION_FORMATS)]
  return Object.fromEntries(names.map(name => [name, isOpenAi(name) ? openAi : root]))
}

/** Rejects a URL that contains a credential, because reports name the target. */
function checkTarget(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError('--target must be an http or https URL')
  const { username, password, search, hash } = new URL(url)
  if (username + password + search + hash !== '')
    throw new UsageError('--target must have no credential, query or fragment; give the credential as --key')
}

/** Reason why a run ended before all its cells had run. */
type EarlyEnd = 'interrupted' | 'budget'

type RunOutcome = { readonly results: readonly CellResult[]; readonly target: Target; readonly ended?: EarlyEnd }

/** Signals that end a run and its gateway after the current cell. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** The part of a run's options that depends on its mode. */
type Mode = Pick<AllOptions, 'target' | 'scenarios' | 'callers' | 'upstreams' | 'upstream' | 'sessionUpstream'>

/**
 * Runs the cells until the first Ctrl-C or SIGTERM, or until the budget is spent. The partial results are still
 * reported.
 */
async function runUntilEnd(mode: Mode, options: ConformanceOptions, controller: AbortController): Promise<RunOutcome> {
  const { only, delay = 0, repeat = 1, price } = options
  const budget = options.budget === undefined ? undefined : new Budget(options.budget, price!)
  const progress = new Progress(process.stderr)
  const onResult: NonNullable<AllOptions['onResult']> = (result, index, count) => {
    progress.show(result, index, count)
    budget?.add(result)
    if (budget?.isSpent && index + 1 < count) controller.abort('budget')
  }
  const { signal } = controller
  const selection = only === undefined ? {} : { only }
  try {
    const results = await runAll({ ...mode, ...selection, sessions: readSessions(), delay, repeat, signal, onResult })
    return { results, target: mode.target, ...(signal.aborted ? { ended: signal.reason as EarlyEnd } : {}) }
  } finally {
    progress.clear()
  }
}

/** Time within which a second signal is the first one again, passed on by npm or `--isolated`, in milliseconds. */
const REPEAT_MS = 500
/** Exit code of a run that a second signal ends at once. */
const ENDED_AT_ONCE = 130

/** Calls `run` with a controller that the first signal aborts. A second signal ends the process and its gateway. */
async function interruptible(run: (controller: AbortController) => Promise<RunOutcome>): Promise<RunOutcome> {
  const controller = new AbortController()
  let interruptedAt: number | undefined
  const abort = (): void => {
    if (interruptedAt !== undefined && performance.now() - interruptedAt > REPEAT_MS) process.exit(ENDED_AT_ONCE)
    interruptedAt ??= performance.now()
    controller.abort('interrupted')
  }
  for (const signal of SIGNALS) process.on(signal, abort)
  try {
    return await run(controller)
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, abort)
  }
}

async function runLive(options: ConformanceOptions, controller: AbortController): Promise<RunOutcome> {
  const { target: url, key = '', model, caller, spec: specs } = options
  checkTarget(url!)
  // Workflows pass the empty value of a variable that is not set.
  if (model === undefined || model === '') throw new UsageError('--target requires --model')
  const target: Target = {
    ...{ name: url!, bases: liveBases(url!), key, model: () => model, translates: true },
    ...(specs === undefined ? {} : { specs }),
  }
  const scenarios = readScenarios().filter(runsLive)
  return runUntilEnd({ target, scenarios, callers: caller ?? Object.keys(CONVERSATIONS) }, options, controller)
}

async function runPeer(options: ConformanceOptions, controller: AbortController): Promise<RunOutcome> {
  const { peer: name, caller, upstream: wantedUpstreams } = options
  const describedPeer = readPeer(name!)
  const formatNames = [...Object.keys(FORMATS), ...Object.keys(SESSION_FORMATS)]
  const upstream = await Upstream.open()
  const sessionUpstream = new SessionUpstream(upstream)
  try {
    const peer = await startPeer(describedPeer, upstream, options.spec, controller.signal)
    const { target } = peer
    const callers = caller ?? formatNames.filter(format => target.bases[format] !== undefined)
    const upstreams = wantedUpstreams ?? formatNames.filter(format => upstreamsOf(describedPeer).has(format))
    try {
      const scenarios = readScenarios()
      const mode = { target, upstream, sessionUpstream, scenarios, callers, upstreams }
      return await runUntilEnd(mode, options, controller)
    } finally {
      await peer.close()
    }
  } finally {
    sessionUpstream.close()
    await upstream.close()
  }
}

/** Returns the command line for the report, without the key and the options that select cells. */
function commandOf({ target, model, peer, spec = {} }: ConformanceOptions): string {
  const versions = Object.entries(spec).map(([format, version]) => `${format}@${version}`)
  const ending = versions.length === 0 ? '' : ` --spec ${versions.join()}`
  return peer === undefined
    ? `interlingua conformance --target ${shellWord(target!)} --model ${shellWord(model!)} --key "$KEY"${ending}`
    : `interlingua conformance --peer ${shellWord(peer)}${ending}`
}

/** Quotes a word in which a shell would find more than text. */
const shellWord = (word: string): string =>
  /^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** Runs the cells, and builds a document of their results. */
async function documentOf(
  options: ConformanceOptions,
): Promise<Pick<RunOutcome, 'ended'> & { readonly document: Results }> {
  const started = new Date()
  const { results, target, ended } = await interruptible(controller =>
    options.peer === undefined ? runLive(options, controller) : runPeer(options, controller),
  )
  if (results.length === 0) throw new UsageError('no cell matches --only, --caller and --upstream')
  const document = resultsOf(results, {
    ...{ kit: version(), started, target, command: commandOf(options) },
    ...(ended === undefined ? {} : { isInterrupted: true }),
  })
  return { document, ...(ended === undefined ? {} : { ended }) }
}

/**
 * Returns the results of a complete run of a peer, or the sentence that explains how to get its program. Rejects if the
 * run ended early.
 */
export async function peerResults(options: ConformanceOptions & { readonly peer: string }): Promise<Results | string> {
  const outcome = await documentOf(options).catch(unlessMissing)
  if (outcome instanceof MissingPeer) return outcome.message
  if (outcome.ended !== undefined) throw new Error(END_REASONS[outcome.ended])
  return outcome.document
}

/** Returns the error of a peer that is not installed, which is not a failure. Rethrows any other error. */
function unlessMissing(thrown: unknown): MissingPeer {
  if (thrown instanceof MissingPeer) return thrown
  throw thrown
}

/** Report formats, by the option that names the output file. */
const REPORT_FORMATS = [
  ['json', (document: Results) => `${JSON.stringify(document, null, 2)}\n`],
  ['html', html],
  ['junit', junit],
  ['markdown', markdown],
  ['badge', badge],
] as const

/** Returns the reports that were requested. */
const reportsOf = (options: ConformanceOptions, document: Results): readonly ReportFile[] =>
  REPORT_FORMATS.flatMap(([name, view]) => {
    const file = options[name]
    return file === undefined ? [] : [{ file, text: () => view(document) }]
  })

const END_REASONS: { readonly [end in EarlyEnd]: string } = {
  interrupted: 'the run was interrupted',
  budget: 'the budget is spent',
}

/** Reads a file of expected failures. Throws UsageError if it cannot be read. */
function expectedIn(file: string): readonly string[] {
  try {
    return readExpected(readFileSync(file, 'utf8'))
  } catch (thrown) {
    throw new UsageError(`${file} cannot be read: ${(thrown as Error).message}`)
  }
}

/** Compares the failures with the expected ones. Throws if a failure is unexpected or an entry is stale. */
function compareExpected(
  document: Results,
  { only, caller, upstream }: ConformanceOptions,
  expected: readonly string[],
): void {
  const isFullRun = [only, caller, upstream, document.interrupted].every(one => one === undefined)
  const deviation = deviationOf(document, expected, isFullRun)
  const text = deviationText(deviation)
  if (text !== '') throw new Error(`the failures differ from the expected failures\n${text}`)
}

/**
 * `interlingua conformance`: tests a running endpoint, or a gateway placed between the kit's client and its mock
 * upstream. Rejects if a check fails.
 */
export async function conformanceCommand(options: ConformanceOptions, terminal: Terminal): Promise<void> {
  if ((options.target === undefined) === (options.peer === undefined))
    throw new UsageError('give either --target or --peer')
  if ((options.budget === undefined) !== (options.price === undefined))
    throw new UsageError('--budget and --price must be given together')
  if (options.budget !== undefined && options.target === undefined)
    throw new UsageError('--budget requires --target, because a peer costs nothing')
  checkReportFiles(REPORT_FORMATS.flatMap(([name]) => options[name] ?? []))
  const expected = options.expectedFailures === undefined ? undefined : expectedIn(options.expectedFailures)
  const outcome = await documentOf(options).catch(unlessMissing)
  if (outcome instanceof MissingPeer) return terminal.out(`unsupported: ${outcome.message}`)
  const { document, ended } = outcome
  const faults = writeReports(reportsOf(options, document))
  terminal.out(summary(document))
  for (const fault of faults) terminal.fault(fault)
  if (expected !== undefined) compareExpected(document, options, expected)
  else if (hasFailed(document)) throw new Error('a check failed')
  if (faults.length > 0) throw new Error('a report cannot be written')
  if (ended !== undefined) throw new Error(`${END_REASONS[ended]}; the reports cover the cells that ran`)
  if (judgedOf(document) === 0 && document.cells.some(({ wire }) => wire !== undefined))
    throw new Error('nothing was judged: the target has none of the endpoints')
}
