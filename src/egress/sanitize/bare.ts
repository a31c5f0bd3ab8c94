import type { Losses, Path } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'

/* For formats that say one thing and nothing beside: everything else a canonical value holds is reported. */

/** Drops every field of the node but those named; extras and spelling are others' business (`foreign`). */
export function dropOthers(
  node: object | undefined,
  path: Path,
  kept: ReadonlySet<string>,
  reason: string,
  losses: Losses,
): void {
  for (const [field, value] of Object.entries(node ?? {}))
    if (value !== undefined && !kept.has(field) && field !== 'extras' && field !== 'spelling')
      losses.drop([...path, field], reason)
}

const REQUEST = new Set(['model', 'messages', 'output', 'sampling', 'stream'])
const MESSAGE = new Set(['role', 'content'])
const NOTHING: ReadonlySet<string> = new Set()

/** What a request says beside what it wants of which messages: `output` names the fields of it that are written. */
export function onlyAsks(request: CanonicalRequest, output: ReadonlySet<string>, losses: Losses): void {
  dropOthers(request, [], REQUEST, 'only-in-conversations', losses)
  dropOthers(request.sampling, ['sampling'], NOTHING, 'only-in-conversations', losses)
  dropOthers(request.output, ['output'], output, 'another-kind-of-answer', losses)
  for (const [index, message] of request.messages.entries())
    dropOthers(message, ['messages', index], MESSAGE, 'only-in-conversations', losses)
}

const CONVERSATIONAL = {
  tools: 'no-tools',
  toolChoice: 'no-tools',
  parallelToolCalls: 'no-tools',
  reasoning: 'no-reasoning',
  metadata: 'no-metadata',
  serviceTier: 'no-tiers',
  cache: 'no-cache-markers',
  cacheKey: 'no-cache-keys',
}

/** What only conversations have, for writers of other work that have a word for why each of it is lost. */
export function reportConversational(request: CanonicalRequest, losses: Losses): void {
  losses.dropFields(request, [], CONVERSATIONAL)
  dropOthers(request.sampling, ['sampling'], NOTHING, 'nothing-is-sampled', losses)
}

const CANDIDATE = new Set(['content'])

/** What a result says beside the content of its one candidate; `told` names the fields of its head that are written. */
export function onlyAnswers(result: CanonicalResult, told: ReadonlySet<string>, losses: Losses): void {
  dropOthers(result, [], told, 'not-told-here', losses)
  for (const [index, candidate] of result.candidates.entries())
    if (index > 0) losses.drop(['candidates', index], 'one-answer-only')
    else dropOthers(candidate, ['candidates', 0], CANDIDATE, 'not-told-here', losses)
}
