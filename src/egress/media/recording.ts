import type { MediaPart, TextPart } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { bytesOfSource } from '../../canonical/media/data-url.ts'
import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireFile } from '../../canonical/wire.ts'

/*
 * Requests for transcripts in formats that take one recording and at most one hint: all else in the messages is lost.
 */

/**
 * The recording, as a form's file `file`.
 *
 * @throws GatewayError `cannot-express` where there is none whose bytes are available.
 */
export function recordingOf(request: CanonicalRequest, format: Format, losses: Losses): WireFile {
  let found: WireFile | undefined
  for (const [index, message] of request.messages.entries()) {
    for (const [at, part] of message.content.entries()) {
      if (part.type === 'text' && isHint(request, index, at)) continue
      const path = ['messages', index, 'content', at]
      const file: WireFile | undefined = found === undefined && part.type === 'media' ? fileOf(part) : undefined
      if (file === undefined) losses.drop(path, 'one-recording-only')
      else {
        found = file
        losses.dropFields(part, path, MEDIA_LOSSES)
      }
    }
    if (message.name !== undefined) losses.drop(['messages', index, 'name'], 'no-names')
    if (message.extras?.[format] !== undefined) losses.drop(['messages', index, 'extras', format], 'no-place-for-it')
  }
  if (found !== undefined) return found
  throw new GatewayError({ kind: 'cannot-express', message: 'There is no recording to transcribe.' })
}
const MEDIA_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'name' | 'made' | 'use'> = {
  detail: 'no-detail',
  cache: 'no-cache',
  transcript: 'no-transcript',
}

function fileOf({ source, name }: MediaPart): WireFile | undefined {
  if (source.type !== 'bytes' && source.type !== 'base64') return undefined
  const bytes = bytesOfSource(source)!
  return { field: 'file', ...(name === undefined ? {} : { name }), mediaType: source.mediaType, bytes }
}

/** An upstream that only transcribes does not translate. */
export function reportTask({ output }: CanonicalRequest, losses: Losses): void {
  if (output.transcript?.task === 'translate') losses.drop(['output', 'transcript', 'task'], 'no-translations')
}

/** For formats that take no hint. */
export function reportHint(request: CanonicalRequest, losses: Losses): void {
  for (const [index, { content }] of request.messages.entries())
    for (const [at, part] of content.entries())
      if (part.type === 'text' && isHint(request, index, at))
        losses.drop(['messages', index, 'content', at], 'no-hints')
}
const TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text'> = {
  annotations: 'no-annotations',
  cache: 'no-cache',
}

/** Expected words, or a style: the first text of the instructions. */
export function hintOf(request: CanonicalRequest, losses: Losses): string | undefined {
  for (const [index, message] of request.messages.entries())
    for (const [at, part] of message.content.entries())
      if (part.type === 'text' && isHint(request, index, at)) {
        losses.dropFields(part, ['messages', index, 'content', at], TEXT_LOSSES)
        return part.text
      }
  return undefined
}

const isInstruction = (role: string): boolean => role === 'system' || role === 'developer'

const isHint = ({ messages }: CanonicalRequest, message: number, part: number): boolean => {
  const first = messages.findIndex(one => isInstruction(one.role))
  return first === message && messages[first]!.content.findIndex(({ type }) => type === 'text') === part
}
