import { describe, expect, it } from 'vitest'
import { examples } from '../../src/kit/examples.ts'
import { guessFormat } from '../../src/kit/guess.ts'

/** Texts that are the same in two formats. */
const SAME: { readonly [what: string]: string } = {
  'cohere result rerank': 'rerank result',
  'transcriptions result times': 'elevenlabs result',
}

describe('a guess', () => {
  it.each(examples())('of $format: $kind $name', async ({ format, kind, name, text }) => {
    const found = await guessFormat(text)
    expect(`${found?.format} ${found?.kind}`).toBe(SAME[`${format} ${kind} ${name}`] ?? `${format} ${kind}`)
  })

  it('is none where no format has such a text', async () => {
    for (const text of ['', 'hello', '{', '[]', '12', 'null']) expect(await guessFormat(text)).toBeUndefined()
  })

  it('keeps to what is known', async () => {
    const text = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 })
    expect(await guessFormat(text)).toEqual({ format: 'chat', kind: 'request' })
    expect(await guessFormat(text, { format: 'messages' })).toEqual({ format: 'messages', kind: 'request' })
    expect(await guessFormat(text, { kind: 'events' })).toBeUndefined()
  })
})
