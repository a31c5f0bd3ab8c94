import type { JsonObject } from '../../../../src/kit/conformance/json.ts'
import { dataOf, type Frame, frameWith, typeOf } from '../../../../src/kit/conformance/sockets/frame.ts'
import type { SessionRecord } from '../../../../src/kit/conformance/sockets/judge-session.ts'
import type { SessionCell } from '../../../../src/kit/conformance/sockets/session-cells.ts'
import type { SessionFormat } from '../../../../src/kit/conformance/sockets/session-format.ts'
import type { Line, Side } from '../../../../src/kit/conformance/sockets/session-scenario.ts'
import { type Mutant, mutantsOf } from '../mutants.ts'

/* Records of sessions with a target that does as the scripts do, and of targets that are wrong in one place. */

const framesOf = (lines: readonly Line[], side: Side): JsonObject[] =>
  lines.flatMap(line => (line.side === side && 'frame' in line ? [line.frame] : []))

/** Returns the record of a session whose two sides follow their scripts. */
export function idealSession({ caller, upstream, scenario }: SessionCell): SessionRecord {
  const scriptOf = ({ name }: SessionFormat): readonly Line[] => scenario.scripts[name]!
  const own = scriptOf(caller)
  const target = upstream ?? caller
  const theirs = scriptOf(target)
  const withModel = (frames: readonly JsonObject[], { withModel: add }: SessionFormat): JsonObject[] =>
    frames.map(frame => add(frame, 'kit'))
  const close = own.find(line => line.side === 'server' && 'close' in line)
  return {
    client: withModel(framesOf(own, 'client'), caller).map(frameWith),
    server: framesOf(own, 'server').map(frameWith),
    ...(close !== undefined && 'close' in close ? { closed: close.close } : {}),
    arrivals: [
      {
        format: target.name,
        path: target.path('kit'),
        headers: target.headers('kit-key'),
        received: withModel(framesOf(theirs, 'client'), target).map(frameWith),
        sent: framesOf(theirs, 'server'),
        closed: undefined,
        ...(target.secrets === undefined ? {} : { secretSession: scenario.secret?.session }),
      },
    ],
  }
}

export interface SessionMutant extends Mutant<SessionRecord> {
  readonly side: 'request' | 'answer'
}

/** Returns every copy of a list of frames in which one frame is dropped, repeated, swapped or changed. */
function* frameMutants(frames: readonly Frame[]): Generator<Mutant<readonly Frame[]>> {
  for (const [index, frame] of frames.entries()) {
    const label = typeOf(frame.data) || Object.keys(dataOf([frame])[0] ?? {}).join('+')
    yield { kind: 'frame dropped', place: label, value: frames.toSpliced(index, 1) }
    yield { kind: 'frame repeated', place: label, value: frames.toSpliced(index, 0, frame) }
    const next = frames[index + 1]
    if (next !== undefined && next.text !== frame.text)
      yield {
        kind: 'frame swapped',
        place: `${label} and ${typeOf(next.data) || Object.keys(dataOf([next])[0] ?? {}).join('+')}`,
        value: frames.toSpliced(index, 2, next, frame),
      }
    for (const { value, ...mutant } of mutantsOf(frame.data ?? null))
      if (mutant.place !== '')
        yield {
          ...mutant,
          place: `${label} ${mutant.place}`,
          value: frames.with(index, frameWith(value as JsonObject)),
        }
  }
}

/** Returns the records of every faulty target that differs from a correct one in a single frame. */
export function* sessionMutants(record: SessionRecord): Generator<SessionMutant> {
  const [arrival] = record.arrivals
  for (const { value, ...mutant } of frameMutants(arrival!.received))
    yield { side: 'request', ...mutant, value: { ...record, arrivals: [{ ...arrival!, received: value }] } }
  for (const { value, ...mutant } of frameMutants(record.server))
    yield { side: 'answer', ...mutant, value: { ...record, server: value } }
  const { closed } = record
  if (closed !== undefined) {
    yield {
      side: 'answer',
      kind: 'changed',
      place: 'close code',
      value: { ...record, closed: { ...closed, code: 1011 } },
    }
    yield {
      side: 'answer',
      kind: 'emptied',
      place: 'close reason',
      value: { ...record, closed: { ...closed, reason: '' } },
    }
  }
}
