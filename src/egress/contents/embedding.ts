import { CallIds } from '../../canonical/call-ids.ts'
import { foreign, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, EmbeddingPurpose, Message } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, spelt } from '../fields.ts'
import { type Conversational, reportConversational } from '../sanitize/bare.ts'
import { Budget } from '../sanitize/budget.ts'
import type { WriteOptions } from '../writer.ts'
import { contentsDialect } from './dialect.ts'
import { FORMAT, inner, type WriteContext, withExtras, withExtrasUnlessEmpty } from './fields.ts'
import { PartsWriter } from './parts.ts'
import { modelOf, pathOf } from './request.ts'

/**
 * Inputs to embed as `:batchEmbedContents`, one request each (FORMATS §8); a single one as `:embedContent` where the
 * caller used it, or where the upstream has no batches.
 */
export function writeEmbedding(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  const context: WriteContext = {
    dialect: contentsDialect(options.dialect),
    native: options.native,
    losses,
    budget: new Budget(),
  }
  const marks = context.native ? spelt(request, FORMAT) : {}
  const alone = request.messages.length === 1 && (marks['method'] === 'embedContent' || context.dialect.vertex === true)
  const items = request.messages.map((message, index) =>
    writeItem(message, ['messages', index], request, alone, context),
  )
  const body = withExtras(request, alone ? items[0]! : { requests: items })
  report(request, losses)
  const path = pathOf(request, alone ? 'embedContent' : 'batchEmbedContents', context)
  const query = (marks['query'] ?? {}) as { readonly [name: string]: string }
  return { wire: { path, query, headers: {}, body }, losses: losses.list }
}

const PURPOSES: { readonly [P in EmbeddingPurpose]: string } = {
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  similarity: 'SEMANTIC_SIMILARITY',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
  'question-answering': 'QUESTION_ANSWERING',
  'fact-verification': 'FACT_VERIFICATION',
  'code-query': 'CODE_RETRIEVAL_QUERY',
}

/** Settings of the whole request are written for each input; Google's cloud reads them in the config only. */
function writeItem(
  message: Message,
  path: Path,
  request: CanonicalRequest,
  alone: boolean,
  context: WriteContext,
): JsonObject {
  const { purpose, dimensions } = request.output.embedding ?? {}
  const { config = context.dialect.vertex === true && !context.native ? SETTINGS : [] } = spelt(message, FORMAT)
  const settings = Object.entries({
    taskType: purpose === undefined ? undefined : PURPOSES[purpose],
    outputDimensionality: dimensions,
  })
  const within = ([field]: readonly [string, unknown]): boolean => (config as readonly string[]).includes(field)
  return withExtras(message, {
    model: writeModel(message, request.model, alone, context),
    content: writeContent(message, path, context),
    ...Object.fromEntries(settings.filter(setting => !within(setting))),
    embedContentConfig: withExtrasUnlessEmpty(
      inner(message, 'embedContentConfig'),
      defined(Object.fromEntries(settings.filter(within))),
    ),
  })
}

const SETTINGS = ['taskType', 'outputDimensionality']

/** Each request of a batch names the model, as the path does. */
function writeModel(message: Message, model: string, alone: boolean, { native }: WriteContext): Json | undefined {
  if (native) return modelOf(spelt(message, FORMAT)['model'], model)
  return alone ? undefined : `models/${model}`
}
const MESSAGE_LOSSES: Unwritten<Message, 'role' | 'content'> = { name: 'no-speaker-names' }

function writeContent(message: Message, path: Path, context: WriteContext): JsonObject {
  context.losses.dropFields(message, path, MESSAGE_LOSSES)
  if (message.role !== 'user') context.losses.change([...path, 'role'], 'user', 'no-roles')
  const writer = new PartsWriter(context, new CallIds())
  writer.putAll(message, 'user', path)
  writer.end()
  const { parts } = writer
  const node = inner(message, 'content')
  const { parts: how, role } = context.native ? spelt(node, FORMAT) : {}
  return withExtras(node, {
    role,
    parts: how === 'single' ? parts[0] : how === 'absent' && parts.length === 0 ? undefined : parts,
  })
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  Conversational | 'model' | 'messages' | 'output' | 'sampling' | 'stream'
> = { state: 'no-state', endUser: 'no-end-user' }

/** The encoding is not sent to the upstream: the answer is converted to the one that the caller requested. */
function report(request: CanonicalRequest, losses: Losses): void {
  reportConversational(request, losses)
  losses.dropFields(request, [], REQUEST_LOSSES)
  if (request.output.embedding?.encoding !== undefined)
    losses.hide(['output', 'embedding', 'encoding'], 'always-numbers')
}
