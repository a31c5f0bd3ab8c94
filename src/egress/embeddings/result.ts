import type { EmbeddingPart } from '../../canonical/content.ts'
import { foreign, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Usage } from '../../canonical/result.ts'
import { encodingOf, NumbersText, type Vector, vectorAs } from '../../canonical/vector.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { kept, spelt } from '../fields.ts'
import { inputRequired, withCounts } from '../usage/input-usage.ts'
import { FORMAT } from './input.ts'

/** A whole answer as a list of embeddings (FORMATS §8), in the requested encoding, else as they came. */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], RESULT_LOSSES)
  const own = spelt(result, FORMAT)
  const present = (own['with'] ?? []) as readonly string[]
  const absent = (own['without'] ?? []) as readonly string[]
  if (!present.includes('id')) losses.dropFields(result, [], { id: 'no-id' })
  if (!present.includes('created')) losses.dropFields(result, [], { createdAt: 'no-time' })
  if (result.model === undefined && !absent.includes('model')) losses.add(['model'], request.model, 'model-required')
  if (result.usage === undefined && !absent.includes('usage')) losses.add(['usage'], NOTHING_COUNTED, 'usage-required')
  const fields = {
    ...(present.includes('id') ? { id: result.id } : {}),
    object: own['object'] ?? 'list',
    ...(present.includes('created') ? { created: result.createdAt } : {}),
    data: writeData(result.candidates, request, losses),
    model: result.model ?? request.model,
    usage: writeUsage(result.usage ?? NOTHING_COUNTED, losses),
  } as JsonObject
  const body = { ...without(own['without'], fields), ...kept(result, FORMAT) }
  return { wire: { status: 200, headers: {}, ...bodyOrText(body) }, losses: losses.list }
}

/** Clients require a token count. */
const NOTHING_COUNTED = { input: 0 }

const RESULT_LOSSES: Unwritten<CanonicalResult, 'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'complete'> = {
  task: 'no-tasks',
  error: 'no-error-beside-an-answer',
  serviceTier: 'no-tiers',
}
const CANDIDATE_LOSSES: Unwritten<Candidate, 'content'> = {
  finish: 'nothing-to-finish',
  logprobs: 'no-logprobs',
  transcript: 'no-transcript',
}

/** Unparsed vectors are passed through, so the body is a text then. */
function bodyOrText(body: JsonObject): Pick<WireAnswer, 'body' | 'raw'> {
  const { data, ...others } = body
  const entries = data as readonly JsonObject[]
  if (!entries.some(isUnread)) return { body }
  const head = JSON.stringify(others).slice(0, -1)
  const text = `${head}${head === '{' ? '' : ','}"data":[${entries.map(entryText).join(',')}]}`
  return { body: {}, raw: { mediaType: 'application/json; charset=utf-8', text } }
}

const isUnread = ({ embedding }: JsonObject): boolean => (embedding as unknown) instanceof NumbersText

function entryText(entry: JsonObject): string {
  if (!isUnread(entry)) return JSON.stringify(entry)
  const { embedding, ...others } = entry
  const head = JSON.stringify(others).slice(0, -1)
  return `${head}${head === '{' ? '' : ','}"embedding":${(embedding as unknown as NumbersText).json}}`
}

/** The fields without those that the upstream left out. */
function without(names: unknown, fields: JsonObject): JsonObject {
  if (names === undefined) return fields
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !(names as readonly string[]).includes(name)))
}

function writeData([candidate, ...others]: readonly Candidate[], request: CanonicalRequest, losses: Losses) {
  for (const index of others.keys()) losses.drop(['candidates', index + 1], 'one-candidate')
  const data: JsonObject[] = []
  if (candidate === undefined) return data
  losses.dropFields(candidate, ['candidates', 0], CANDIDATE_LOSSES)
  dropOwn(candidate, ['candidates', 0], losses)
  const encoding = request.output.embedding?.encoding
  for (const [index, part] of candidate.content.entries()) {
    const path: Path = ['candidates', 0, 'content', index]
    if (part.type === 'embedding') data.push(writeEntry(part, data.length, inEncoding(part, encoding, path, losses)))
    else if (part.type === 'opaque' && part.format === FORMAT) data.push(part.value)
    else losses.drop(path, 'no-vector')
  }
  return data
}

/** The vector in the requested encoding; a conversion is no loss to the caller. */
function inEncoding(part: EmbeddingPart, encoding: 'float' | 'base64' | undefined, path: Path, losses: Losses): Vector {
  if (encoding === undefined || encoding === encodingOf(part.vector)) return part.vector
  const vector = vectorAs(part.vector, encoding)
  losses.rename([...path, 'vector'], vector, `asked-as-${encoding}`)
  return vector
}

function writeEntry(part: EmbeddingPart, at: number, vector: Vector): JsonObject {
  const embedding = vector as unknown as Json
  const bare = { object: 'embedding', index: at, embedding }
  if (part.spelling?.[FORMAT] === undefined && part.extras?.[FORMAT] === undefined) return bare
  const { without: names, index = at, object = 'embedding' } = spelt(part, FORMAT)
  return without(names, { object, index, embedding, ...kept(part, FORMAT) })
}

const USAGE_LOSSES: Unwritten<Usage, 'input'> = {
  searches: 'no-count-of-searches',
  cacheRead: 'input-only',
  cacheWrite: 'input-only',
  output: 'input-only',
  reasoning: 'input-only',
  outputBy: 'input-only',
  inputBy: 'no-counts-by-kind',
  hostedCalls: 'no-count-of-hosted-calls',
}

function writeUsage(usage: Usage, losses: Losses): JsonObject {
  const whole = spelt(usage, FORMAT)['whole']
  if (whole !== undefined) return withCounts(whole as JsonObject, usage, ['prompt_tokens', 'total_tokens'])
  losses.dropFields(usage, ['usage'], USAGE_LOSSES)
  const input = inputRequired(usage, losses)
  return { prompt_tokens: input, total_tokens: input, ...kept(usage, FORMAT) }
}

function dropOwn(node: Node, path: Path, losses: Losses): void {
  for (const field in node.extras?.[FORMAT]) losses.drop([...path, 'extras', FORMAT, field], 'no-place-for-it')
}
