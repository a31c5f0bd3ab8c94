import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Check } from '../../../../src/kit/conformance/checks.ts'
import { SESSION_FORMATS } from '../../../../src/kit/conformance/sockets/formats.ts'
import { judgeSession } from '../../../../src/kit/conformance/sockets/judge-session.ts'
import { type SessionCell, sessionCellsOf } from '../../../../src/kit/conformance/sockets/session-cells.ts'
import { readSessions } from '../../../../src/kit/conformance/sockets/session-scenario.ts'
import { idealSession, type SessionMutant, sessionMutants } from './ideal-session.ts'

/*
 * A target that does as the scripts do passes every session. A target that is wrong in a single place of a frame, or in
 * the order of two, is noticed by one session at least. `RUNS` is the number of sessions to draw, up to all.
 */

const ALL = Object.keys(SESSION_FORMATS)
const CELLS = sessionCellsOf({ sessions: readSessions(), callers: ALL, upstreams: ALL })
const NATIVE = CELLS.filter(({ caller, upstream }) => caller === upstream)

const RUNS = Number(process.env['RUNS'] ?? 8)
const MUTANTS = process.env['RUNS'] === undefined ? 60 : Number.POSITIVE_INFINITY

/** Changes that no session needs to notice: format, side, kind and place, and the reason. */
const FREEDOMS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/(_id|\.id)( and \w+)?$| and (\w+_id|id)$/, 'Ids are those of the gateway, if it uses them consistently.'],
  [
    / answer \w+ (session\.created|session\.updated|response\.created) /,
    'The gateway states the settings in use, and names its models.',
  ],
  [/ answer .*rate_limits\.updated/, 'Limits are those of the gateway, and optional.'],
  [/ setup \.setup\.model$/, 'A gateway names the models of its upstream.'],
  [
    / answer frame swapped /,
    'Things of different kinds may arrive in another order, as long as each begins before it goes on.',
  ],
  [
    /^realtime\S* answer (dropped|null|retyped) (conversation\.item\.\w+|response\.output_item\.added|response\.content_part\.added) \.(item\.content(\[\]\.transcript)?|item\.arguments|part\.(text|transcript))$/,
    'What begins is still empty.',
  ],
  [/^realtime\S* answer dropped response\.done \.response\.metadata$/, 'It is null.'],
  [
    /^realtime\S* request frame (repeated|swapped) session\.update( and .*)?$/,
    'A gateway may send the settings more than once, and before or after an item.',
  ],
]

const nameOf = ({ caller }: SessionCell, { side, kind, place }: SessionMutant): string =>
  `${caller.name} ${side} ${kind} ${place}`

const isFree = (name: string): boolean => FREEDOMS.some(([pattern]) => pattern.test(name))

const findings = (checks: readonly Check[]): string[] =>
  checks.flatMap(({ rule, status, details }) => (status === 'pass' ? [] : [`${status} ${rule} ${details?.join()}`]))

function noticerOf(cell: SessionCell): (mutant: SessionMutant) => boolean {
  const known = new Set(findings(judgeSession(cell, idealSession(cell))))
  return ({ value }) => findings(judgeSession(cell, value)).some(finding => !known.has(finding))
}

function isNoticedElsewhere(name: string, cell: SessionCell): boolean {
  return NATIVE.some(other => {
    if (other.caller !== cell.caller || other === cell) return false
    const isNoticed = noticerOf(other)
    return sessionMutants(idealSession(other)).some(mutant => nameOf(other, mutant) === name && isNoticed(mutant))
  })
}

/** Draws some of a list, in their order. */
const drawn = <T>(list: readonly T[], count: number): readonly T[] =>
  count >= list.length ? list : fc.sample(fc.subarray([...list], { minLength: count, maxLength: count }), 1)[0]!

test.each(CELLS.map(cell => [cell.id, cell] as const))('the scripts of %s are right translations', (_, cell) => {
  const failed = judgeSession(cell, idealSession(cell)).filter(({ status }) => status === 'fail')
  expect(failed.map(({ id, details }) => `${id}: ${details}`)).toEqual([])
})

describe('every change of one place is noticed', () => {
  test.each(drawn(NATIVE, RUNS).map(cell => [cell.id, cell] as const))('%s', (_, cell) => {
    const isNoticed = noticerOf(cell)
    const survivors = new Set<string>()
    for (const mutant of drawn([...sessionMutants(idealSession(cell))], MUTANTS)) {
      const name = nameOf(cell, mutant)
      if (!isFree(name) && !isNoticed(mutant)) survivors.add(name)
    }
    expect([...survivors].filter(name => !isNoticedElsewhere(name, cell))).toEqual([])
  })
})
