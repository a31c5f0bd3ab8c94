import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { REQUEST } from '../../builders/requests.ts'
import { FOREIGN } from '../../builders/write-options.ts'

/** LibreChat marks the last tool of a request of Messages as the end of a cached prefix. */
const MARKED = { ...REQUEST, tools: [{ type: 'function' as const, name: 'f', cache: {} }] }

function written(cache: string) {
  const { wire, losses } = WRITERS['chat']!.request!(MARKED, { ...FOREIGN, dialect: { cache } })
  const [tool] = wire.body['tools'] as readonly JsonObject[]
  return { tool: tool!, losses: losses.filter(({ path }) => path.includes('cache')) }
}

it('a cache marker of a tool is dropped at OpenAI, whose tools have none', () => {
  const { tool, losses } = written('prompt_cache_breakpoint')
  expect(Object.keys(tool)).toEqual(['type', 'function'])
  expect(losses).toEqual([{ kind: 'dropped', path: ['tools', 0, 'cache'], reason: 'no-cache-markers-here' }])
})

it('a cache marker of a tool is kept where `cache_control` marks prefixes', () => {
  const { tool, losses } = written('cache_control')
  expect(tool['cache_control']).toEqual({ type: 'ephemeral' })
  expect(losses).toEqual([])
})
