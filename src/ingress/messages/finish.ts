import type { Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Candidate, Finish, FinishReason } from '../../canonical/result.ts'
import { anyText, defined, left } from '../fields.ts'

const FORMAT = 'messages'

const REASONS: { readonly [value: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  pause_turn: 'paused',
  compaction: 'paused',
  refusal: 'refused',
}

const TAKEN = new Set(['stop_reason', 'stop_sequence'])
/** A stop sequence without a finish has no meaning for other formats. */
const UNREAD = ['stop_sequence']
const TAKEN_REFUSAL = new Set([...TAKEN, 'stop_details'])

export const STOP_FIELDS = ['stop_reason', 'stop_sequence', 'stop_details'] as const

/**
 * Why an answer ended, from the fields of an answer or of a stream's last delta. Where calls were made, they are the
 * reason, whatever the upstream reports (trap 13). The explanation of a refusal is a part of the answer (trap 16).
 */
export function readStop(wire: JsonObject, called: boolean): Omit<Candidate, 'content'> & { refusal?: Part } {
  const stop: { [field: string]: Json } = {}
  for (const field of STOP_FIELDS) if (wire[field] !== undefined) stop[field] = wire[field]
  const refusal = readRefusal(stop['stop_details'])
  const finish = readFinish(anyText(stop['stop_reason']), anyText(stop['stop_sequence']), called)
  const taken = refusal === undefined ? TAKEN : TAKEN_REFUSAL
  return { ...defined({ finish, refusal }), ...left(FORMAT, stop, taken, finish === undefined ? UNREAD : undefined) }
}

function readFinish(value: string | undefined, stopSequence: string | undefined, called: boolean): Finish | undefined {
  if (value === undefined) return undefined
  const reason = Object.hasOwn(REASONS, value) ? REASONS[value]! : 'other'
  return { reason: reason === 'stop' && called ? 'tool-calls' : reason, raw: value, ...defined({ stopSequence }) }
}

const DETAILS = new Set(['explanation'])
const DETAILS_TYPED = new Set([...DETAILS, 'type'])

function readRefusal(details: Json | undefined): Part | undefined {
  const text = isObject(details) ? anyText(details['explanation']) : undefined
  if (!isObject(details) || text === undefined || text === '') return undefined
  const taken = details['type'] === 'refusal' ? DETAILS_TYPED : DETAILS
  return { type: 'refusal', text, ...left(FORMAT, details, taken) }
}
