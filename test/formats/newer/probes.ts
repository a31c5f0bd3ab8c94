import { expect } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { Loss } from '../../../src/canonical/loss.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { CanonicalResult } from '../../../src/canonical/result.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { FOREIGN, NATIVE } from '../../builders/write-options.ts'
import { asked } from '../../laws/arbitrary-result.ts'
import { relayed } from '../../laws/relayed.ts'

/**
 * What becomes of a kind: a reader knows it; it passes whole to its own format and is a shown loss for others; or it is
 * a shown loss for its own format, too, because the upstream's dialect has to declare it.
 */
export type Status = 'read' | 'passes' | 'declared'

/** Finds out the status of a kind by its name; fails if it neither is read nor passes with a shown loss. */
export type Probe = (name: string) => Status

const PATHS: { readonly [format: string]: string } = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  contents: '/v1beta/models/m:generateContent',
}

/** The format whose writer shows what only the other format has. */
const otherThan = (format: string): string => (format === 'chat' ? 'messages' : 'chat')

const isOwn =
  (format: string) =>
  ({ reason }: Loss): boolean =>
    reason === `only-in-${format}` || reason === 'said-in-words'

/** Probes a request. One that is refused has a known field of a wrong type. */
export function probeRequest(format: string, body: JsonObject): Status {
  const wire = { path: PATHS[format]!, query: {}, headers: {}, body }
  try {
    const request = READERS[format]!.request!(wire)
    const { wire: own, losses } = WRITERS[format]!.request!(request, NATIVE)
    if (losses.length > 0) return 'declared'
    expect(own.body).toEqual(body)
    return statusOf(format, WRITERS[otherThan(format)]!.request!(request, FOREIGN).losses)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return 'read'
    throw thrown
  }
}

/** Probes a whole answer. */
export function probeAnswer(format: string, body: JsonObject): Status {
  const result: CanonicalResult = READERS[format]!.result!({ status: 200, headers: {}, body }, asked)
  expect(WRITERS[format]!.result!(result, asked).wire.body).toEqual(body)
  return statusOf(format, WRITERS[otherThan(format)]!.result!(result, asked).losses)
}

const statusOf = (format: string, losses: readonly Loss[]): Status => (losses.some(isOwn(format)) ? 'passes' : 'read')

const START: { readonly [format: string]: readonly JsonObject[] } = {
  messages: [
    {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'm', usage: { input_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'x_block' } },
  ],
  responses: ['created', 'in_progress'].map((state, sequence_number) => ({
    ...{ type: `response.${state}`, sequence_number },
    response: { id: 'resp_1', output: [] },
  })),
}

/** Probes an event in a stream. An event that is not read passes whole, where it came. */
export function probeEvent(format: string, event: JsonObject): Status {
  const sent = [...START[format]!, event]
  const wire = sent.map(one => ({ event: String(one['type']), data: JSON.stringify(one) }))
  const reader = READERS[format]!.events!(asked)
  const read = wire.map(one => reader.push(one))
  const isPassed = read.at(-1)!.some(one => one.type === 'opaque')
  if (!isPassed) return 'read'
  const { sequence_number: _, ...passed } = JSON.parse(relayed(format, asked, wire).at(START[format]!.length)!.data)
  expect(passed).toEqual(event)
  return 'passes'
}
