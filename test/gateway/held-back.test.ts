import { expect, test } from 'vitest'
import { chunk, events, HEAD, STREAM, TAIL, words } from '../builders/chat.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'

const { open } = opener()

test('what comes before any content is not held back without limit', async () => {
  const PADDING = 'x'.repeat(300 * 1024)
  let ending = (): void => {}
  const { testServer } = await open(response => {
    events(response).write(HEAD)
    for (let count = 0; count < 4; count++) response.write(chunk({ content: '', x_padding: PADDING }))
    ending = () => response.end(`${words('Hello.')}${TAIL}`)
  })
  const answer = await testServer.send(CHAT_PATH, STREAM).answer
  let text = ''
  for await (const piece of answer) {
    if (text === '') ending()
    text += piece
  }
  expect(text.split(PADDING)).toHaveLength(5)
  expect(text).toContain('Hello.')
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})
