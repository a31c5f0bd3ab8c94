import type { RankPart } from '../../canonical/content.ts'
import { foreign, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Usage } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { onlyAnswers } from '../sanitize/bare.ts'
import { inputRequired, withCounts } from '../usage/input-usage.ts'
import { writeMeta } from '../usage/meta.ts'
import { FORMAT, writeDocument } from './documents.ts'

const WRITTEN = new Set(['id', 'model', 'candidates', 'usage'])

/** A whole answer (FORMATS §9) in the form that the client expects: Jina's, Cohere's or Voyage's. */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  onlyAnswers(result, WRITTEN, losses)
  const original = spelt(result, FORMAT)
  const style = (spelt(request, FORMAT)['style'] ?? original['shape'] ?? 'jina') as string
  const object =
    (original['shape'] === style ? original['object'] : undefined) ?? (style === 'cohere' ? 'absent' : 'list')
  const spent = writeSpent(result, style, original['shape'] === style, losses)
  const body = {
    ...defined({ id: result.id, model: result.model }),
    ...(object === 'absent' ? {} : { object }),
    [style === 'voyage' ? 'data' : 'results']: writeRanks(result, style, original['shape'] === style, losses),
    ...defined({ [style === 'cohere' ? 'meta' : 'usage']: spent }),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** Cohere's clients accept a missing usage; other clients require it. */
function writeSpent({ usage }: CanonicalResult, style: string, same: boolean, losses: Losses): JsonObject | undefined {
  if (style === 'cohere') return usage && writeMeta(FORMAT, usage, losses)
  if (usage === undefined && !same) losses.add(['usage'], NOTHING_COUNTED, 'usage-required')
  return usage === undefined && same ? undefined : writeUsage(usage ?? NOTHING_COUNTED, same, losses)
}

const NOTHING_COUNTED = { input: 0 }

function writeRanks({ candidates }: CanonicalResult, style: string, same: boolean, losses: Losses): readonly Json[] {
  return (candidates[0]?.content ?? []).flatMap((part, index): Json[] => {
    const plain = style === 'voyage' || (same && spelt(part, FORMAT)['document'] === 'string')
    const path: Path = ['candidates', 0, 'content', index]
    if (part.type === 'rank') return [writeRank(part, path, plain, losses)]
    if (part.type === 'opaque' && part.format === FORMAT) return [part.value]
    // A part of another format is reported with all such, unless it has a text.
    if (part.type !== 'opaque' || part.text !== undefined) losses.drop(path, 'no-place-for-it')
    return []
  })
}

/** `plain`: a document that is a single text is written as a string. */
function writeRank(rank: RankPart, path: Path, plain: boolean, losses: Losses): JsonObject {
  const context = { textOnly: false, plain: (text: string) => (plain ? text : { text }), losses }
  return {
    index: rank.index,
    relevance_score: rank.score,
    ...defined({ document: rank.content && writeDocument(rank.content, [...path, 'content'], context) }),
    ...kept(rank, FORMAT),
  }
}

const NO_PLACE: Unwritten<Usage, 'input'> = {
  cacheRead: 'input-only',
  cacheWrite: 'input-only',
  output: 'input-only',
  reasoning: 'input-only',
  outputBy: 'input-only',
  inputBy: 'no-counts-by-kind',
  searches: 'tokens-only',
  hostedCalls: 'tokens-only',
}

function writeUsage(usage: Usage, same: boolean, losses: Losses): JsonObject {
  const whole = same ? spelt(usage, FORMAT)['whole'] : undefined
  if (whole !== undefined) return withCounts(whole as JsonObject, usage, ['total_tokens'])
  losses.dropFields(usage, ['usage'], NO_PLACE)
  return { total_tokens: inputRequired(usage, losses), ...kept(usage, FORMAT) }
}
