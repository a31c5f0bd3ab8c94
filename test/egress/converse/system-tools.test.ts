import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { READERS } from '../../../src/ingress/index.ts'
import { FOREIGN } from '../../builders/write-options.ts'

/* Tools that models on Bedrock run themselves. */

const DIALECT = { system_tools: true }
const ask = (tools: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  ...{ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], tools },
  ...more,
})

function fromMessages(body: JsonObject, dialect: JsonObject) {
  const wire = { path: '/v1/messages', query: {}, headers: {}, body }
  return WRITERS['converse']!.request!(READERS['messages']!.request!(wire), { ...FOREIGN, dialect })
}
const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 }
const FUNCTION = { name: 'f', input_schema: { type: 'object' } }

describe('a search of the web', () => {
  test('is Nova’s own, without the settings that it lacks', () => {
    const { wire, losses } = fromMessages(ask([SEARCH, FUNCTION]), DIALECT)
    expect(wire.body['toolConfig']).toMatchObject({
      tools: [{ systemTool: { name: 'nova_grounding' } }, { toolSpec: {} }],
    })
    expect(losses).toMatchObject([{ path: ['tools', 0, 'maxUses'], reason: 'no-limit-of-uses' }])
  })

  test('is dropped for models that have none', () => {
    const { wire, losses } = fromMessages(ask([SEARCH, FUNCTION]), {})
    expect(JSON.stringify(wire.body)).not.toContain('systemTool')
    expect(losses).toMatchObject([{ path: ['tools', 0], reason: 'no-hosted-tools' }])
  })

  test('of a caller of Converse reaches upstreams of other formats', () => {
    const body = {
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }, { systemTool: { name: 'nova_other' } }] },
    }
    const request = READERS['converse']!.request!({ path: '/model/m/converse', query: {}, headers: {}, body })
    expect(request.tools).toMatchObject([{ type: 'hosted', kind: 'web-search' }, { type: 'opaque' }])
    const { wire } = WRITERS['messages']!.request!(request, FOREIGN)
    expect(wire.body['tools']).toMatchObject([{ name: 'web_search' }])
  })
})

test('code is run by Nova’s own interpreter', () => {
  const { wire } = fromMessages(ask([{ type: 'code_execution_20250825', name: 'code_execution' }]), DIALECT)
  expect(wire.body['toolConfig']).toEqual({ tools: [{ systemTool: { name: 'nova_code_interpreter' } }] })
})

test('a choice of a system tool cannot be expressed', () => {
  const { wire, losses } = fromMessages(ask([SEARCH], { tool_choice: { type: 'tool', name: 'web_search' } }), DIALECT)
  expect(wire.body['toolConfig']).toMatchObject({ toolChoice: { any: {} } })
  expect(losses).toContainEqual(
    expect.objectContaining({ path: ['toolChoice', 'hosted'], reason: 'hosted-tools-cannot-be-forced' }),
  )
})
