import { CheckList } from '../check-list.ts'
import type { Check } from '../checks.ts'
import { compare, type Leaves } from '../compare.ts'
import { leavesOf } from '../facts.ts'
import type { JsonObject } from '../json.ts'
import type { Rule } from '../rules.ts'
import { schemaFindings } from '../schema.ts'
import { type SecretRecord, settingsFrame } from './client-secret.ts'
import type { Closing, Frame } from './frame.ts'
import { dataOf, frameWith } from './frame.ts'
import { judgeSecret } from './judge-secret.ts'
import type { SessionCell } from './session-cells.ts'
import type { Frames, SessionFormat } from './session-format.ts'
import type { Line } from './session-scenario.ts'
import type { SessionArrival } from './session-upstream.ts'
import type { Refusal } from './socket.ts'

/** The record of one session. */
export interface SessionRecord {
  readonly client: readonly Frame[]
  readonly server: readonly Frame[]
  readonly closed?: Closing
  /** Kind of the frame that did not arrive in time. */
  readonly missing?: string
  readonly refusal?: Refusal
  /** Reason why the connection could not be opened, or why the kit closed it. */
  readonly fault?: string
  readonly arrivals: readonly SessionArrival[]
  /** Client secret that opened the session. */
  readonly secret?: SecretRecord
}

const RFC = 'https://www.rfc-editor.org/rfc/rfc6455'
const KIT = 'the bounds of the kit: sockets/socket.ts'
const OURS = 'docs/decisions/2026-11-28-sessions-of-the-kit.md'

type AnyRule = Omit<Rule, 'on'>
const must = (id: string, source: string, says: string): AnyRule => ({ id, level: 'must', source, says })

const SUPPORTED = must('supported', 'the target itself', 'The target has the endpoint and the feature.')
const OPENED = must('socket.open', `${RFC}#section-4.2.2`, 'The target accepts the handshake with status 101.')
const BOUNDED = must('socket.bounds', KIT, 'The session has a reasonable size, and its frames are valid.')
const AWAITED = must('socket.awaited', KIT, 'Every frame that the caller waits for arrives in time.')
const ARRIVES = must('arrives', OURS, 'A session reaches the upstream in the upstream’s format.')
const ONCE: AnyRule = {
  ...must('once', OURS, 'Each session of the caller opens one session at the upstream.'),
  level: 'should',
}

/** Statuses of a target that does not have the endpoint. */
const UNSUPPORTED = new Set([404, 405, 426, 501])

/** Returns the frames of a script as if they were sent over one connection. */
function scripted(lines: readonly Line[]): Frames {
  const of = (side: Line['side']): Frame[] =>
    lines.flatMap(line => (line.side === side && 'frame' in line ? [frameWith(line.frame)] : []))
  const close = lines.find(line => line.side === 'server' && 'close' in line)
  return {
    ...{ client: of('client'), server: of('server') },
    ...(close !== undefined && 'close' in close ? { closed: close.close } : {}),
  }
}

/** Facts that an audio conversion changes, although the length of the audio stays the same. */
const CONVERTED = /\.digest$|^settings\.(input|output)Format$/

/**
 * Returns the facts of a session by path. Between different formats, leaves out facts that audio conversion changes,
 * and the meaningless voice of a text-only session.
 */
function leaves(facts: object, isNative: boolean): Leaves {
  const all = leavesOf(facts)
  if (isNative) return all
  const isSilent = all.get('settings.modalities') === 'text'
  return new Map([...all].filter(([path]) => !CONVERTED.test(path) && !(isSilent && path === 'settings.voice')))
}

const SUBJECTS = { client: 'request', server: 'stream' } as const

/** Checks frames against the published schema, in formats that have one. */
function judgeSchema(
  { schemas, exceptions }: SessionFormat,
  side: 'client' | 'server',
  frames: readonly Frame[],
  list: CheckList,
): void {
  if (schemas === undefined) return
  const { file } = schemas
  const findings = dataOf(frames).map(data => schemaFindings(file, schemas[side], data, exceptions))
  list.schema(SUBJECTS[side], file, findings)
}

/**
 * Returns true if the target's last `session.updated` lacks a setting. The target thereby reports that the setting has
 * no effect.
 */
function isUnstated(path: string, { caller }: SessionCell, { client, server }: SessionRecord): boolean {
  const stated = caller.stated?.({ client, server })
  return stated !== undefined && path.startsWith('settings.') && !leavesOf({ settings: stated }).has(path)
}

/** Returns the settings of a client secret as an event of the session. */
const settingsBefore = (session: JsonObject | undefined): Frame[] =>
  session === undefined ? [] : [settingsFrame(session)]

function judgeUpstream(cell: SessionCell, record: SessionRecord, list: CheckList, isReported: boolean): void {
  const { arrivals } = record
  const { caller, upstream, scenario } = cell
  if (upstream === undefined) return
  // The caller's session is the last one, because the made-up client secret is tried first.
  const arrival = arrivals.findLast(({ format }) => format === upstream.name)
  list.rule('request', ARRIVES, arrival === undefined ? ['No session arrived in the format of the upstream.'] : [])
  if (arrival === undefined) return
  list.rule('request', ONCE, arrivals.length > 1 ? [`${arrivals.length} sessions came.`] : [])
  const frames: Frames = { client: arrival.received, server: arrival.sent.map(frameWith) }
  const given = settingsBefore(arrival.secretSession)
  list.rules(upstream.rules, 'request', upstream.lint(frames, arrival.headers))
  judgeSchema(upstream, 'client', arrival.received, list)
  const isNative = caller === upstream
  const asked = (format: SessionFormat): Leaves => {
    const script = scripted(scenario.scripts[format.name]!)
    // If a format has no client secrets, the script contains the settings.
    const before = format.secrets === undefined ? [] : settingsBefore(scenario.secret?.session)
    const client = [...before, ...script.client]
    return leaves(format.request({ ...script, client }), isNative)
  }
  const found = leaves(upstream.request({ ...frames, client: [...given, ...frames.client] }), isNative)
  const verdicts = compare({ source: asked(caller), reachable: asked(upstream), found, isNative })
  const unstated = verdicts.filter(({ path, fate }) => fate === 'lost' && isUnstated(path, cell, record))
  list.facts('request', unstated, true)
  list.facts(
    'request',
    verdicts.filter(one => !unstated.includes(one)),
    isReported,
  )
}

function judgeCaller(cell: SessionCell, record: SessionRecord, list: CheckList, isReported: boolean): void {
  const { caller, upstream, scenario } = cell
  const { client, server, closed } = record
  const script = scripted(scenario.scripts[caller.name]!)
  list.rules(caller.rules, 'stream', caller.grammar({ client, server, ...(closed === undefined ? {} : { closed }) }))
  judgeSchema(caller, 'server', server, list)
  if (upstream === undefined) return
  const isNative = caller === upstream
  const answerFacts = (format: SessionFormat): Leaves =>
    leaves(format.answer(scripted(scenario.scripts[format.name]!)), isNative)
  // If the caller ends the session, it sends the close frame itself.
  const close = script.closed === undefined || closed === undefined ? {} : { closed }
  const found = leaves(caller.answer({ client, server, ...close }), isNative)
  list.facts(
    'answer',
    compare({ source: answerFacts(upstream), reachable: answerFacts(caller), found, isNative }),
    isReported,
  )
}

/** Returns all checks of one session. */
export function judgeSession(cell: SessionCell, record: SessionRecord, lossHeader: string | undefined): Check[] {
  const list = new CheckList(cell, { scenarios: 'conformance/sessions' })
  const { refusal, fault, missing } = record
  if (refusal !== undefined && UNSUPPORTED.has(refusal.status)) {
    list.rule('answer', SUPPORTED, [`Status ${refusal.status}: ${refusal.body.slice(0, 300)}`], 'unsupported')
    return list.checks
  }
  const refusedSecret = record.secret?.exchange.got
  if (refusedSecret !== undefined && UNSUPPORTED.has(refusedSecret.status)) {
    list.rule(
      'answer',
      SUPPORTED,
      [`The request for a client secret was answered with ${refusedSecret.status}.`],
      'unsupported',
    )
    return list.checks
  }
  if (record.secret !== undefined && judgeSecret(record.secret, list) === undefined) return list.checks
  const isReported = lossHeader !== undefined && Boolean(refusal?.headers[lossHeader])
  const isOpen = refusal === undefined && (fault === undefined || record.server.length > 0)
  const refused = refusal === undefined ? (fault ?? '') : `Status ${refusal.status}: ${refusal.body.slice(0, 300)}`
  list.rule('answer', OPENED, isOpen ? [] : [refused])
  if (!isOpen) return list.checks
  list.rule('answer', BOUNDED, fault === undefined ? [] : [fault])
  list.rule('answer', AWAITED, missing === undefined ? [] : [`${missing} did not arrive.`])
  judgeUpstream(cell, record, list, isReported)
  judgeCaller(cell, record, list, isReported)
  return list.checks
}
