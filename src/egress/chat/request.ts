import { foreignLosses, type Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { rowOf } from '../../canonical/maps.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Modality, Output, Sampling } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { type ChatDialect, chatDialect } from '../../formats/dialects/chat.ts'
import { MISTRAL_SETTINGS, SETTINGS } from '../../formats/settings/chat.ts'
import { reportCompletion } from '../completion.ts'
import { defined, extrasFor } from '../fields.ts'
import { nativeSourceOf, REWRITABLE } from '../native.ts'
import { withEnumInObject } from '../sanitize/enum.ts'
import { WORDS_ALONE, withJsonInWords } from '../sanitize/json-in-words.ts'
import { withLegalArguments } from '../sanitize/legal-arguments.ts'
import { endUserOf, limitedStops, supportedTier, withLegalCacheKey } from '../sanitize/limits.ts'
import { takenMedia, withMediaInWords } from '../sanitize/media-in-words.ts'
import { sanitize } from '../sanitize/names.ts'
import { shapeSchema } from '../sanitize/parameters.ts'
import { withoutRefusedSettings } from '../sanitize/refused-settings.ts'
import { NO_STATE } from '../sanitize/unwritten.ts'
import { writeSettings } from '../settings.ts'
import { streamFields } from '../stream-options.ts'
import type { WriteOptions } from '../writer.ts'
import { isAccepted } from './accepted.ts'
import { around, FORMAT, type WriteContext } from './content.ts'
import { demandedFrom } from './demanded-reasoning.ts'
import { withForcedTools } from './forced-tools.ts'
import { withFunctionsAlone } from './functions-alone.ts'
import { withKnownFields } from './known-fields.ts'
import { withLegalIds, writeMessages } from './messages.ts'
import { PATH, writeNativeRequest } from './native.ts'
import { writeReasoning } from './reasoning-settings.ts'
import { withoutUnknownFields, withTakenExtras, withTakenMarkers } from './refused-fields.ts'
import { streamedThinking } from './streamed-thinking.ts'
import { withLegalTemperature } from './temperature.ts'
import { writeToolChoice, writeTools } from './tools.ts'

/** Maximum length of the id of a call. OpenAI refuses longer ones (docs/wire/chat.md#messages). */
const MAX_ID_LENGTH = 40

/** Writes the canonical request as `POST /chat/completions` (docs/wire/chat.md#request). */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = chatDialect(options.dialect)
  return withMediaInWords(original, takenMedia(dialect, options), request => {
    const source = options.native && request === original ? nativeSourceOf(request, FORMAT, REWRITABLE) : undefined
    if (source !== undefined && isAccepted(request, source.wire.body, dialect))
      return writeNativeRequest(request, source, options)
    const rule = hasShapeWithTools(request, dialect) ? WORDS_ALONE : { schemas: dialect.json_schema !== false }
    return withJsonInWords(request, rule, worded => writeForeign(worded, dialect))
  })
}

/** Writes a request that was read from another format or cannot be passed on as received. */
function writeForeign(original: CanonicalRequest, channelDialect: ChatDialect): Written<WireRequest> {
  const declared = withTakenMarkers(channelDialect)
  const freeform = declared.custom_tools !== false
  const beginning = declared.schemas === 'kimi' ? 'letter' : 'any'
  const rule = { name: 64, beginning, id: MAX_ID_LENGTH, kimiIds: true, freeform, namespaces: false } as const
  const { request: legal, losses, renamed } = sanitize(original, rule)
  const alone = withFunctionsAlone(legal, declared, losses)
  // Each of these models takes the effort `none`.
  const dialect: ChatDialect = alone === legal ? declared : { ...declared, efforts: ['none'] }
  const taken = withLegalTemperature(withoutRefusedSettings(alone, dialect, losses), { dialect, losses })
  const accepted = withLegalArguments(taken, dialect, losses)
  losses.report(foreignLosses(accepted, FORMAT))
  const isMistrals = dialect.request_fields === 'mistral'
  const forced = withForcedTools(accepted, dialect, losses)
  const request = isMistrals ? withKnownFields(forced, losses) : withTakenExtras(forced, dialect, losses)
  const context: WriteContext = { dialect, losses, reasoningFrom: demandedFrom(request, dialect) }
  const extras = extrasFor(request, FORMAT)
  const reasoning = writeReasoning(request.reasoning, extras, context)
  const tools = writeTools(request, context)
  const body = {
    model: request.model,
    messages: writeMessages(withLegalIds(request.messages, context), context),
    ...tools,
    ...writeToolChoice(request, tools['tools'] !== undefined, context),
    ...withLegalCacheKey(writeSettings(isMistrals ? MISTRAL_SETTINGS : SETTINGS, request, losses), losses),
    ...writeSampling(request.sampling, context),
    ...writeOutput(request, context),
    ...reasoning,
    ...writeService(request, context),
    ...extras,
    // Repeated after the extras, so that an extra of the same name cannot override the setting.
    ...reasoning,
    // Usage is always requested for callers of other formats, because some clients use it to decide when to compact the
    // history.
    ...streamFields(streamedThinking(request, reasoning, context), dialect.include_usage !== false, extras),
  } as JsonObject
  const known = withoutUnknownFields(body, request, context)
  return { wire: { path: PATH, query: {}, headers: {}, body: known }, losses: losses.list, renamed }
}

function writeSampling({ maxTokens, stop, logprobs }: Sampling, { dialect, losses }: WriteContext): JsonObject {
  return defined({
    [dialect.limit_field ?? 'max_completion_tokens']: maxTokens,
    stop: limitedStops(stop, 4, losses),
    logprobs: logprobs === undefined ? undefined : true,
    top_logprobs: logprobs === 0 ? undefined : logprobs,
  }) as JsonObject
}

/** Returns true if the request asks for JSON beside tools, at an upstream that refuses both at once. */
const hasShapeWithTools = ({ output, tools }: CanonicalRequest, { json_with_tools }: ChatDialect): boolean =>
  json_with_tools === false && tools !== undefined && tools.length > 0 && (output.text?.shape ?? 'text') !== 'text'

function writeOutput(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { output } = request
  context.losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  reportCompletion(output, context.losses)
  const { text } = output
  const isInWords = hasShapeWithTools(request, context.dialect)
  if (isInWords) context.losses.drop(['output', 'text'], 'no-shape-with-tools')
  return defined({
    modalities: writeModalities(output, context),
    response_format: text === undefined || isInWords ? undefined : writeShape(text, context),
    audio: writeAudio(output, context),
  }) as JsonObject
}

const OUTPUT_LOSSES: Unwritten<
  Output,
  SettingName | 'modalities' | 'text' | 'audio' | 'ranking' | 'completion' | 'count' | 'compaction'
> = {
  image: 'no-image-settings',
  video: 'no-video-settings',
  embedding: 'no-embeddings',
  transcript: 'no-transcripts',
}

function writeShape(
  requestedShape: NonNullable<Output['text']>,
  { dialect, losses }: WriteContext,
): JsonObject | undefined {
  if (requestedShape.shape === 'enum' && dialect.json_schema === false)
    return losses.drop(['output', 'text'], 'no-json-schema')
  const text = withEnumInObject(requestedShape, losses, { strict: true })
  if (text.shape === 'text') return { type: 'text', ...extrasFor(text, FORMAT) }
  if (text.shape === 'json' && dialect.json_object === false) return writeAnyObject(losses)
  if (text.shape === 'json') return { type: 'json_object', ...extrasFor(text, FORMAT) }
  if (dialect.json_schema === false) {
    losses.change(['output', 'text'], { shape: 'json' }, 'no-json-schema')
    return { type: 'json_object' }
  }
  const { name = 'answer', description, strict } = text
  const schema = shapeSchema(text.schema, losses, dialect)
  if (text.name === undefined) losses.add(['output', 'text', 'name'], name, 'minted-schema-name')
  return around(text, 'json_schema', defined({ name, description, schema, strict }) as JsonObject)
}

/** Writes a request for any JSON object as one with a schema, for upstreams that take no other. */
function writeAnyObject(losses: Losses): JsonObject {
  const schema: JsonObject = { type: 'object' }
  losses.change(['output', 'text'], { shape: 'schema', name: 'answer', schema }, 'json-needs-a-schema')
  return { type: 'json_schema', json_schema: { name: 'answer', schema } }
}

const SERVICE_TIERS = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])
const { store: NO_STORAGE, ...STATE_LOSSES } = NO_STATE

function writeService(request: CanonicalRequest, { dialect, losses }: WriteContext): JsonObject {
  const { state, endUser, cache } = request
  losses.dropFields(state, ['state'], STATE_LOSSES)
  if (cache !== undefined) losses.drop(['cache'], 'no-cache-markers-here')
  const storesAnswers = dialect.store !== false
  if (!storesAnswers && state?.store !== undefined) losses.drop(['state', 'store'], NO_STORAGE)
  return defined({
    store: storesAnswers ? state?.store : undefined,
    user: endUserOf(endUser, losses),
    service_tier: supportedTier(request.serviceTier, SERVICE_TIERS, { native: false, losses }),
  }) as JsonObject
}

const SUPPORTED_MODALITIES: ReadonlySet<Modality> = new Set<Modality>(['text', 'audio'])

/** Writes the output modalities. Chat only supports text and audio. */
function writeModalities({ modalities }: Output, { losses }: WriteContext): Output['modalities'] {
  if (modalities === undefined) return undefined
  const supported = modalities.filter(modality => SUPPORTED_MODALITIES.has(modality))
  if (supported.length === 0) losses.drop(['output', 'modalities'], 'text-and-audio-only')
  else
    for (const [index, modality] of modalities.entries())
      if (!SUPPORTED_MODALITIES.has(modality)) losses.drop(['output', 'modalities', index], 'text-and-audio-only')
  return supported.length === 0 ? undefined : supported
}

/** The value of `format` for each audio subtype, including aliases. */
const CONTAINERS: { readonly [type: string]: string } = {
  ...{ wav: 'wav', 'x-wav': 'wav', wave: 'wav', mp3: 'mp3', mpeg: 'mp3', aac: 'aac', flac: 'flac', 'x-flac': 'flac' },
  ...{ opus: 'opus', ogg: 'opus', pcm16: 'pcm16', pcm: 'pcm16', l16: 'pcm16' },
}

/** The default voice and container. */
const AUDIO_DEFAULTS = { voice: 'alloy', mediaType: 'audio/wav' } as const

/** Writes the speech settings. Voice and container are required, so missing values are replaced with defaults. */
function writeAudio({ audio, modalities }: Output, { losses }: WriteContext): JsonObject | undefined {
  if (audio === undefined) {
    if (modalities?.includes('audio') !== true) return undefined
    losses.add(['output', 'audio'], AUDIO_DEFAULTS, 'minted-voice')
    return { voice: AUDIO_DEFAULTS.voice, format: 'wav' }
  }
  if (audio.speed !== undefined) losses.drop(['output', 'audio', 'speed'], 'no-speed')
  const format = writeContainer(audio.mediaType, losses)
  if (audio.voice === undefined) losses.add(['output', 'audio', 'voice'], AUDIO_DEFAULTS.voice, 'minted-voice')
  if (format === undefined) losses.add(['output', 'audio', 'mediaType'], AUDIO_DEFAULTS.mediaType, 'minted-container')
  return { voice: audio.voice ?? AUDIO_DEFAULTS.voice, format: format ?? 'wav', ...extrasFor(audio, FORMAT) }
}

function writeContainer(mediaType: string | undefined, losses: Losses): string | undefined {
  const [kind, name = ''] = mediaType?.split('/', 2) ?? []
  if (kind === undefined) return undefined
  if (kind !== 'audio') return losses.drop(['output', 'audio', 'mediaType'], 'not-an-audio-type')
  const type = name.split(';')[0]!.trim().toLowerCase()
  const container = rowOf(CONTAINERS, type)
  if (container === undefined) losses.drop(['output', 'audio', 'mediaType'], 'no-such-container')
  else if (container !== name)
    losses.changeRestored(['output', 'audio', 'mediaType'], `audio/${container}`, 'written-as-a-synonym')
  return container
}
