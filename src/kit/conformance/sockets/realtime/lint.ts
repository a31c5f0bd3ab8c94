import type { Headers } from '../../format.ts'
import { type JsonObject, objectOf, textOf } from '../../json.ts'
import { BASE64 } from '../../media/base64.ts'
import { type Violation, Violations } from '../../rules.ts'
import { dataOf, typeOf } from '../frame.ts'
import type { Frames } from '../session-format.ts'
import { CLIENT_EVENTS, type Version } from './names.ts'

/** Session fields that only the other version has. */
const FOREIGN: { readonly [version in Version]: readonly string[] } = {
  ga: ['modalities', 'input_audio_format', 'output_audio_format', 'input_audio_transcription', 'turn_detection'],
  beta: ['output_modalities', 'audio', 'max_output_tokens', 'type'],
}

function lintSession(version: Version, session: JsonObject, violations: Violations): void {
  if (version === 'ga' && !/^(realtime|transcription)$/.test(textOf(session['type']) ?? ''))
    violations.add('session.type', `type: ${String(session['type'])}`)
  for (const field of FOREIGN[version]) if (field in session) violations.add('session.fields', field)
}

/** Checks a client's events. */
export const lintOf =
  (version: Version) =>
  ({ client, server }: Frames, headers: Headers): readonly Violation[] => {
    const violations = new Violations()
    const isBeta = /realtime=v1/.test(headers['openai-beta'] ?? '')
    if (isBeta !== (version === 'beta')) violations.add('version', `openai-beta: ${headers['openai-beta'] ?? 'none'}`)
    const idsOf = (field: string) => new Set(dataOf(server).flatMap(data => objectOf(data[field])['id'] ?? []))
    const [items, responses] = [idsOf('item'), idsOf('response')]
    for (const { data, text } of client) {
      const type = typeOf(data)
      if (!CLIENT_EVENTS.has(type)) violations.add('event', text.slice(0, 200))
      if (type === 'conversation.item.truncate' && !items.has(data?.['item_id'] ?? null))
        violations.add('item-known', text.slice(0, 200))
      if (type === 'response.cancel' && data?.['response_id'] != null && !responses.has(data['response_id']))
        violations.add('item-known', text.slice(0, 200))
      if (type === 'session.update') lintSession(version, objectOf(data?.['session']), violations)
      if (type === 'input_audio_buffer.append' && !BASE64.test(textOf(data?.['audio']) ?? ''))
        violations.add('audio.base64', text.slice(0, 100))
    }
    return violations.list
  }
