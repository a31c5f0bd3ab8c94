import { expect, test } from 'vitest'
import { UnorderedList } from '../../src/canonical/lists.ts'

interface Letter {
  readonly name: string
  index?: number
}

const letters = (): Letter[] => [...'abcd'].map(name => ({ name }))

function filled(items: readonly Letter[]): UnorderedList<Letter> {
  const list = new UnorderedList<Letter>()
  for (const item of items) list.add(item)
  return list
}

function visited(list: UnorderedList<Letter>, visit = (_: Letter): void => {}): string {
  let names = ''
  list.forEach(item => {
    names += item.name
    visit(item)
  })
  return [...names].sort().join('')
}

test.for([0, 1, 2, 3])('an item leaves from place %i, once', at => {
  const items = letters()
  const list = filled(items)
  const [left] = items.splice(at, 1)
  list.remove(left!)
  list.remove(left!)
  expect(list.has(left!)).toBe(false)
  expect(items.every(item => list.has(item))).toBe(true)
  expect([list.size, visited(list)]).toEqual([3, items.map(({ name }) => name).join('')])
})

test('what is like an item, or was never added, is not in the list', () => {
  const items = letters()
  const list = filled(items)
  expect([list.has({ ...items[0]! }), list.has({ name: 'e' })]).toEqual([false, false])
  list.remove({ ...items[0]! })
  expect(list.size).toBe(4)
})

test('each item is visited once though it leaves meanwhile', () => {
  const list = filled(letters())
  expect(visited(list, item => list.remove(item))).toBe('abcd')
  expect(list.size).toBe(0)
})

test('all may leave at the first visit', () => {
  const items = letters()
  const list = filled(items)
  const empty = (): void => {
    for (const item of items) list.remove(item)
  }
  expect(visited(list, empty)).toHaveLength(1)
})
