import type { MediaPart } from '../../canonical/content.ts'
import { cannotExpress } from '../../canonical/error.ts'
import type { Losses } from '../../canonical/loss.ts'
import { bytesOfSource } from '../../canonical/media/data-url.ts'
import type { Format } from '../../canonical/node.ts'
import { type CanonicalRequest, isInstructing } from '../../canonical/request.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { PLAIN_MEDIA_LOSSES, PLAIN_TEXT_LOSSES } from '../sanitize/unwritten.ts'

/*
 * Transcription requests in formats that accept one recording and at most one hint. Everything else in the messages is
 * lost.
 */

/**
 * Returns the recording as the form file named `file`.
 *
 * @throws GatewayError `cannot-express` if the request has no recording with bytes.
 */
export function recordingOf(request: CanonicalRequest, format: Format, losses: Losses): WireFile {
  const hint = hintIn(request)
  let recordingFile: WireFile | undefined
  for (const [index, message] of request.messages.entries()) {
    for (const [at, part] of message.content.entries()) {
      if (index === hint?.index && at === hint.at) continue
      const path = ['messages', index, 'content', at]
      const file: WireFile | undefined = recordingFile === undefined && part.type === 'media' ? fileOf(part) : undefined
      if (file === undefined) losses.drop(path, 'one-recording-only')
      else {
        recordingFile = file
        losses.dropFields(part, path, PLAIN_MEDIA_LOSSES)
      }
    }
    if (message.name !== undefined) losses.drop(['messages', index, 'name'], 'no-names')
    if (message.extras?.[format] !== undefined)
      losses.drop(['messages', index, 'extras', format], 'no-equivalent-field')
  }
  if (recordingFile !== undefined) return recordingFile
  throw cannotExpress('There is no recording to transcribe.')
}

function fileOf({ source, name }: MediaPart): WireFile | undefined {
  if (source.type !== 'bytes' && source.type !== 'base64') return undefined
  const bytes = bytesOfSource(source)!
  return { field: 'file', ...(name === undefined ? {} : { name }), mediaType: source.mediaType, bytes }
}

/** Like `recordingOf`, for upstreams that do not translate and accept neither a hint nor a stream. */
export function bareRecordingOf(request: CanonicalRequest, format: Format, losses: Losses): WireFile {
  const isTranslated = request.output.transcript?.task === 'translate'
  if (isTranslated) losses.drop(['output', 'transcript', 'task'], 'no-translations')
  reportHint(request, losses)
  if (request.stream) losses.changeRestored(['stream'], false, 'answered-whole')
  return recordingOf(request, format, losses)
}

/** Reports the hint as lost, for formats without hints. */
export function reportHint(request: CanonicalRequest, losses: Losses): void {
  const hint = hintIn(request)
  if (hint !== undefined) losses.drop(hint.path, 'no-hints')
}

/** Returns the hint, which states words to expect or a writing style. */
export function hintOf(request: CanonicalRequest, losses: Losses): string | undefined {
  const hint = hintIn(request)
  if (hint === undefined) return undefined
  losses.dropFields(hint.part, hint.path, PLAIN_TEXT_LOSSES)
  return hint.part.text
}

/** Finds the hint, which is the first text in the instructions. Returns its indexes and its path. */
function hintIn({ messages }: CanonicalRequest) {
  const index = messages.findIndex(({ role }) => isInstructing(role))
  const content = messages[index]?.content ?? []
  const at = content.findIndex(({ type }) => type === 'text')
  const part = content[at]
  return part?.type === 'text' ? { part, index, at, path: ['messages', index, 'content', at] } : undefined
}
