import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, rest, spelling } from '../fields.ts'
import { readInnerError } from './error.ts'

const TAKEN = new Set(['object', 'input_tokens'])

/** `{object, input_tokens}` of `POST /v1/responses/input_tokens` (FORMATS §4). */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const input = anyNumber(body['input_tokens'])
  if (input === undefined) throw new GatewayError(body['error'] == null ? NOT_A_COUNT : readInnerError(body))
  const object = body['object'] === 'response.input_tokens' ? undefined : (body['object'] ?? 'absent')
  return { candidates: [], usage: { input }, ...rest('responses', body, TAKEN, spelling({ object })) }
}

const NOT_A_COUNT = { kind: 'upstream-failed', message: 'The upstream sent something that is no count.' } as const
