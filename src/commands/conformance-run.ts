import { writeFileSync } from 'node:fs'
import { FORMATS } from '../kit/conformance/formats/index.ts'
import { readPeer } from '../kit/conformance/peer.ts'
import { type Results, resultsOf } from '../kit/conformance/report/results.ts'
import { hasFailed, summary } from '../kit/conformance/report/summary.ts'
import { type CellResult, run, type Target } from '../kit/conformance/run.ts'
import { readScenarios, runsLive } from '../kit/conformance/scenario.ts'
import { startPeer } from '../kit/conformance/start-peer.ts'
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
  readonly delay?: number
}

/** Returns the base URL per format for a live target, as SDKs of that format expect it. */
function liveBases(url: string): Target['bases'] {
  const root = url.replace(/\/+$/, '').replace(/\/v1(beta)?$/, '')
  const isOpenAi = (name: string): boolean => name === 'chat' || name === 'responses'
  return Object.fromEntries(Object.keys(FORMATS).map(name => [name, isOpenAi(name) ? `${root}/v1` : root]))
}

/** Runs work until the first Ctrl-C, which aborts it, so that the partial results are still reported. */
async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  process.once('SIGINT', abort)
  try {
    return await work(controller.signal)
  } finally {
    process.removeListener('SIGINT', abort)
  }
}

type Ran = { readonly results: readonly CellResult[]; readonly target: Target }

async function runLive({ target: url, key = '', model, door, only, delay }: ConformanceOptions): Promise<Ran> {
  if (model === undefined) throw new UsageError('--target requires --model')
  const target: Target = { name: url!, bases: liveBases(url!), key, model: () => model, translates: true }
  const scenarios = readScenarios().filter(runsLive)
  const wanted = { scenarios, callers: door ?? Object.keys(FORMATS), ...(only === undefined ? {} : { only }) }
  const results = await untilInterrupted(signal => run({ target, ...wanted, delay: delay ?? 0, signal }))
  return { results, target }
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
      const results = await untilInterrupted(signal => run({ target, upstream, ...wanted, delay: delay ?? 0, signal }))
      return { results, target }
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

/**
 * `interlingua conformance`: tests a running endpoint, or a gateway placed between the kit's client and its mock
 * upstream. Rejects if a check fails.
 */
export async function conformanceCommand(options: ConformanceOptions, terminal: Terminal): Promise<void> {
  if ((options.target === undefined) === (options.peer === undefined))
    throw new UsageError('give either --target or --peer')
  const started = new Date()
  const { results, target } = await (options.peer === undefined ? runLive(options) : runPeer(options))
  if (results.length === 0) throw new UsageError('no cell matches --only, --door and --upstream')
  const document: Results = resultsOf(results, { kit: version(), started, target, command: commandOf(options) })
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(document, null, 2)}\n`)
  terminal.out(summary(document))
  if (hasFailed(document)) throw new Error('a check failed')
}
