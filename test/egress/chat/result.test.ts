import { expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/content.ts'
import { writeResult } from '../../../src/egress/chat/result.ts'
import { REQUEST } from '../../builders/requests.ts'
import { result } from '../../builders/results.ts'

// biome-ignore lint/suspicious/noExplicitAny: the test reads the wire value by hand.
const message = (...content: Part[]): any =>
  (writeResult(result(content), REQUEST).wire.body['choices'] as { message: unknown }[])[0]!.message

test('empty reasoning has no field', () => {
  const text = { type: 'text', text: 'Hello.' } as const
  expect(message({ type: 'reasoning', text: '' }, text)).not.toHaveProperty('reasoning_content')
  expect(message({ type: 'reasoning', text: 'Hm.' }, { type: 'reasoning', text: '' }, text)).toMatchObject({
    reasoning_content: 'Hm.',
  })
})
