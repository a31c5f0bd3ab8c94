import type { Losses, Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Reasoning, State } from '../../canonical/request.ts'
import type { Tool } from '../../canonical/tool.ts'
import type { ResponsesDialect } from '../../formats/dialects/responses.ts'
import { SETTINGS } from '../../formats/settings/responses.ts'
import { reportCompletion } from '../completion.ts'
import { defined, extrasFor } from '../fields.ts'
import { withoutBudget, withSupportedEffort } from '../sanitize/efforts.ts'
import { withEnumInObject } from '../sanitize/enum.ts'
import { endUserOf, supportedTier, withLegalCacheKey } from '../sanitize/limits.ts'
import { shapeSchema } from '../sanitize/parameters.ts'
import { writeSettings as writePlain } from '../settings.ts'
import { FORMAT, type WriteContext } from './content.ts'

/* Settings of requests from other formats. The history and tools are written in separate files. */

const SAMPLING_LOSSES = {
  stop: 'no-stop-sequences',
  frequencyPenalty: 'no-penalties',
  presencePenalty: 'no-penalties',
}

/** Minimum token limit that the format allows. */
const MIN_TOKENS = 16

/**
 * Writes the sampling parameters. The format does not support stop sequences, seeds or multiple candidates (trap 18).
 * Only some dialects have penalties.
 */
export function writeSampling(request: CanonicalRequest, losses: Losses): JsonObject {
  const { sampling } = request
  const { maxTokens } = sampling
  const tooFew = maxTokens !== undefined && maxTokens < MIN_TOKENS
  if (tooFew) losses.change(['sampling', 'maxTokens'], MIN_TOKENS, 'sixteen-tokens-at-least')
  const plain = withLegalCacheKey(writePlain(SETTINGS, request, losses), losses)
  losses.dropFields(sampling, ['sampling'], SAMPLING_LOSSES)
  return { ...plain, ...(defined({ max_output_tokens: tooFew ? MIN_TOKENS : maxTokens }) as JsonObject) }
}

const OUTPUT_LOSSES = {
  audio: 'no-audio-settings',
  image: 'no-image-settings',
  video: 'no-video-settings',
  embedding: 'no-embeddings',
  transcript: 'no-transcripts',
}

/** Writes the answer's shape in the `text` field. */
export function writeOutput(output: Output, losses: Losses): JsonObject {
  const drawing = output.modalities?.length === 1 && output.modalities[0] === 'image'
  losses.dropFields(drawing ? { ...output, image: undefined } : output, ['output'], OUTPUT_LOSSES)
  reportCompletion(output, losses)
  const { modalities, candidates, text, verbosity } = output
  if (candidates === 1) losses.dropRestored(['output', 'candidates'], 'one-candidate-anyway')
  else if (candidates !== undefined) losses.drop(['output', 'candidates'], 'one-candidate-only')
  const textOnly = modalities?.every(modality => modality === 'text')
  if (textOnly === true) losses.dropRestored(['output', 'modalities'], 'text-anyway')
  else if (modalities !== undefined && !drawing) losses.drop(['output', 'modalities'], 'text-only')
  const format = text === undefined ? undefined : writeShape(text, losses)
  const fields = { ...(defined({ format, verbosity }) as JsonObject), ...extrasFor(output, FORMAT) }
  return Object.keys(fields).length > 0 ? { text: fields } : {}
}

function writeShape(given: NonNullable<Output['text']>, losses: Losses): JsonObject {
  const text = withEnumInObject(given, losses, { strict: true })
  if (text.shape === 'text') return { type: 'text', ...extrasFor(text, FORMAT) }
  if (text.shape === 'json') return { type: 'json_object', ...extrasFor(text, FORMAT) }
  const { name = 'answer', description, strict } = text
  const schema = shapeSchema(text.schema, losses)
  if (text.name === undefined) losses.add(['output', 'text', 'name'], name, 'minted-schema-name')
  return {
    type: 'json_schema',
    ...(defined({ name, description, schema, strict }) as JsonObject),
    ...extrasFor(text, FORMAT),
  }
}

/** Writes the reasoning settings. Reasoning is hidden by default, so no field is needed to hide it. */
export function writeReasoning(request: CanonicalRequest, { dialect, losses }: WriteContext): JsonObject {
  const { reasoning } = request
  if (reasoning === undefined) return {}
  const efforts = neverReasons(dialect) ? [] : effortsFor(request, dialect)
  const { effort, show } = withSupportedEffort(withoutBudget(reasoning, FORMAT, efforts, losses), efforts, losses)
  if (neverReasons(dialect)) return withoutReasoning(reasoning, losses)
  if (reasoning.show === false) losses.dropRestored(['reasoning', 'show'], 'hidden-unless-asked-for')
  const fields = {
    ...defined({ effort, summary: show === true ? summaryFor(dialect, losses) : undefined }),
    ...extrasFor(reasoning, FORMAT),
  } as JsonObject
  return Object.keys(fields).length > 0 ? { reasoning: fields } : {}
}

/**
 * Returns the kind of summary: "Your organization must be verified to generate reasoning summaries"
 * (continuedev/continue#12030, read on 2026-12-01).
 */
const summaryFor = ({ summaries }: ResponsesDialect, losses: Losses): string | undefined =>
  summaries === false ? losses.drop(['reasoning', 'show'], 'no-summaries-of-reasoning') : 'auto'

/**
 * Returns the efforts that the model takes for a request: "The following tools cannot be used with reasoning.effort
 * 'minimal': web_search" (openai/codex#3559, read on 2026-12-01).
 */
export const effortsFor = ({ tools }: CanonicalRequest, { efforts }: ResponsesDialect): ResponsesDialect['efforts'] =>
  tools?.some(isSearch) === true ? efforts?.filter(effort => effort !== 'minimal') : efforts

const isSearch = (tool: Tool): boolean => tool.type === 'hosted' && tool.kind === 'web-search'

/** Returns true if the model does not reason, so that OpenAI refuses all settings and items of reasoning. */
export const neverReasons = ({ reasons }: ResponsesDialect): boolean => reasons === false

/** Reports the settings of reasoning as dropped, except for the effort. Returns no fields. */
export function withoutReasoning({ show, extras }: Reasoning, losses: Losses): JsonObject {
  if (show === true) losses.drop(['reasoning', 'show'], 'no-thinking')
  else if (show === false) losses.dropRestored(['reasoning', 'show'], 'hidden-unless-asked-for')
  if (extras?.[FORMAT] !== undefined) losses.drop(['reasoning', 'extras', FORMAT], 'no-thinking')
  return {}
}

/** Service tiers that a request may specify. */
export const TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'])

/** Writes storage, end user and service tier. */
export function writeSettings(request: CanonicalRequest, context: WriteContext): JsonObject {
  if (request.cache !== undefined) context.losses.drop(['cache'], 'no-cache-marker-of-the-whole')
  return defined({
    ...writeState(request, context),
    user: endUserOf(request.endUser, context.losses),
    service_tier: supportedTier(request.serviceTier, TIERS, { native: false, losses: context.losses }),
  }) as JsonObject
}

const STATE_LOSSES: Unwritten<State, 'thread'> = {
  store: 'no-kept-answers',
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'no-background-work',
}

function writeState({ state }: CanonicalRequest, { dialect, losses }: WriteContext) {
  losses.dropFields(state, ['state'], { thread: 'no-threads' })
  if (dialect.stateless !== true && storesByDefault(state)) {
    if (state === undefined) losses.add(['state'], { store: false }, 'minted-no-storage')
    else losses.add(['state', 'store'], false, 'minted-no-storage')
    return { store: false }
  }
  if (state === undefined) return {}
  if (dialect.stateless === true) {
    losses.dropFields(state, ['state'], STATE_LOSSES)
    return {}
  }
  const { store, previous, conversation, background } = state
  return { store, previous_response_id: previous, conversation, background }
}

/**
 * Returns true if the upstream would store the answer even though the caller set no state. Only this format stores by
 * default, so `store` is set to false in that case.
 */
const storesByDefault = (state: State | undefined): boolean =>
  state === undefined || Object.values(state).every(value => value === undefined)
