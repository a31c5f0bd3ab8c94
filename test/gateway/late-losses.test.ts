import { expect, test } from 'vitest'
import { chunk, events, HEAD, STREAM, TAIL, words } from '../builders/chat.ts'
import { VERSION } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH, MESSAGES_PATH } from '../builders/paths.ts'

const { openRows } = opener()

const url_citation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 5 }
const CITED = `${HEAD}${words('Hello')}${chunk({ reasoning_content: 'Hm.' })}${chunk({ annotations: [{ type: 'url_citation', url_citation }] })}${TAIL}`

test('what a stream loses when its headers are gone is in the log', async () => {
  const { testServer } = await openRows([{ script: response => events(response).end(CITED) }])
  const asked = { ...STREAM, max_tokens: 9 }
  const { text } = await testServer.ask(MESSAGES_PATH, asked, { headers: VERSION })
  expect(text).toContain('citations_delta')
  expect(testServer.lines.at(-1)).toMatchObject({ message: 'request', fields: { losses: 1 } })
  const own = await testServer.ask(CHAT_PATH, asked)
  expect(own.text).toContain('url_citation')
  expect((testServer.lines.at(-1)!.fields as { losses?: number }).losses).toBeUndefined()
})
