import { describe, expect, it } from 'vitest'
import { listedIds, listPath } from '../../src/providers/index.ts'

describe("an upstream's list of models", () => {
  it('stands below its base address', () => {
    expect(listPath('chat')).toBe('/models')
    expect(listPath('messages')).toMatch(/^\/v1\/models\?/)
    expect(listPath('contents')).toMatch(/^\/v1beta\/models\?/)
  })

  it.each([
    [{ object: 'list', data: [{ id: 'gpt-5.6', object: 'model' }] }, ['gpt-5.6']],
    [{ data: [{ type: 'model', id: 'claude-x' }], has_more: false }, ['claude-x']],
    [{ models: [{ name: 'models/gemini-x' }, { name: 'plain' }] }, ['gemini-x', 'plain']],
    [[{ id: 'a' }, 3, null, { id: 4 }], ['a']],
  ])('is read in every shape %#', (body, ids) => {
    expect([...listedIds(body as never)!]).toEqual(ids)
  })

  it('is unknown where there is none', () => {
    for (const body of [{}, { error: {} }, 'x', null]) expect(listedIds(body as never)).toBeUndefined()
  })
})
