import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { patternOf } from '../../src/kit/secret-pattern.ts'

/*
 * A secret with characters that programs escape, such as those of AWS, is found however texts that hold it are nested:
 * in JSON of several languages, in addresses, and in pages.
 */

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)
const asUnicode = (one: string): string => `\\u${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`

/** Ways in which programs write a text within another text. */
const WAYS: { readonly [name: string]: (text: string) => string } = {
  JSON: inJson,
  'JSON of PHP': text => inJson(text).replaceAll('/', '\\/'),
  'JSON of .NET': text => inJson(text).replace(/[+&<>'"`]/g, asUnicode),
  'JSON of Gson': text => inJson(text).replace(/[=&<>']/g, asUnicode),
  'HTML by numbers': text => text.replace(/[+=/"'@:]/g, one => `&#${one.charCodeAt(0)};`),
  'HTML by hexadecimal numbers': text => text.replace(/[+=/'@:]/g, one => `&#x${one.charCodeAt(0).toString(16)};`),
}

/** An address may stand in an address, but addresses do not hold the other escapes as they are. */
const ADDRESSES: readonly ((text: string) => string)[] = [
  text => text,
  encodeURIComponent,
  text => encodeURIComponent(encodeURIComponent(text)),
]

const secret = fc
  .array(fc.constantFrom(...'abcXYZ019/+=@:!$-_.~'), { minLength: 12, maxLength: 40 })
  .map(characters => characters.join(''))

const remains = (text: string, hidden: string): boolean => patternOf([hidden])!.test(text) === false

describe('a secret is found', () => {
  test.each(Object.entries(WAYS))('in %s', (_, way) => {
    fc.assert(
      fc.property(secret, hidden => {
        expect(remains(`before ${way(hidden)} after`, hidden)).toBe(false)
      }),
    )
  })

  test('in texts within texts', () => {
    const ways = fc.array(fc.constantFrom(...Object.values(WAYS).slice(0, 4)), { maxLength: 3 })
    fc.assert(
      fc.property(secret, fc.constantFrom(...ADDRESSES), ways, (hidden, address, nested) => {
        const text = nested.reduce((inner, way) => way(`{"a":"${inner}"}`), address(hidden))
        expect(remains(text, hidden), text).toBe(false)
      }),
    )
  })
})

test('other texts are no secret', () => {
  const pattern = patternOf(['ab/cd.ef+gh=='])!
  for (const text of ['ab/cdxef+gh==', 'ab.cd.ef+gh==', 'abcd.ef+gh==', 'ab%cd.ef+gh=='])
    expect(text.replace(pattern, ''), text).toBe(text)
})

test('long runs of escapes take linear time', () => {
  const pattern = patternOf(['///+++///+++'])!
  const took = (size: number): number => {
    const text = `${'\\'.repeat(size)}${'%25'.repeat(size)}${'/'.repeat(size)}`
    const from = performance.now()
    text.replace(pattern, '')
    return performance.now() - from
  }
  took(1000)
  expect(took(100_000)).toBeLessThan(1500)
})
