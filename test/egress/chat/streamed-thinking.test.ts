import { expect, it } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { shownLosses } from '../../../src/egress/losses.ts'
import { dashscope } from '../../../src/formats/vendors/compatible.ts'
import { REQUEST } from '../../builders/requests.ts'
import { FOREIGN } from '../../builders/write-options.ts'

const { dialect } = dashscope.formats[0]!

function sent(request: Partial<CanonicalRequest>, flags = {}) {
  const options = { ...FOREIGN, dialect: { ...flags, ...dialect } }
  const { wire, losses } = WRITERS['chat']!.request!({ ...REQUEST, ...request }, options)
  return { body: wire.body, losses: shownLosses(losses) }
}

it('Qwen at Alibaba Cloud, which thinks in streams only, is asked for a stream that the gateway collects', () => {
  const streamed = { stream: true, stream_options: { include_usage: true } }
  const { body, losses } = sent({ reasoning: { budget: 2048 } })
  expect(body).toMatchObject({ enable_thinking: true, thinking_budget: 2048, ...streamed })
  expect(losses).toEqual([])
  expect(sent({}, { thinks_by_default: true }).body).toMatchObject(streamed)
})

it('an answer without thinking is asked for as a whole', () => {
  expect(sent({}).body).not.toHaveProperty('stream')
  const off = sent({ reasoning: { effort: 'none' } }, { thinks_by_default: true })
  expect(off.body).toMatchObject({ enable_thinking: false })
  expect(off.body).not.toHaveProperty('stream')
})
