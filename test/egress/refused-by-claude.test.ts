import { describe, expect, it } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { shownLosses, withoutAdditions } from '../../src/egress/losses.ts'
import { PNG } from '../builders/media.ts'
import { text, user } from '../builders/messages.ts'
import { REQUEST } from '../builders/requests.ts'
import { FOREIGN } from '../builders/write-options.ts'
import type { Loose } from '../clients/scene.ts'

/* Requests of other formats that Claude would refuse as they came, as issues of other projects report. */

const write = (format: string, more: Partial<CanonicalRequest>) => {
  const { wire, losses } = WRITERS[format]!.request!({ ...REQUEST, messages: [user(text('Hi'))], ...more }, FOREIGN)
  return {
    body: wire.body as Loose,
    shown: withoutAdditions(shownLosses(losses)).map(({ path, reason }) => [path.join('.'), reason]),
  }
}

describe('images under another type than that of their bytes', () => {
  const asking = (mediaType: string, data: string): Partial<CanonicalRequest> => ({
    messages: [
      { role: 'user', content: [{ type: 'media', kind: 'image', source: { type: 'base64', mediaType, data } }] },
    ],
  })
  const typeIn = (format: string, mediaType: string, data: string) => {
    const { body, shown } = write(format, asking(mediaType, data))
    const [block] = body.messages[0].content
    return { type: block.image?.format ?? block.source.media_type, shown }
  }
  const changed = [['messages.0.content.0.source.mediaType', expect.any(String)]]

  it('get the type of the bytes', () => {
    for (const mediaType of ['image/jpeg', 'image/webp', 'image/bmp', 'application/octet-stream']) {
      expect(typeIn('messages', mediaType, PNG)).toEqual({ type: 'image/png', shown: changed })
      expect(typeIn('converse', mediaType, PNG)).toEqual({ type: 'png', shown: changed })
    }
  })

  it('keep a type that is right, or that nobody can check', () => {
    expect(typeIn('messages', 'image/png', PNG)).toEqual({ type: 'image/png', shown: [] })
    expect(typeIn('messages', 'image/jpeg', 'aGVsbG8=')).toEqual({ type: 'image/jpeg', shown: [] })
    expect(typeIn('converse', 'image/jpeg', 'aGVsbG8=')).toEqual({ type: 'jpeg', shown: [] })
  })
})

describe('end users', () => {
  it('are left out if their id has an email address', () => {
    for (const endUser of ['ann@example.com', 'Ann <ann.b@mail.example.co.uk>', 'user:ann@localhost.test']) {
      const { body, shown } = write('messages', { endUser })
      expect(body).not.toHaveProperty('metadata.user_id')
      expect(shown).toEqual([['endUser', 'no-mail-addresses']])
    }
  })

  it('keep every other id', () => {
    for (const endUser of ['user_1', '@ann', 'ann@', 'ann @ home', '42', '{"device_id":"a","session_id":"b"}'])
      expect(write('messages', { endUser })).toMatchObject({ body: { metadata: { user_id: endUser } }, shown: [] })
  })
})
