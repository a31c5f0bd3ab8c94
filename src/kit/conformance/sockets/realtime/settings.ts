import {
  booleanOf,
  compact,
  isObject,
  type Json,
  type JsonObject,
  listOf,
  numberOf,
  objectOf,
  textOf,
} from '../../json.ts'
import { argumentsSchema, type SessionSettings } from '../session-facts.ts'

/* Reads the settings of sessions, in both versions of the layout. */

const valueAt = (session: JsonObject, path: string): Json | undefined =>
  path.split('.').reduce<Json | undefined>((value, name) => objectOf(value)[name], session)

/** Returns the value at the GA path or else at the beta path. */
const valueAtEither = (session: JsonObject, ga: string, beta: string): Json | undefined =>
  valueAt(session, ga) ?? valueAt(session, beta)

const BETA_FORMATS: { readonly [name: string]: string } = {
  pcm16: 'pcm@24000',
  g711_ulaw: 'pcmu',
  g711_alaw: 'pcma',
}

const GA_FORMATS: { readonly [type: string]: string } = { 'audio/pcmu': 'pcmu', 'audio/pcma': 'pcma' }

/** Returns the name of an audio format: `pcm@RATE`, `pcmu` or `pcma`. */
function formatOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return BETA_FORMATS[value] ?? value
  if (!isObject(value)) return undefined
  const { type, rate = 24_000 } = value
  return type === 'audio/pcm' ? `pcm@${String(rate)}` : (GA_FORMATS[String(type)] ?? String(type))
}

/** Returns the modalities of answers. Spoken answers include their text. */
function modalitiesOf(value: Json | undefined): string | undefined {
  const list = listOf(value)
  return list.length === 0 ? undefined : list.includes('audio') ? 'audio' : 'text'
}

const choiceOf = (value: Json | undefined): string | undefined =>
  isObject(value) ? `tool:${String(value['name'])}` : value === 'auto' ? undefined : textOf(value)

const toolsOf = (value: Json | undefined): SessionSettings['tools'] =>
  Object.fromEntries(
    listOf(value)
      .map(objectOf)
      .map(tool => [
        textOf(tool['name']) ?? textOf(tool['server_label']) ?? '',
        compact({ description: textOf(tool['description']), parameters: argumentsSchema(tool['parameters']) }),
      ]),
  )

/** Returns the settings of turn detection that differ from the defaults. */
function detectionOf(value: Json | undefined): SessionSettings['turnDetection'] {
  if (value === null) return { type: 'none' }
  const { create_response: creates, interrupt_response: interrupts, ...rest } = objectOf(value)
  return compact({
    ...rest,
    create_response: booleanOf(creates) === false ? false : undefined,
    interrupt_response: booleanOf(interrupts) === false ? false : undefined,
  })
}

/** Returns the facts of a `session` object. */
export function settingsOf(session: JsonObject): SessionSettings {
  const transcription = objectOf(valueAtEither(session, 'audio.input.transcription', 'input_audio_transcription'))
  const detection = valueAt(session, 'audio.input.turn_detection')
  const voice = valueAtEither(session, 'audio.output.voice', 'voice')
  return compact({
    instructions: textOf(session['instructions']),
    modalities: modalitiesOf(valueAtEither(session, 'output_modalities', 'modalities')),
    voice: isObject(voice) ? textOf(voice['id']) : textOf(voice),
    speed: numberOf(valueAtEither(session, 'audio.output.speed', 'speed')),
    inputFormat: formatOf(valueAtEither(session, 'audio.input.format', 'input_audio_format')),
    outputFormat: formatOf(valueAtEither(session, 'audio.output.format', 'output_audio_format')),
    transcription: compact({ model: textOf(transcription['model']), language: textOf(transcription['language']) }),
    turnDetection: detectionOf(detection === undefined ? session['turn_detection'] : detection),
    limit: valueAtEither(session, 'max_output_tokens', 'max_response_output_tokens'),
    temperature: numberOf(session['temperature']),
    toolChoice: choiceOf(session['tool_choice']),
    tools: toolsOf(session['tools']),
  }) as SessionSettings
}
