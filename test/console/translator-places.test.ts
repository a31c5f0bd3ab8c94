import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { piecesOf } from '../../console/src/pages/translator/marks.ts'
import { fragmentOf, linkedOf } from '../../console/src/pages/translator/permalink.ts'
import { rangesIn, rangesInEvents } from '../../console/src/pages/translator/places.ts'
import { pointerOf } from '../../src/kit/pointer.ts'

type Place = readonly (string | number)[]

/** JSON pointers of all values in a value. */
function placesIn(value: unknown, at: Place = []): (readonly [Place, unknown])[] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, item]) =>
          placesIn(item, [...at, Array.isArray(value) ? Number(key) : key]),
        )
      : []
  return [[at, value], ...inner]
}

/** Field names except those that JSON.parse and objects treat specially. */
const json = fc.jsonValue({ maxDepth: 4 })

describe('ranges of pointers', () => {
  it('are where the value stands, whatever the white space', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space)
        const again: unknown = JSON.parse(text)
        for (const [place, expected] of placesIn(again)) {
          const range = rangesIn(text, [pointerOf(place)]).get(pointerOf(place))!
          const found = text.slice(range.start, range.end)
          const isField = typeof place.at(-1) === 'string'
          expect(isField ? Object.values(JSON.parse(`{${found}}`) as object)[0] : JSON.parse(found)).toEqual(expected)
        }
      }),
    )
  })

  it('in streams begin with the place of the event', () => {
    const text =
      ': hello\nevent: a\ndata: {"x":[1,2]}\n\r\nid: 1\n\ndata:{"y":3}\r\n\r\ndata: {"z":\ndata: 4}\n\ndata: [DONE]'
    const slice = (pointer: string): string => {
      const range = rangesInEvents(text, [pointer]).get(pointer)!
      return text.slice(range.start, range.end)
    }
    expect(slice('/0/x/1')).toBe('2')
    expect(slice('/1/y')).toBe('"y":3')
    // An event with several `data` lines has one range.
    expect(slice('/2/z')).toBe('{"z":\ndata: 4}')
    expect(slice('/3')).toBe('[DONE]')
    expect(rangesInEvents(text, ['/9/x']).size).toBe(0)
  })

  it('are none in what is no JSON, and the search ends', () => {
    fc.assert(fc.property(fc.string(), text => void rangesIn(text, ['', '/a', '/0'])))
    for (const text of ['', '{', '{"a"', '{"a":', '[1', '{"a":1,}', '['.repeat(200_000)])
      expect(rangesIn(text, ['/b']).size).toBe(0)
  })
})

it('the pieces of a text are the text, whatever is marked in it', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '{') })
  const mark = fc.record({ start: fc.nat(30), length: fc.nat(9) })
  fc.assert(
    fc.property(text, fc.array(mark), (whole, all) => {
      const marks = all.flatMap(({ start, length }, index) =>
        start + length > whole.length || length === 0
          ? []
          : [{ start, end: start + length, tone: 'bad' as const, id: `${index}`, quiet: false }],
      )
      const pieces = piecesOf(whole, marks)
      expect(pieces.map(one => one.text).join('')).toBe(whole)
      for (const { start, text, mark } of pieces)
        if (mark !== undefined) expect(mark.start <= start && start + text.length <= mark.end).toBe(true)
    }),
  )
})

describe('a link', () => {
  it('holds any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.constantFrom('chat', undefined), async (text, format) => {
        const linked = { text, ...(format === undefined ? {} : { format }) }
        const fragment = await fragmentOf(linked)
        expect(fragment).toMatch(/^#1\.[\w-]+$/)
        expect(await linkedOf(fragment)).toEqual(linked)
      }),
    )
  })

  it('is small', async () => {
    expect((await fragmentOf({ text: '{"role":"user"},'.repeat(1000) })).length).toBeLessThan(300)
  })

  it('that is damaged, or unfolds to far more than is translated, is none', async () => {
    for (const fragment of ['', '#content', '#1.', '#1.!!!', '#1.AAAA', '#2.abc'])
      expect(await linkedOf(fragment)).toBeUndefined()
    expect(await linkedOf(await fragmentOf({ text: 'x'.repeat(500_000) }).catch(() => ''))).toBeDefined()
    const bomb = new Blob([JSON.stringify({ text: ' '.repeat(50_000_000) })])
      .stream()
      .pipeThrough(new CompressionStream('deflate-raw'))
    const packed = Buffer.from(await new Response(bomb).arrayBuffer()).toString('base64url')
    expect(await linkedOf(`#1.${packed}`)).toBeUndefined()
  })

  it('that holds something else is none', async () => {
    const of = async (value: unknown) => linkedOf(await fragmentOf(value as never))
    expect(await of({ text: 1 })).toBeUndefined()
    expect(await of(null)).toBeUndefined()
    expect(await of({ text: 'a', format: 1, kind: {} })).toEqual({ text: 'a' })
  })
})
