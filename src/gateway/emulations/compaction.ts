import type { Part } from '../../canonical/content.ts'
import { GatewayFailure, notFound } from '../../canonical/error.ts'
import { foreignLosses, type Loss } from '../../canonical/loss.ts'
import { defined } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { excerpt } from '../../canonical/text.ts'
import type { ModelFacts } from '../../config/index.ts'
import { WRITERS } from '../../egress/index.ts'
import { isSummaryTurn, MAX_SUMMARY_TOKENS, SUMMARY_PROMPT, transcript } from '../compaction/summary.ts'
import type { Emulation } from '../types.ts'
import { lossesOfReferences } from './several.ts'

/**
 * Maximum number of characters of the user's messages that are repeated verbatim, latest first. The summary covers the
 * rest.
 */
const MAX_VERBATIM_LENGTH = 80_000

/**
 * Compacts a conversation at an upstream without compaction: the model writes a summary, and the gateway encrypts it.
 */
export const compaction: Emulation = {
  losses: request => [...endpointSettings(request), ...lossesOfReferences(request), ...unavailableState(request)],
  answer: async (attempt, roundTrip) => {
    const { request, target, cipher } = attempt
    const { call } = attempt.incoming
    // If the summary cannot be encrypted, this fails before the request is sent.
    await cipher.load()
    const wholeAnswer = await roundTrip(attempt, summaryRequest(request, target.native))
    const summary = summaryIn(wholeAnswer.result)
    const base = call.id.replace(/^[a-z]+_/, '')
    const content = WRITERS[call.format]!.compacted!(latestMessages(request.messages), cipher.encrypt(summary), base)
    const { model, createdAt, usage } = wholeAnswer.result
    const result: CanonicalResult = {
      id: `resp_${base}`,
      ...defined({ model, createdAt, usage }),
      candidates: [{ content, finish: { reason: 'stop' } }],
    }
    const losses = wholeAnswer.losses.filter(({ path }) => SHARED_FIELDS.has(path[0]))
    return { result, losses, headers: wholeAnswer.headers }
  },
}

/**
 * Checks that the operator allows conversations with the model to be compacted.
 *
 * @throws GatewayError `not-found` if the operator does not.
 */
export function checkCompaction(model: string, facts: ModelFacts | undefined): void {
  if (facts?.compaction !== 'disabled') return
  throw notFound(
    `This gateway does not compact conversations with the model "${excerpt(model)}".`,
    'model',
    'model_not_supported',
  )
}

/** Fields of the caller's request that the summary request repeats. The gateway chooses all others. */
const SHARED_FIELDS = new Set<unknown>(['serviceTier', 'cacheKey'])

/** Returns losses for settings of the caller's endpoint, which the summary request cannot carry. */
const endpointSettings = ({ extras }: CanonicalRequest): readonly Loss[] => foreignLosses({ extras }, '')

/** Returns losses for references to earlier turns, which are not available here. */
const unavailableState = ({ state }: CanonicalRequest): readonly Loss[] =>
  (['previous', 'conversation'] as const)
    .filter(field => state?.[field] !== undefined)
    .map(field => ({ kind: 'dropped', path: ['state', field], reason: 'no-kept-answers' }))

/** Creates the request for a summary. Tells a native upstream not to store it, because storing is the default. */
const summaryRequest = (request: CanonicalRequest, native: boolean): CanonicalRequest => ({
  model: request.model,
  messages: [
    { role: 'system', content: [{ type: 'text', text: SUMMARY_PROMPT }] },
    { role: 'user', content: transcript(request) },
  ],
  output: {},
  sampling: { maxTokens: MAX_SUMMARY_TOKENS },
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
  // The conversation may have asked for it, so that the channel is not at fault.
  throw new GatewayFailure({ kind: 'upstream-failed', message: 'The model returned no summary of the conversation.' })
}

/** Length that an image counts for, in characters: its tokens as text, whatever its bytes. */
const IMAGE_LENGTH = 6000

const lengthOf = (part: Part): number =>
  part.type === 'media' && part.kind === 'image' ? IMAGE_LENGTH : JSON.stringify(part).length

/** Returns as many of the user's latest messages as the limit allows. */
function latestMessages(messages: readonly Message[]): readonly Message[] {
  const latest: Message[] = []
  let remaining = MAX_VERBATIM_LENGTH
  for (const message of messages.filter(turn => turn.role === 'user' && !isSummaryTurn(turn)).reverse()) {
    for (const part of message.content) remaining -= lengthOf(part)
    if (remaining < 0) break
    latest.unshift(message)
  }
  return latest
}
