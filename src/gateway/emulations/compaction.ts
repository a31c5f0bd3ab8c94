import { GatewayError, notFound } from '../../canonical/error.ts'
import { foreignLosses, type Loss } from '../../canonical/loss.ts'
import { defined } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { excerpt } from '../../canonical/text.ts'
import type { ModelFacts } from '../../config/index.ts'
import { WRITERS } from '../../egress/index.ts'
import { COMPACT, isRecollection, LONGEST_SUMMARY, transcript } from '../compaction/summary.ts'
import type { Emulation } from '../types.ts'
import { unreadable } from './several.ts'

/** Characters of the user's own messages that are kept as they were, the latest first; the summary covers the others. */
const KEPT = 80_000

/** A compacted conversation from an upstream without compaction: it writes a summary, and the gateway seals that. */
export const compaction: Emulation = {
  losses: request => [...settings(request), ...unreadable(request), ...before(request)],
  answer: async (attempt, roundTrip) => {
    const { call, request, target, seal } = attempt
    // No request is sent for a summary that could not be sealed.
    await seal.load()
    const answered = await roundTrip(attempt, question(request, target.native))
    const summary = summaryIn(answered.result)
    const base = call.id.replace(/^[a-z]+_/, '')
    const content = WRITERS[call.format]!.compacted!(kept(request.messages), seal.seal(summary), base)
    const { model, createdAt, usage } = answered.result
    const result: CanonicalResult = {
      id: `resp_${base}`,
      ...defined({ model, createdAt, usage }),
      candidates: [{ content, finish: { reason: 'stop' } }],
    }
    const losses = answered.losses.filter(({ path }) => SHARED.has(path[0]))
    return { result, losses, headers: answered.headers }
  },
}

/**
 * Checks that the operator allows conversations with a model to be compacted.
 *
 * @throws GatewayError `not-found` where they may not.
 */
export function checkCompaction(model: string, facts: ModelFacts | undefined): void {
  if (facts?.compaction !== 'disabled') return
  throw notFound(
    `Conversations with the model "${excerpt(model)}" are not compacted here.`,
    'model',
    'model_not_supported',
  )
}

/** What the question has of the request itself; the rest of it is the gateway's own. */
const SHARED = new Set<unknown>(['serviceTier', 'cacheKey'])

/** Settings of the endpoint itself have no meaning where it is not the upstream's. */
const settings = ({ extras }: CanonicalRequest): readonly Loss[] => foreignLosses({ extras }, '')

/** What came before is not here. */
const before = ({ state }: CanonicalRequest): readonly Loss[] =>
  (['previous', 'conversation'] as const)
    .filter(field => state?.[field] !== undefined)
    .map(field => ({ kind: 'dropped', path: ['state', field], reason: 'no-kept-answers' }))

/** Nothing of it is kept upstream: absence means storing there for callers of the upstream's own format. */
const question = (request: CanonicalRequest, native: boolean): CanonicalRequest => ({
  model: request.model,
  messages: [
    { role: 'system', content: [{ type: 'text', text: COMPACT }] },
    { role: 'user', content: transcript(request) },
  ],
  output: {},
  sampling: { maxTokens: LONGEST_SUMMARY },
  ...(native ? { state: { store: false } } : {}),
  ...defined({ serviceTier: request.serviceTier, cacheKey: request.cacheKey }),
  stream: false,
})

function summaryIn({ candidates: [candidate] }: CanonicalResult): string {
  const text = (candidate?.content ?? [])
    .flatMap(part => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim()
  if (text !== '') return text
  throw new GatewayError({ kind: 'upstream-failed', message: 'The model gave no summary of the conversation.' })
}

/** The latest messages of the user that fit. */
function kept(messages: readonly Message[]): readonly Message[] {
  const out: Message[] = []
  let room = KEPT
  for (const message of messages.filter(one => one.role === 'user' && !isRecollection(one)).reverse()) {
    room -= JSON.stringify(message.content).length
    if (room < 0) break
    out.unshift(message)
  }
  return out
}
