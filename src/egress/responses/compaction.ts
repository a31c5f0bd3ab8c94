import type { Part } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, State } from '../../canonical/request.ts'
import { type CanonicalResult, impliedReason } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, extrasFor } from '../fields.ts'
import { supportedTier } from '../sanitize/limits.ts'
import { endContentOf, writeItems } from './answer.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { writeHistory, writeMessage } from './input.ts'
import { answerId } from './response.ts'
import { TIERS } from './settings.ts'
import { writeUsage } from './usage.ts'

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  'model' | 'messages' | 'output' | 'sampling' | 'state' | 'serviceTier' | 'cacheKey' | 'stream'
> = {
  tools: 'no-tools-to-compact',
  toolChoice: 'no-tools-to-compact',
  parallelToolCalls: 'no-tools-to-compact',
  reasoning: 'no-settings-to-compact',
  endUser: 'no-users-to-compact',
  metadata: 'no-metadata-to-compact',
  cache: 'no-cache-marker-of-the-whole',
}
const STATE_LOSSES: Unwritten<State, 'previous'> = {
  store: 'nothing-kept-of-compacting',
  conversation: 'nothing-kept-of-compacting',
  background: 'nothing-kept-of-compacting',
  thread: 'no-threads',
}

/**
 * Writes a request to compact a conversation (docs/wire/responses.md#compaction): the history, and the few settings
 * that the endpoint supports.
 */
export function writeCompaction(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { losses } = context
  const { state, sampling, output } = request
  losses.dropFields(request, [], REQUEST_LOSSES)
  if (sampling.extras?.[FORMAT] !== undefined) losses.drop(['sampling', 'extras', FORMAT], 'no-settings-to-compact')
  const { extras: _, spelling: __, ...samplingSettings } = sampling
  const { compaction: ___, spelling: ____, ...outputSettings } = output
  for (const field of Object.keys(samplingSettings)) losses.drop(['sampling', field], 'no-settings-to-compact')
  for (const field of Object.keys(outputSettings)) losses.drop(['output', field], 'no-settings-to-compact')
  losses.dropFields(state, ['state'], STATE_LOSSES)
  if (request.stream) losses.change(['stream'], false, 'one-answer-as-a-whole')
  return {
    model: request.model,
    ...writeHistory(request, context),
    ...(defined({
      previous_response_id: state?.previous,
      prompt_cache_key: request.cacheKey,
      service_tier: supportedTier(request.serviceTier, TIERS, { native: false, losses }),
    }) as JsonObject),
    ...extrasFor(request, FORMAT),
  }
}

/** Writes a compacted conversation: the retained messages unchanged, and one encrypted item in place of all others. */
export function writeCompacted(messages: readonly Message[], encrypted: string, base: string): readonly Part[] {
  const context: WriteContext = { dialect: {}, losses: new Losses() }
  const items = messages.flatMap((message, index) => {
    const original = unchangedWire<JsonObject>(message, FORMAT)
    const written = original === undefined ? writeMessage(message, ['messages', index], context) : [original]
    return written.map(item => completeMessage(item, `msg_${base}_${index}`))
  })
  const item = { id: `cmp_${base}`, type: 'compaction', encrypted_content: encrypted }
  return [...items, item].map(value => ({ type: 'opaque', format: FORMAT, value }))
}

/** Returns a message in the form used in answers: with an id, a status and a list of parts. */
function completeMessage(item: JsonObject, id: string): JsonObject {
  const { content } = item
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : (content ?? [])
  return { ...item, type: 'message', id: item['id'] ?? id, status: item['status'] ?? 'completed', content: parts }
}

/** Writes an answer of the compaction endpoint, which has neither a model nor a tier and is never streamed. */
export function writeCompactionResult(result: CanonicalResult): Written<WireAnswer> {
  const losses = new Losses(foreignLosses(result, FORMAT))
  const [candidate = { content: [] }] = result.candidates
  const id = answerId(result.id)
  reportLosses(result, id, losses)
  const output = writeItems(candidate, id.replace(/^resp_/, ''), 'completed', ['candidates', 0], losses)
  if (result.usage === undefined) losses.add(['usage'], NO_TOKENS, 'usage-required')
  const body = {
    id,
    object: 'response.compaction',
    created_at: result.createdAt ?? 0,
    output,
    usage: writeUsage(result.usage ?? NO_TOKENS, losses),
    ...extrasFor(result, FORMAT),
  }
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const RESULT_LOSSES: Unwritten<CanonicalResult, 'id' | 'createdAt' | 'candidates' | 'usage' | 'complete'> = {
  model: 'no-model-named',
  serviceTier: 'no-tier-named',
  task: 'no-tasks',
  error: 'no-errors-in-answers',
}

/**
 * Reports changes to the fields that every answer has exactly once: id, time and candidate. The candidate's extras are
 * lost.
 */
export function reportHead(result: CanonicalResult, id: string, losses: Losses): void {
  const { candidates, createdAt } = result
  if (result.id === undefined) losses.add(['id'], id, 'id-required')
  else if (result.id !== id) losses.changeRestored(['id'], id, 'id-made-legal')
  if (createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  for (const index of candidates.keys()) if (index > 0) losses.drop(['candidates', index], 'one-answer-only')
  if (candidates[0]?.extras?.[FORMAT] !== undefined)
    losses.drop(['candidates', 0, 'extras', FORMAT], 'no-equivalent-field')
  if (candidates.length === 0 && result.error === undefined)
    losses.add(['candidates', 0], { content: [], finish: { reason: 'stop' } }, 'one-answer-always')
}

function reportLosses(result: CanonicalResult, id: string, losses: Losses): void {
  const { candidates } = result
  losses.dropFields(result, [], RESULT_LOSSES)
  reportHead(result, id, losses)
  const [candidate] = candidates
  if (candidate === undefined) return
  const finish = { reason: impliedReason(endContentOf(candidate)) }
  if (candidate.finish === undefined) losses.add(['candidates', 0, 'finish'], finish, 'finish-required')
  else if (candidate.finish.reason !== finish.reason || candidate.finish.stopSequence !== undefined)
    losses.change(['candidates', 0, 'finish'], finish, 'no-such-finish')
}
