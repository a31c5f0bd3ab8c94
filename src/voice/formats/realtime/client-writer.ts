import { encodeBase64 } from '../../../canonical/base64.ts'
import { type Loss, Losses } from '../../../canonical/loss.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import type { ResponseSettings, VoiceSessionSettings } from '../../../canonical/voice-session.ts'
import type { ClientEvent } from '../../../canonical/voice-session-event.ts'
import type { RealtimeDialect } from './dialect.ts'
import { writeItem } from './items.ts'
import { writeSettings } from './settings-writer.ts'
import { REALTIME } from './wire.ts'

/**
 * Writes a client event in the upstream's dialect. Returns undefined if the event has no wire form. Has no side
 * effects.
 */
export function writeClientEvent(event: ClientEvent, dialect: RealtimeDialect): string | undefined {
  if (event.type === 'audio-append') return writeAppend(event)
  const wire = wireOf(event, dialect)
  if (wire === undefined) return undefined
  return JSON.stringify(event.id === undefined ? wire : { ...wire, event_id: event.id })
}

/** Writes an audio event by concatenating JSON text, because audio is the most frequent kind of event. */
function writeAppend({ audio, id }: Extract<ClientEvent, { type: 'audio-append' }>): string {
  const name = id === undefined ? '' : `"event_id":${JSON.stringify(id)},`
  return `{${name}"type":"input_audio_buffer.append","audio":"${encodeBase64(audio)}"}`
}

function wireOf(event: ClientEvent, dialect: RealtimeDialect): JsonObject | undefined {
  switch (event.type) {
    case 'session-update':
      return { type: 'session.update', session: writeSession(event.settings, dialect) }
    case 'audio-commit':
      return { type: 'input_audio_buffer.commit' }
    case 'audio-clear':
      return { type: 'input_audio_buffer.clear' }
    case 'output-clear':
      return { type: 'output_audio_buffer.clear' }
    case 'item-create':
      return {
        type: 'conversation.item.create',
        item: writeItem(event.item, dialect.naming, false),
        ...(event.after === undefined ? {} : { previous_item_id: event.after ?? 'root' }),
      }
    case 'item-retrieve':
      return { type: 'conversation.item.retrieve', item_id: event.item }
    case 'item-delete':
      return { type: 'conversation.item.delete', item_id: event.item }
    case 'item-truncate':
      return {
        type: 'conversation.item.truncate',
        item_id: event.item,
        content_index: event.part,
        audio_end_ms: event.audioEndMs,
      }
    case 'response-create':
      return event.settings === undefined
        ? { type: 'response.create' }
        : { type: 'response.create', response: writeResponse(event.settings, dialect) }
    case 'response-cancel':
      return { type: 'response.cancel', ...(event.response === undefined ? {} : { response_id: event.response }) }
    case 'opaque':
      return event.format === REALTIME ? event.value : undefined
    case 'audio-append':
      return undefined
  }
}

/** Writes a session. GA sessions must have a type; other layouts have no field for it. */
export function writeSession(settings: VoiceSessionSettings, { layout }: RealtimeDialect): JsonObject {
  const fields = writeSettings(settings, layout)
  if (layout !== 'ga') return fields
  return { type: settings.purpose === 'transcription' ? 'transcription' : 'realtime', ...fields }
}

function writeResponse(settings: ResponseSettings, { layout, naming }: RealtimeDialect): JsonObject {
  const { detached, context, metadata, model: _, ...rest } = settings
  return {
    ...writeSettings(rest, layout),
    ...(detached === true ? { conversation: 'none' } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    ...(context === undefined ? {} : { input: context.map(item => writeItem(item, naming, false)) }),
  }
}

/** Returns the losses of an event in the upstream's dialect. */
export function clientLosses(event: ClientEvent, { layout }: RealtimeDialect): readonly Loss[] {
  if (event.type !== 'session-update' && event.type !== 'response-create') return NO_LOSS
  const { settings } = event
  if (settings === undefined) return NO_LOSS
  const losses = new Losses()
  for (const [index, tool] of (settings.tools ?? []).entries())
    if (tool.type !== 'function' && !(tool.type === 'opaque' && tool.format === REALTIME))
      losses.drop(['settings', 'tools', index], 'no-such-tool')
  losses.dropFields(settings, ['settings'], MISSING_FIELDS[layout])
  if (layout === 'mixed') mixedLosses(settings.input, losses)
  return losses.list
}

const NO_LOSS: readonly Loss[] = []

/** Fields that a layout lacks, with the reason for the loss. */
const MISSING_FIELDS: { readonly [L in RealtimeDialect['layout']]: { readonly [field: string]: string } } = {
  ga: { temperature: 'no-temperature' },
  beta: { reasoning: 'no-reasoning' },
  mixed: { modalities: 'no-modalities', maxTokens: 'no-max-tokens' },
}

/** Reports what xAI lacks of the input's settings (docs/wire/realtime.md#xai). */
function mixedLosses(input: VoiceSessionSettings['input'], losses: Losses): void {
  const path = ['settings', 'input']
  losses.dropFields(input, path, MIXED_INPUT)
  if (input?.transcription?.prompt !== undefined)
    losses.drop([...path, 'transcription', 'prompt'], 'no-transcription-prompt')
  if (input?.turnDetection?.type !== 'semantic') return
  losses.change([...path, 'turnDetection', 'type'], 'silence', 'no-semantic-detection')
  if (input.turnDetection.eagerness !== undefined)
    losses.drop([...path, 'turnDetection', 'eagerness'], 'no-semantic-detection')
}

const MIXED_INPUT = { noiseReduction: 'no-noise-reduction' }
