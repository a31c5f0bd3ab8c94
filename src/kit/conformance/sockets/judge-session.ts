import { CheckList } from '../check-list.ts'
import type { Check } from '../checks.ts'
import { compare, type Leaves } from '../compare.ts'
import { leavesOf } from '../facts.ts'
import type { JsonObject } from '../json.ts'
import { credentialFaults, HAS_CREDENTIAL, judgeKeys, type Keys } from '../judge-delivery.ts'
import { NOTHING_REPORTED } from '../reported-losses.ts'
import type { Rule } from '../rules.ts'
import { schemaFindings } from '../schema.ts'
import { changesOfFrames, SESSION_UNCHANGED } from '../unchanged.ts'
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
const KIT_BOUNDS = "the kit's limits: sockets/socket.ts"
const KIT_DECISION = 'docs/decisions/2026-11-28-sessions-of-the-kit.md'

type AnyRule = Omit<Rule, 'on'>
const mustRule = (id: string, source: string, says: string): AnyRule => ({ id, level: 'must', source, says })

const HAS_FEATURE = mustRule('supported', 'the target itself', 'The target has the endpoint and the feature.')
const HANDSHAKE_ACCEPTED = mustRule(
  'socket.open',
  `${RFC}#section-4.2.2`,
  'The target accepts the handshake with status 101.',
)
const WITHIN_BOUNDS = mustRule(
  'socket.bounds',
  KIT_BOUNDS,
  'The session has a reasonable size, and its frames are valid.',
)
const AWAITED_FRAMES = mustRule('socket.awaited', KIT_BOUNDS, 'Every frame that the caller waits for arrives in time.')
const REACHES_UPSTREAM = mustRule('arrives', KIT_DECISION, 'A session reaches the upstream in the upstream’s format.')
const ONE_SESSION: AnyRule = {
  ...mustRule('once', KIT_DECISION, 'Each session of the caller opens one session at the upstream.'),
  level: 'should',
}

/** Statuses of a target that does not have the endpoint. */
const UNSUPPORTED_STATUSES = new Set([404, 405, 426, 501])

/** Returns the frames of a script as if they were sent over one connection. */
function framesOfScript(lines: readonly Line[]): Frames {
  const sentBy = (side: Line['side']): Frame[] =>
    lines.flatMap(line => (line.side === side && 'frame' in line ? [frameWith(line.frame)] : []))
  const close = lines.find(line => line.side === 'server' && 'close' in line)
  return {
    ...{ client: sentBy('client'), server: sentBy('server') },
    ...(close !== undefined && 'close' in close ? { closed: close.close } : {}),
  }
}

/**
 * Facts that an audio conversion changes, although the length of the audio stays the same, and facts that formats state
 * in ways that cannot be compared.
 */
const CONVERTED_FACTS = /\.digest$|^settings\.(input|output)Format$|^settings\.transcripts$|^sequence$/

/**
 * Returns the facts of a session by path. Between different formats, leaves out facts that audio conversion changes,
 * and the meaningless voice of a text-only session.
 */
function comparableFacts(facts: object, isNative: boolean): Leaves {
  const all = leavesOf(facts)
  if (isNative) return all
  const isSilent = all.get('settings.modalities') === 'text'
  return new Map([...all].filter(([path]) => !CONVERTED_FACTS.test(path) && !(isSilent && path === 'settings.voice')))
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
function isReportedAsIgnored(path: string, { caller }: SessionCell, { client, server }: SessionRecord): boolean {
  const reportedSettings = caller.reportedSettings?.({ client, server })
  return (
    reportedSettings !== undefined &&
    path.startsWith('settings.') &&
    !leavesOf({ settings: reportedSettings }).has(path)
  )
}

/** Returns the settings of a client secret as an event of the session. */
const settingsBefore = (session: JsonObject | undefined): Frame[] =>
  session === undefined ? [] : [settingsFrame(session)]

/** Lists the fields of frames that a session between equal formats lost. */
const changesIn = ({ kind, optional, echo }: SessionFormat, sent: readonly Frame[], arrived: readonly Frame[]) =>
  changesOfFrames(dataOf(sent), dataOf(arrived), kind, optional, new Set(Object.values(echo ?? {})))

function judgeUpstream(cell: SessionCell, record: SessionRecord, list: CheckList, keys: Keys | undefined): void {
  const { arrivals } = record
  const { caller, upstream, scenario } = cell
  if (upstream === undefined) return
  // Takes the last arrival: the kit first tries a made-up client secret, which may also reach the upstream.
  const arrival = arrivals.findLast(({ format }) => format === upstream.name)
  list.rule(
    'request',
    REACHES_UPSTREAM,
    arrival === undefined ? ['No session arrived in the format of the upstream.'] : [],
  )
  if (arrival === undefined) return
  list.rule(
    'request',
    ONE_SESSION,
    arrivals.length > 1 ? [`${arrivals.length} sessions were opened at the upstream.`] : [],
  )
  const frames: Frames = { client: arrival.received, server: arrival.sent.map(frameWith) }
  const secretSettings = settingsBefore(arrival.secretSession)
  list.rule('request', HAS_CREDENTIAL, credentialFaults(arrival.headers, arrival.path))
  judgeKeys(arrival, keys, list, arrival.secretSession !== undefined)
  list.rules(upstream.rules, 'request', upstream.lint(frames, arrival.headers))
  judgeSchema(upstream, 'client', arrival.received, list)
  const isNative = caller === upstream
  if (isNative && scenario.secret === undefined) {
    const written = framesOfScript(scenario.scripts[upstream.name]!)
    list.rule('request', SESSION_UNCHANGED, changesIn(upstream, written.client, arrival.received))
  }
  const expectedFacts = (format: SessionFormat): Leaves => {
    const script = framesOfScript(scenario.scripts[format.name]!)
    // If a format has no client secrets, the script contains the settings.
    const before = format.secrets === undefined ? [] : settingsBefore(scenario.secret?.session)
    const client = [...before, ...script.client]
    return comparableFacts(format.request({ ...script, client }), isNative)
  }
  const found = comparableFacts(
    upstream.request({ ...frames, client: [...secretSettings, ...frames.client] }),
    isNative,
  )
  const verdicts = compare({ source: expectedFacts(caller), reachable: expectedFacts(upstream), found, isNative })
  const ignoredSettings = verdicts.filter(
    ({ path, fate }) => fate === 'lost' && isReportedAsIgnored(path, cell, record),
  )
  list.facts('request', ignoredSettings, () => true)
  list.facts(
    'request',
    verdicts.filter(one => !ignoredSettings.includes(one)),
    NOTHING_REPORTED,
  )
}

function judgeCaller(cell: SessionCell, record: SessionRecord, list: CheckList): void {
  const { caller, upstream, scenario } = cell
  const { client, server, closed } = record
  const script = framesOfScript(scenario.scripts[caller.name]!)
  list.rules(caller.rules, 'stream', caller.grammar({ client, server, ...(closed === undefined ? {} : { closed }) }))
  judgeSchema(caller, 'server', server, list)
  if (upstream === undefined) return
  const isNative = caller === upstream
  const answerFacts = (format: SessionFormat): Leaves =>
    comparableFacts(format.answer(framesOfScript(scenario.scripts[format.name]!)), isNative)
  // If the caller ends the session, it sends the close frame itself.
  const close = script.closed === undefined || closed === undefined ? {} : { closed }
  if (isNative) list.rule('answer', SESSION_UNCHANGED, changesIn(caller, script.server, server))
  const found = comparableFacts(caller.answer({ client, server, ...close }), isNative)
  list.facts(
    'answer',
    compare({ source: answerFacts(upstream), reachable: answerFacts(caller), found, isNative }),
    NOTHING_REPORTED,
  )
}

/** Returns all checks of one session. */
export function judgeSession(cell: SessionCell, record: SessionRecord, keys?: Keys): Check[] {
  const list = new CheckList(cell, { scenarios: 'conformance/sessions' })
  const { refusal, fault, missing } = record
  if (refusal !== undefined && UNSUPPORTED_STATUSES.has(refusal.status)) {
    list.rule('answer', HAS_FEATURE, [`Status ${refusal.status}: ${refusal.body.slice(0, 300)}`], 'unsupported')
    return list.checks
  }
  const refusedSecret = record.secret?.exchange.got
  if (refusedSecret !== undefined && UNSUPPORTED_STATUSES.has(refusedSecret.status)) {
    list.rule(
      'answer',
      HAS_FEATURE,
      [`The request for a client secret was answered with ${refusedSecret.status}.`],
      'unsupported',
    )
    return list.checks
  }
  if (record.secret !== undefined && judgeSecret(record.secret, list) === undefined) return list.checks
  const isOpen = refusal === undefined && (fault === undefined || record.server.length > 0)
  const refusalText = refusal === undefined ? (fault ?? '') : `Status ${refusal.status}: ${refusal.body.slice(0, 300)}`
  list.rule('answer', HANDSHAKE_ACCEPTED, isOpen ? [] : [refusalText])
  if (!isOpen) return list.checks
  list.rule('answer', WITHIN_BOUNDS, fault === undefined ? [] : [fault])
  list.rule('answer', AWAITED_FRAMES, missing === undefined ? [] : [`${missing} did not arrive.`])
  judgeUpstream(cell, record, list, keys)
  judgeCaller(cell, record, list)
  return list.checks
}
