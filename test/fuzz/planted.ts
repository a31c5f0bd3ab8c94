import { isObject, type Json, type JsonObject } from '../../src/canonical/node.ts'
import { SECRETS } from './oracles.ts'
import { Broken, type Target } from './target.ts'

/* Readers with a fault each, which the fuzzer must find. They show that coverage guides it and that each law is checked. */

const SEED: Json = { type: 'text', text: 'Hello', list: [{ a: 1 }, 'b'] }

const planted = (name: string, run: Target['run'], seed: Json = SEED): Target => ({
  ...{ name: `planted:${name}`, inputs: 'a reader with a planted fault', files: /planted/, seeds: () => [seed], run },
})

const fieldsOf = (input: Json): JsonObject => (isObject(input) ? input : {})
const listIn = (input: Json): readonly Json[] => {
  const { list } = fieldsOf(input)
  return Array.isArray(list) ? list : []
}

/** Merges as a careless reader does. */
function merge(into: { [name: string]: unknown }, from: object): void {
  for (const [name, value] of Object.entries(from))
    if (isObject(value) && isObject(into[name])) merge(into[name] as { [name: string]: unknown }, value)
    else into[name] = value
}

export const PLANTED: readonly Target[] = [
  planted('exception', input => {
    // Without coverage, one input in some millions has all of this.
    const { type, kind } = fieldsOf(input)
    const list = listIn(input)
    if (type !== 'planted_type') return
    if (kind === undefined) return
    if (list.length > 2) (list[2] as JsonObject)['name']!.toString()
  }),
  planted('time', input => {
    const { length } = listIn(input)
    let steps = 0
    for (let step = length < 200 ? 0 : 3e8; step > 0; step--) steps += step % 7
    if (steps < 0) throw new Error('The loop runs.')
  }),
  planted('growth of the output', (input, watch) => {
    const list = listIn(input)
    watch.returned(list.map(() => JSON.stringify(list)))
  }),
  planted('growth of the state', (input, watch) => {
    const list = listIn(input)
    watch.retained(new Map(list.map((_, index) => [index, JSON.stringify(list.slice(0, index + 1))])))
  }),
  planted('prototype', input => merge({ a: {} }, fieldsOf(input))),
  planted(
    'prototype of a value',
    (input, watch) => {
      const copy: { [name: string]: unknown } = {}
      for (const [name, value] of Object.entries(fieldsOf(input))) copy[name] = value
      watch.returned(copy)
    },
    { __proto: {} },
  ),
  planted('secret', (input, watch) => {
    if (fieldsOf(input)['type'] === 'planted_refusal') watch.said(`The key ${SECRETS.key} is wrong.`)
  }),
  planted('law of its own', input => {
    if (fieldsOf(input)['text'] === '') throw new Broken('law of its own', 'is broken')
  }),
]
