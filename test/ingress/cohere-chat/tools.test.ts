import { expect, test } from 'vitest'
import { readToolChoice, readTools } from '../../../src/ingress/cohere-chat/tools.ts'

const FUNCTION = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }
const HOSTED = { type: 'hosted', id: 'x' }

/** Reads tools, and returns the fields that become extras. */
function read(body: Parameters<typeof readTools>[0]) {
  const unreadFields: string[] = []
  return { tools: readTools(body, unreadFields), unreadFields }
}

test('strictness holds for all functions, and is an extra where there are none', () => {
  const { tools, unreadFields } = read({ tools: [FUNCTION, FUNCTION, HOSTED], strict_tools: true })
  expect(tools?.map(tool => 'strict' in tool && tool.strict)).toEqual([true, true, false])
  expect(unreadFields).toEqual([])
  expect(read({ tools: [FUNCTION], strict_tools: false }).tools?.[0]).toMatchObject({ strict: false })
  for (const body of [
    { strict_tools: true },
    { strict_tools: false, tools: [] },
    { strict_tools: true, tools: [HOSTED] },
  ])
    expect(read(body).unreadFields).toEqual(['strict_tools'])
  const plain = read({ tools: [FUNCTION] })
  expect(plain.unreadFields).toEqual([])
  expect(plain.tools?.[0]).not.toHaveProperty('strict')
  expect(read({}).tools).toBeUndefined()
})

test('a function keeps unknown fields, and its own `strict` as one of them', () => {
  const wire = { ...FUNCTION, a: 1, function: { ...FUNCTION.function, b: 2, strict: true } }
  const [tool] = read({ tools: [wire] }).tools!
  expect(tool).toMatchObject({ type: 'function', name: 'look', description: 'Looks.' })
  expect(tool!.extras).toEqual({ 'cohere-chat': { a: 1, function: { b: 2, strict: true } } })
  expect(tool).not.toHaveProperty('strict')
})

test('a tool choice is one of two words, and any other word is an extra', () => {
  const choices = ['REQUIRED', 'NONE', 'toString', undefined].map(word =>
    readToolChoice(word === undefined ? {} : { tool_choice: word }),
  )
  expect(choices).toEqual([
    { mode: 'required' },
    { mode: 'none' },
    { mode: 'auto', extras: { 'cohere-chat': { tool_choice: 'toString' } } },
    undefined,
  ])
})
