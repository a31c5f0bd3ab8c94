import { isObject, type Json, type JsonObject, objectOf } from '../../json.ts'

/* Names of messages. Google's Python SDK sends the client's messages in snake case. */

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Converts the message and field names of a client's frame to camel case. */
export const clientMessage = (data: JsonObject | undefined): JsonObject =>
  Object.fromEntries(
    Object.entries(data ?? {}).map(([name, value]) => [
      camel(name),
      isObject(value) ? Object.fromEntries(Object.entries(value).map(([inner, one]) => [camel(inner), one])) : value,
    ]),
  )

/** Returns the kind of a client's `realtimeInput`. Text and the end of speech trigger an answer. */
const inputKind = (input: JsonObject): string =>
  'audio' in input ? 'audio' : 'text' in input || 'activityEnd' in input ? 'ask' : 'input'

const CLIENT: { readonly [name: string]: (value: JsonObject) => string } = {
  setup: () => 'setup',
  clientContent: value => (value['turnComplete'] === true ? 'ask' : 'history'),
  realtimeInput: inputKind,
  toolResponse: () => 'toolResponse',
}

/** Returns the kind of a frame of either side. */
export function kindOf(data: JsonObject | undefined): string {
  const message = clientMessage(data)
  for (const [name, kind] of Object.entries(CLIENT)) if (name in message) return kind(objectOf(message[name]))
  const { turnComplete, interrupted } = objectOf(message['serverContent'])
  if (turnComplete === true) return 'turnComplete'
  if (interrupted === true) return 'interrupted'
  return Object.keys(message).sort().join(',')
}

/** Returns the text of `parts`. */
export const textIn = (parts: Json | undefined): string =>
  (Array.isArray(parts) ? parts : [])
    .map(objectOf)
    .filter(part => part['thought'] !== true)
    .map(part => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
