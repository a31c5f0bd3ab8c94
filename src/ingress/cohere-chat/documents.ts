import type { OpaquePart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { leadingInstructions, type Message } from '../../canonical/request.ts'
import { anyText, WrongType } from '../fields.ts'
import { FORMAT } from './wire.ts'

/** Mark of parts and turns that come from the request's `documents` field. */
export const BESIDE = { [FORMAT]: { beside: true } }

/**
 * Adds the documents of a request as a user turn after the leading system turns, so that its position does not change
 * as the conversation grows. Other formats receive the text of the documents (docs/wire/cohere-chat.md#documents).
 */
export function withDocuments(messages: readonly Message[], wire: readonly Json[] | undefined): readonly Message[] {
  if (wire === undefined || wire.length === 0) return messages
  const content = wire.map((document): OpaquePart => {
    if (typeof document !== 'string' && !isObject(document)) throw WrongType.instance
    const value: JsonObject = { type: 'document', document }
    return { type: 'opaque', format: FORMAT, value, text: documentText(document), spelling: BESIDE }
  })
  const lead = leadingInstructions(messages)
  return [...messages.slice(0, lead), { role: 'user', content, spelling: BESIDE }, ...messages.slice(lead)]
}

/** Returns the text of a document. Its data is a string or an object whose field names are visible to the model. */
export function documentText(document: string | JsonObject): string {
  if (typeof document === 'string') return document
  const { data } = document
  return anyText(data) ?? JSON.stringify(data ?? document)
}
