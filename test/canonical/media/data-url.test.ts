import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sourceOfUrl, urlOfSource } from '../../../src/canonical/media/data-url.ts'

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s

const piece = fc.constantFrom('data:', ';base64,', 'image/png', ';charset=utf-8', ',', ';', 'AAAA', '=', '\n', '')
const url = fc.array(piece, { maxLength: 6 }).map(pieces => pieces.join(''))

it('takes for bytes exactly what is a data URL of base64, and gives it back as it was', () => {
  fc.assert(
    fc.property(url, text => {
      const source = sourceOfUrl(text)
      const match = DATA_URL.exec(text)
      expect(source.type).toBe(match === null ? 'url' : 'base64')
      if (source.type === 'base64') expect([source.mediaType, source.data]).toEqual([match![1], match![2]])
      expect(urlOfSource(source)).toBe(text)
    }),
    { numRuns: 2000 },
  )
})

it('keeps the media type of an address that tells it', () => {
  expect(sourceOfUrl('https://x.example/a', 'image/png')).toEqual({
    type: 'url',
    url: 'https://x.example/a',
    mediaType: 'image/png',
  })
})
