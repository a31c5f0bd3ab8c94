import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import type { Loss } from '../../src/canonical/loss.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { shownLosses } from '../../src/egress/losses.ts'
import { result, streamed } from './arbitrary-result.ts'
import { holds, plain } from './support.ts'
import { WORKS } from './works.ts'

const { asked } = WORKS['conversation']!
/** A request whose stream has usage in every format. */
const request = { ...asked, stream: true, spelling: { chat: { stream_options: { include_usage: true } } } }

/** Losses that a stream of a format can report only at its end. */
const REASONS: { readonly [format: string]: readonly string[] } = {
  contents: ['no-properties-here'],
}

/** Losses of media that the format cannot hold. */
const MEDIA = ['no-such-file-ids', 'only-base64', 'no-masks']

/** The losses that a stream can report only at its end: signatures, stop sequences, token counts. */
const isLate = (format: string, { path, kind, reason }: Loss): boolean =>
  path.at(-1) === 'stopSequence' ||
  ['no-signatures', 'no-hidden-reasoning', ...(REASONS[format] ?? [])].includes(reason) ||
  (path[0] === 'usage' && path[1] !== 'extras' && kind === 'dropped')

const late = (losses: readonly Loss[], isOne: (loss: Loss) => boolean): string[] =>
  shownLosses(losses)
    .filter(isOne)
    .map(one => JSON.stringify(one))
    .sort()

const lostInStream = (format: string, events: readonly CanonicalEvent[]): readonly Loss[] => {
  const writer = WRITERS[format]!.events!(request)
  for (const event of events) writer.push(event)
  writer.end()
  return writer.lost ?? []
}

describe('a stream reports at its end the signatures, stop sequences and counts that a whole answer reports', () => {
  it.each(['chat', 'responses', 'messages', 'contents'])('%s', format => {
    holds(streamed(result), ({ result, events }) => {
      const { losses } = WRITERS[format]!.result!(result, request)
      const isOne = (loss: Loss): boolean => isLate(format, loss)
      expect(late(plain(lostInStream(format, events)), isOne)).toEqual(late(plain(losses), isOne))
    })
  })

  it('contents, of images, files and recordings that it cannot hold', () => {
    const isMedia = ({ reason }: Loss): boolean => MEDIA.includes(reason)
    const seen = new Set<string>()
    holds(streamed(result), ({ result, events }) => {
      const { losses } = WRITERS['contents']!.result!(result, request)
      const expected = late(plain(losses), isMedia)
      for (const { reason } of losses) seen.add(reason)
      expect(late(plain(lostInStream('contents', events)), isMedia)).toEqual(expected)
    })
    expect(MEDIA.some(reason => seen.has(reason))).toBe(true)
  })
})
