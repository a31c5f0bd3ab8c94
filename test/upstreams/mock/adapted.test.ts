import { expect, test } from 'vitest'
import { parseObject } from '../../../src/canonical/node.ts'
import { repeatingEvents, repeatingResponse } from '../../../src/upstreams/mock/adapted.ts'

const RESPONSE = { id: 'resp_1', object: 'response', instructions: null }
const REQUEST = { model: 'm', input: 'hi', instructions: 'Be brief.' }

test('the instructions of a request are repeated by its recorded answer, complete and streamed', () => {
  expect(repeatingResponse(REQUEST, RESPONSE)).toMatchObject({ instructions: 'Be brief.' })
  expect(repeatingResponse({ model: 'm' }, RESPONSE)).toMatchObject({ instructions: null })
  const [, data] = repeatingEvents(REQUEST, `event: x\ndata: ${JSON.stringify({ response: RESPONSE })}\n\n`).split(
    'data: ',
  )
  expect(parseObject(data!)!['response']).toMatchObject({ instructions: 'Be brief.' })
})
