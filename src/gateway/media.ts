import type { MediaPart, Part } from '../canonical/content.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { WRITERS } from '../egress/index.ts'
import type { Candidate } from '../router.ts'
import { inBase64 } from './told.ts'

/** Whether media of the request must change before a candidate's format can be written: few take bytes as they come. */
export function asksForBytes({ messages }: CanonicalRequest, { format }: Candidate): boolean {
  const writer = WRITERS[format.format]!
  if (writer.bytes === true && writer.fetches === undefined) return false
  return messages.some(({ content }) => content.some(part => isRaw(part)))
}

/** The request with its bytes as base64. */
export async function withBytes(request: CanonicalRequest, { format }: Candidate): Promise<CanonicalRequest> {
  const writer = WRITERS[format.format]!
  if (writer.bytes === true) return request
  const messages = request.messages.map(async message => ({
    ...message,
    content: await Promise.all(message.content.map(part => (isRaw(part) ? inBase64(part) : part))),
  }))
  return { ...request, messages: await Promise.all(messages) }
}

type RawPart = MediaPart & { readonly source: { readonly type: 'bytes' } }

const isRaw = (part: Part): part is RawPart => part.type === 'media' && part.source.type === 'bytes'
