import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, rest } from '../fields.ts'
import { readInnerError } from './error.ts'

const TAKEN = new Set(['input_tokens'])

/** Whether a path counts tokens and answers nothing. */
export const counts = (path: string): boolean => path.endsWith('/count_tokens')

/** `{input_tokens}` of `POST /v1/messages/count_tokens` (FORMATS §6), cached ones included. */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const input = anyNumber(body['input_tokens'])
  if (input === undefined) throw new GatewayError(body['error'] == null ? NOT_A_COUNT : readInnerError(body))
  return { candidates: [], usage: { input }, ...rest('messages', body, TAKEN) }
}

const NOT_A_COUNT = { kind: 'upstream-failed', message: 'The upstream sent something that is no count.' } as const
