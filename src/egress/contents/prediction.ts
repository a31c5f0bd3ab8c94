import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/result.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { ContentsDialect } from '../../formats/dialects/contents.ts'
import { joinedText, plainTextOf } from '../sanitize/joined-text.ts'
import { dropExtras } from '../sanitize/unwritten.ts'
import { FORMAT, nativeExtras, nestedExtras, withExtras } from './fields.ts'
import { MESSAGE_LOSSES } from './messages.ts'
import { pathOf } from './path.ts'

/* Vectors of Google Cloud's models that have no `:embedContent` (docs/wire/embeddings.md#prediction). */

/** Matches the models of Google Cloud that embed by `:predict`. */
const PREDICTING = /(?:^|\/)(?:gemini-embedding-001$|text-embedding-\d|text-multilingual-embedding|textembedding-gecko)/

/** Returns true if the upstream refuses `:embedContent` for a model, and embeds by `:predict`. */
export const predicts = (model: string, { vertex }: ContentsDialect): boolean =>
  vertex === true && PREDICTING.test(model)

/** Settings that all inputs share, in the format's values. */
export interface SharedSettings {
  readonly taskType: string | undefined
  readonly outputDimensionality: number | undefined
}

/**
 * Writes the inputs as `:predict` (docs/wire/embeddings.md#prediction). A setting in which the inputs differ is that of
 * each input, and for the length that of the first one: Google Cloud gets one input at a time.
 */
export function writePrediction(
  request: CanonicalRequest,
  { taskType, outputDimensionality }: SharedSettings,
  dialect: ContentsDialect,
): Written<WireRequest> {
  const losses = new Losses(foreignLosses(request, FORMAT))
  dropExtras(request, [], FORMAT, losses)
  const instances = request.messages.map((message, index) =>
    writeInstance(message, ['messages', index], taskType, losses),
  )
  const extras = nativeExtras(request.messages[0])
  const parameters = withExtras(undefined, {
    outputDimensionality: outputDimensionality ?? extras?.['outputDimensionality'],
    autoTruncate: nestedExtras(extras, 'embedContentConfig')?.['autoTruncate'],
  })
  const body = { instances, parameters }
  return {
    wire: { path: pathOf(request.model, 'predict', dialect), query: {}, headers: {}, body },
    losses: losses.list,
  }
}

/** Extras of an input that an instance has a field for. The length is a parameter of the request. */
const WRITTEN_EXTRAS = new Set(['title', 'taskType', 'outputDimensionality'])

function writeInstance(message: Message, path: Path, taskType: string | undefined, losses: Losses): JsonObject {
  const extras = nativeExtras(message)
  const config = nestedExtras(extras, 'embedContentConfig')
  for (const field in extras)
    if (!WRITTEN_EXTRAS.has(field) && !(field === 'embedContentConfig' && isWritten(config)))
      losses.drop([...path, 'extras', FORMAT, field], 'no-equivalent-field')
  return withExtras(undefined, {
    content: writeText(message, path, losses),
    task_type: taskType ?? extras?.['taskType'],
    title: extras?.['title'] ?? config?.['title'],
  })
}

const WRITTEN_CONFIG = new Set(['title', 'autoTruncate'])

const isWritten = (config: JsonObject | undefined): boolean =>
  Object.keys(config ?? {}).every(field => WRITTEN_CONFIG.has(field))

/**
 * Writes vectors as predictions. Clients demand a count of tokens of each: the first one has that of the request, which
 * is all that upstreams count.
 */
export const writePredictions = (vectors: readonly JsonObject[], usage: Usage | undefined): readonly JsonObject[] =>
  vectors.map((vector, index) => {
    const statistics = { token_count: index === 0 ? (usage?.input ?? 0) : 0, truncated: false }
    return {
      embeddings: { ...vector, statistics: { ...statistics, ...(vector['statistics'] as JsonObject | undefined) } },
    }
  })

/** Joins all text parts of an input. Other parts are lost. */
function writeText(message: Message, path: Path, losses: Losses): string {
  losses.dropFields(message, path, MESSAGE_LOSSES)
  if (message.role !== 'user') losses.change([...path, 'role'], 'user', 'no-roles')
  return joinedText(message.content, [...path, 'content'], losses, (part, at) =>
    plainTextOf(part, at, {
      ...{ format: FORMAT, losses },
      reason: part.type === 'media' ? 'no-media' : 'no-equivalent-field',
    }),
  )
}
