import { rowOf } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { type CanonicalRequest, isEffort, type Reasoning, type Sampling } from '../../canonical/request.ts'
import type { ReasoningShown } from '../../canonical/shown-reasoning.ts'
import { SETTINGS } from '../../formats/settings/interactions.ts'
import { defined, extrasOf, object, text, texts, withDefined } from '../fields.ts'
import { readSettings } from '../settings.ts'
import { FORMAT } from './wire.ts'

/** Settings read from `generation_config`. */
interface Generation {
  readonly sampling: Sampling
  readonly reasoning: Reasoning | undefined
  readonly voice: string | undefined
  /** Size of generated images. */
  readonly image: string | undefined
  /** Unread fields. */
  readonly extras: JsonObject | undefined
}

const KNOWN_FIELDS = new Set([
  ...SETTINGS.taken,
  ...['stop_sequences', 'thinking_level', 'thinking_summaries', 'tool_choice', 'speech_config', 'image_config'],
])

/** Reads `generation_config` except for the tool choice (docs/wire/interactions.md#generation-config). */
export function readGeneration(config: JsonObject): Generation {
  const unreadFields: string[] = []
  const { sampling } = readSettings(SETTINGS, config)
  return {
    sampling: withDefined(sampling, { stop: texts(config['stop_sequences']) }),
    reasoning: readReasoning(config, unreadFields),
    voice: readVoice(config['speech_config'], unreadFields),
    image: readImageConfig(object(config['image_config']), unreadFields),
    extras: extrasOf(FORMAT, config, KNOWN_FIELDS, unreadFields).extras?.[FORMAT],
  }
}

const SUMMARIES: { readonly [value: string]: boolean } = { auto: true, none: false }

/** Reads the thinking level and the visibility of summaries. */
function readReasoning(config: JsonObject, unreadFields: string[]): Reasoning | undefined {
  const level = text(config['thinking_level'])
  const summaries = text(config['thinking_summaries'])
  const effort = isEffort(level) && level !== 'none' ? level : undefined
  const show = summaries !== undefined ? rowOf(SUMMARIES, summaries) : undefined
  if (effort === undefined) unreadFields.push('thinking_level')
  if (show === undefined) unreadFields.push('thinking_summaries')
  return effort === undefined && show === undefined ? undefined : defined({ effort, show })
}

/** Returns which reasoning a caller gets: its text only if the caller requests summaries, its signatures always. */
export const reasoningShown = ({ reasoning }: CanonicalRequest): ReasoningShown =>
  reasoning?.show === true ? 'all' : 'signatures'

/** Reads the voice of a single speaker. Any other configuration becomes an extra. */
function readVoice(wire: Json | undefined, unreadFields: string[]): string | undefined {
  if (wire == null) return undefined
  const speakers = isObject(wire) && Object.keys(wire).length === 1 ? wire['speakers'] : wire
  const [speaker, ...others] = Array.isArray(speakers) ? (speakers as readonly Json[]) : []
  const voice = isObject(speaker) && Object.keys(speaker).length === 1 ? speaker['voice'] : undefined
  if (others.length === 0 && typeof voice === 'string') return voice
  unreadFields.push('speech_config')
  return undefined
}

/** Reads the size of images from `image_config`. */
function readImageConfig(wire: JsonObject | undefined, unreadFields: string[]): string | undefined {
  if (wire === undefined) return undefined
  const { aspect_ratio, image_size, ...others } = wire
  const size = Object.keys(others).length === 0 ? readSize(aspect_ratio, image_size) : undefined
  if (size === undefined) unreadFields.push('image_config')
  return size
}

const RATIO = /^\d+:\d+$/
const CLASS = /^(?:\d+K|512)$/

/** Reads the size of images: an aspect ratio, a size class such as `2K`, or both separated by a space. */
export function readSize(ratio: Json | undefined, sizeClass: Json | undefined): string | undefined {
  const isRatio = typeof ratio === 'string' && RATIO.test(ratio)
  const isClass = typeof sizeClass === 'string' && CLASS.test(sizeClass)
  if (sizeClass == null) return isRatio ? ratio : undefined
  if (ratio == null) return isClass ? sizeClass : undefined
  return isRatio && isClass ? `${ratio} ${sizeClass}` : undefined
}
