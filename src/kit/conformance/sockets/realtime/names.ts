/* Names of events in both versions of the format: the generally available (GA) version, and the earlier beta. */

export type Version = 'ga' | 'beta'

/** Beta names by GA name. */
export const BETA_NAMES: { readonly [ga: string]: string } = {
  'response.output_text.delta': 'response.text.delta',
  'response.output_text.done': 'response.text.done',
  'response.output_audio.delta': 'response.audio.delta',
  'response.output_audio.done': 'response.audio.done',
  'response.output_audio_transcript.delta': 'response.audio_transcript.delta',
  'response.output_audio_transcript.done': 'response.audio_transcript.done',
  'conversation.item.added': 'conversation.item.created',
}

const GA_NAMES = new Map(Object.entries(BETA_NAMES).map(([ga, beta]) => [beta, ga]))

/** Returns the GA name of an event of either version. */
export const generalName = (type: string): string => GA_NAMES.get(type) ?? type

/** Returns true if only the other version uses the name. Azure's beta also sends `conversation.item.done`. */
export const isNameOfOtherVersion = (version: Version, type: string): boolean =>
  version === 'ga' ? GA_NAMES.has(type) : type in BETA_NAMES

/** Events of clients. */
export const CLIENT_EVENTS: ReadonlySet<string> = new Set([
  'session.update',
  'transcription_session.update',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'output_audio_buffer.clear',
  'conversation.item.create',
  'conversation.item.retrieve',
  'conversation.item.truncate',
  'conversation.item.delete',
  'response.create',
  'response.cancel',
])
