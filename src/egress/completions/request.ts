import type { Part, TextPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Message, Output } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { completionsDialect } from '../../formats/dialects/completions.ts'
import { SETTINGS } from '../../formats/settings/completions.ts'
import { defined, extrasFor } from '../fields.ts'
import { type NativeRequest, nativeSourceOf } from '../native.ts'
import { limitedStops } from '../sanitize/limits.ts'
import { writeSettings } from '../settings.ts'
import { nativeRequestBody, streamFields, wantsUsage } from '../stream-options.ts'
import type { WriteOptions } from '../writer.ts'
import { hasRefusedSuffix, withSuffixInPrompt } from './fill-in.ts'

export const FORMAT = 'completions'

/** Fields that may change while the rest of a native request is passed on as received. */
const REWRITTEN: ReadonlySet<string> = new Set(['model', 'stream'])

/**
 * Writes the canonical request as `POST /completions` (docs/wire/completions.md#request). Every message becomes a
 * prompt.
 */
export function writeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = completionsDialect(options.dialect)
  const requestsUsage = dialect.include_usage === true
  const isTaken = options.native && !hasRefusedSuffix(request, dialect)
  const original = isTaken ? nativeSourceOf(request, FORMAT, REWRITTEN) : undefined
  const source = dialect.prompts === 'one' && hasListOfOne(original) ? undefined : original
  const losses = new Losses()
  const body =
    source === undefined
      ? writeBody(withSuffixInPrompt(request, dialect, losses), requestsUsage, losses)
      : nativeRequestBody(request, source, requestsUsage)
  return { wire: { path: '/completions', query: {}, headers: {}, body }, losses: losses.list }
}

/** Returns true for a list of one text, which upstreams of one prompt refuse as any list. */
function hasListOfOne(source: NativeRequest | undefined): boolean {
  const prompt = source?.wire.body['prompt']
  return Array.isArray(prompt) && prompt.length === 1 && typeof prompt[0] === 'string'
}

function writeBody(request: CanonicalRequest, requestsUsage: boolean, losses: Losses): JsonObject {
  losses.report(foreignLosses(request, FORMAT))
  losses.dropFields(request, [], REQUEST_LOSSES)
  const { stop, logprobs } = request.sampling
  const extras = extrasFor(request, FORMAT)
  return {
    model: request.model,
    prompt: writePrompt(request, losses),
    ...writeSettings(SETTINGS, request, losses),
    ...(defined({ stop: limitedStops(stop, 4, losses), logprobs }) as JsonObject),
    ...writeOutput(request.output, losses),
    ...extras,
    ...streamFields(request, requestsUsage || wantsUsage(request, FORMAT), extras),
  }
}

const REQUEST_LOSSES: Unwritten<
  CanonicalRequest,
  'model' | 'messages' | 'output' | 'sampling' | 'stream' | SettingName
> = {
  tools: 'no-tools',
  toolChoice: 'no-tools',
  reasoning: 'no-reasoning',
  state: 'no-storage',
  cache: 'no-cache-markers',
}
const OUTPUT_LOSSES: Unwritten<
  Output,
  SettingName | 'embedding' | 'ranking' | 'transcript' | 'completion' | 'count' | 'compaction'
> = {
  modalities: 'text-only',
  text: 'no-shapes-of-text',
  image: 'text-only',
  audio: 'text-only',
  video: 'text-only',
}

function writeOutput(output: Output, losses: Losses): JsonObject {
  losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  const { completion } = output
  return defined({ suffix: completion?.suffix, echo: completion?.echo }) as JsonObject
}

/**
 * Writes messages as independent prompts (docs/wire/completions.md#prompts). A single prompt is written without a list.
 */
function writePrompt(request: CanonicalRequest, losses: Losses): Json {
  const prompts = request.messages.map((message, index) => writeMessage(message, ['messages', index], losses))
  return prompts.length === 1 ? prompts[0]! : prompts
}
const MESSAGE_LOSSES: Unwritten<Message, 'role' | 'content'> = { name: 'prompts-have-no-names' }

function writeMessage(message: Message, path: Path, losses: Losses): Json {
  if (message.role !== 'user') losses.change([...path, 'role'], 'user', 'prompts-have-no-roles')
  losses.dropFields(message, path, MESSAGE_LOSSES)
  const tokens = tokenIdsOf(message.content)
  if (tokens !== undefined) return tokens
  return joinedText(message.content, [...path, 'content'], losses)
}

/** Returns the token ids of a prompt given as tokens. Such a prompt has no other parts. */
function tokenIdsOf(content: readonly Part[]): Json | undefined {
  const [only, ...others] = content
  if (others.length > 0 || only?.type !== 'opaque' || only.format !== FORMAT) return undefined
  return only.value['tokens']
}

/**
 * Joins all text parts of a prompt. The first part is reported as changed to the joined text, and all others as
 * dropped.
 */
function joinedText(content: readonly Part[], path: Path, losses: Losses): string {
  const texts: { readonly index: number; readonly text: string }[] = []
  for (const [index, part] of content.entries()) {
    const text = textOf(part)
    if (text === undefined) {
      if (part.type !== 'opaque' || part.format === FORMAT) losses.drop([...path, index], 'prompts-are-texts')
      continue
    }
    if (part.type === 'text') losses.dropFields(part, [...path, index], TEXT_LOSSES)
    texts.push({ index, text })
  }
  const joinedText = texts.map(({ text }) => text).join('')
  const [first, ...others] = texts
  if (first !== undefined && others.length > 0) {
    losses.change([...path, first.index], { type: 'text', text: joinedText }, 'one-text-only')
    for (const { index } of others) losses.drop([...path, index], 'one-text-only')
  }
  return joinedText
}

const TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text'> = { cache: 'no-cache-markers', annotations: 'no-citations' }

/** Returns the plain text of a part, or undefined if the part has none. */
export function textOf(part: Part): string | undefined {
  if (part.type === 'text') return part.text
  return part.type === 'opaque' && part.format !== FORMAT ? part.text : undefined
}
