import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Seen } from '../builders/upstream.ts'
import { VENDORS } from '../laws/vendors/index.ts'
import { refusedBy, sentTo } from '../laws/vendors/sent.ts'
import { requestsOf } from './callers.ts'
import type { Cell } from './cell.ts'
import { CALLER_KEY } from './gateway.ts'
import { isNamed, type Play } from './play.ts'
import type { Ran } from './program.ts'
import { FINAL_TEXT, HALF, PLAIN, REFUSALS, WRITTEN } from './scenarios.ts'
import type { Tap } from './tap.ts'

/** Results of a run. */
export interface Remains {
  readonly play: Play
  readonly ran: Ran
  readonly work: string
  readonly seen: readonly Seen[]
  readonly tap: Tap
}

/** Returns the faults of a cell, the most important first: those of the requests, then those of the client. */
export const faultsOf = (cell: Cell, remains: Remains): string[] => [
  ...refusals(remains),
  ...vendors(remains),
  ...(cell.scenario.asks === undefined ? sessionFaults(cell, remains) : words(cell, remains)),
]

const sessionFaults = (cell: Cell, remains: Remains): string[] => [
  ...offers(cell, remains),
  ...proofs(cell, remains),
  ...halves(remains),
  ...ways(cell, remains),
  ...deeds(cell, remains),
]

function* refusals({ play, seen }: Remains): Generator<string> {
  for (const [index, { fault }] of play.exchanges.entries())
    if (fault !== undefined) yield `request ${index} is refused: ${fault}`
  if (seen.some(({ headers, url }) => (JSON.stringify(headers) + url).includes(CALLER_KEY)))
    yield 'the caller’s key went upstream'
}

/** Checks that no vendor of the tables would refuse a request of the client, if the gateway sent it there. */
function* vendors({ tap }: Remains): Generator<string> {
  const found = new Set<string>()
  for (const { format, request } of requestsOf(tap))
    for (const vendor of VENDORS)
      for (const model of vendor.models) {
        const origin = { native: format === vendor.format, callerModel: request.model }
        const body = sentTo(vendor, { ...request, model }, origin)
        for (const fault of refusedBy(vendor, body, model, origin))
          found.add(`${vendor.preset} would refuse ${format} for ${model}: ${fault}`)
      }
  yield* found
}

/** Checks that every request of the session offers the client's tools. */
function* offers({ client }: Cell, { play }: Remains): Generator<string> {
  const asked = play.exchanges.flatMap(({ done, tools = [] }) => (done === undefined ? [] : [tools]))
  if (asked.length === 0) yield 'no request of the session came with tools'
  for (const tools of asked) {
    const lost = client.tools.filter(name => !tools.some(tool => isNamed(tool.name, name)))
    if (lost.length > 0) return yield `tools that were not offered: ${lost.join(', ')}`
  }
  if (play.missing.length > 0) yield `no tool to be called for ${play.missing.join(', ')}`
}

/** Checks that the reasoning before a call is returned in every later request. */
function* proofs({ upstream }: Cell, { play }: Remains): Generator<string> {
  if (!upstream.remembers) return
  const turns = play.exchanges.filter(({ done = 0 }) => done > 0)
  for (const { body, done } of turns) {
    const lost = play.lostIn(body!, done!)
    if (lost !== undefined) return yield `after ${done} steps: ${lost}`
  }
}

/** Checks that a client with a socket uses only the socket. */
function* ways({ client }: Cell, { tap }: Remains): Generator<string> {
  if (client.socket !== true) return
  const asked = tap.said.map(([first]) => first?.bytes.toString('latin1').split(' ', 1)[0])
  if (asked.some(method => method !== 'GET')) yield `requests beside the socket: ${asked.join(', ')}`
}

/** Whether a call in a history ran. A client may state there that it did not, as opencode does. */
const hasRun = (id: string, history: string): boolean =>
  history.includes(`"${id}"`) && !history.includes('Tool execution aborted')

/** Checks that no call that broke off was run. */
function* halves({ play, work }: Remains): Generator<string> {
  if (existsSync(join(work, HALF.path))) yield `the call that broke off was executed: ${HALF.path} is there`
  for (const { id, name } of play.halves)
    if (id !== '' && play.exchanges.some(({ body }) => body !== undefined && hasRun(id, JSON.stringify(body))))
      yield `the call of ${name} that broke off was executed: it came back with a result`
}

/** Returns the most informative line of an output. */
function complaintIn(output: string): string {
  const lines = output.trim().split('\n')
  return (lines.find(line => /^[\s|]*\w*(Error|Exception)( \[\w+\])?:/.test(line)) ?? lines.at(-1)!).trim()
}

/** Checks that a program without a session prints exactly the expected lines. */
function* words({ scenario }: Cell, { ran: { code, out, err, seconds } }: Remains): Generator<string> {
  if (code === undefined) return yield `stopped after ${seconds} s`
  if (code !== 0) yield `exit code ${code}: ${complaintIn(err || out)}`
  const wanted =
    scenario.asks === 'plainly'
      ? PLAIN.map(way => `${way}: ${FINAL_TEXT}`)
      : Object.entries(REFUSALS).map(([name, status]) => `${name}: ${status}`)
  const printed = out.trim().split('\n').toSorted()
  if (printed.join('\n') !== wanted.toSorted().join('\n'))
    yield `printed is ${JSON.stringify(printed.join('; ').slice(-300))}`
}

function* deeds({ scenario }: Cell, { ran, work, play }: Remains): Generator<string> {
  const { code, out, err, seconds } = ran
  if (code === undefined) return yield `stopped after ${seconds} s`
  // A client may give up on an answer that broke off, and report this.
  const hasGivenUp = scenario.cut !== undefined && code !== 0 && play.exchanges.at(-1)?.done === 0
  if (hasGivenUp) return
  if (code !== 0) yield `exit code ${code}: ${complaintIn(err || out)}`
  for (const [name, content] of Object.entries(WRITTEN)) {
    const path = join(work, name)
    if (!existsSync(path)) yield `${name} was not written`
    else if (readFileSync(path, 'utf8') !== content) yield `${name} is ${JSON.stringify(readFileSync(path, 'utf8'))}`
  }
  if (!out.includes(FINAL_TEXT)) yield `the final text is not printed: ${JSON.stringify(out.slice(-200))}`
}
