import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/content.ts'
import type { Message } from '../../../src/canonical/request.ts'
import { converse } from '../../../src/egress/converse/index.ts'
import { REQUEST } from '../../builders/requests.ts'
import { FOREIGN } from '../../builders/write-options.ts'

const page: Part = {
  type: 'media',
  kind: 'file',
  source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBERg==' },
}
const image: Part = {
  type: 'media',
  kind: 'image',
  source: { type: 'base64', mediaType: 'image/png', data: 'iVBORw==' },
}
const text = (said: string): Part => ({ type: 'text', text: said })
const user = (...content: Part[]): Message => ({ role: 'user', content })

function written(...messages: Message[]) {
  const { wire, losses } = converse.request!({ ...REQUEST, messages }, FOREIGN)
  const turns = wire.body['messages'] as readonly { readonly content: readonly object[] }[]
  const inserted = losses.filter(({ kind }) => kind === 'inserted').map(({ path }) => path.join('/'))
  return { kinds: turns.map(({ content }) => content.flatMap(block => Object.keys(block))), inserted }
}

describe('a document', () => {
  test('alone in its turn gets a text beside it, which is reported', () => {
    expect(written(user(page))).toEqual({ kinds: [['document', 'text']], inserted: ['messages/0/content/1'] })
    expect(written(user(page), user(image)).kinds).toEqual([['document', 'text', 'image']])
  })

  test('with a text anywhere in its turn gets none', () => {
    for (const messages of [
      [user(page, text('Hi.'))],
      [user(text('Hi.')), user(page)],
      [user(page), user(text('Hi.'))],
    ])
      expect(written(...messages).inserted).toEqual([])
  })
})
