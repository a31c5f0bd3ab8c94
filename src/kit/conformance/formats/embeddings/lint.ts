import { type Json, type JsonObject, listOf, numberOf, objectOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { dataVectors, numbersOf } from './facts.ts'

/* Rules that every format of embeddings has. */

/** The parts of a request that its answer must follow. */
export interface Wanted {
  /** The number of inputs. */
  readonly inputs: number
  readonly dimensions?: number | undefined
  /** The encoding that the format promises; `undefined` where it has one only. */
  readonly encoding?: 'float' | 'base64' | undefined
}

/** Checks the vectors of an answer against its request. */
export function checkVectors(vectors: readonly (Json | undefined)[], wanted: Wanted, violations: Violations): void {
  const { inputs, dimensions, encoding } = wanted
  if (vectors.length !== inputs) violations.add('one-each', `${inputs} inputs have ${vectors.length} vectors.`)
  for (const [index, vector] of vectors.entries()) {
    const numbers = numbersOf(vector)
    if (numbers === undefined) violations.add('numbers', `Vector ${index} is no vector.`)
    else if (dimensions !== undefined && numbers.length !== dimensions)
      violations.add('dimensions', `Vector ${index} has ${numbers.length} dimensions.`)
    const isBase64 = typeof vector === 'string'
    if (encoding !== undefined && isBase64 !== (encoding === 'base64'))
      violations.add('encoding', `Vector ${index} is ${isBase64 ? 'base64' : 'a list'}.`)
  }
}

/** Checks that every entry of OpenAI's `data` has the index of its input. */
function checkIndexes(body: JsonObject, violations: Violations): void {
  const indexes = listOf(body['data']).map(entry => numberOf(objectOf(entry)['index']))
  const sorted = [...indexes].sort((a, b) => (a ?? -1) - (b ?? -1))
  if (sorted.some((index, position) => index !== position))
    violations.add('index', `The indexes are ${JSON.stringify(indexes.slice(0, 20))}.`)
}

/** Checks OpenAI's list of vectors. The requested encoding is a list of numbers unless it is `base64`. */
export function checkData(
  body: JsonObject,
  { encoding, ...wanted }: Omit<Wanted, 'encoding'> & { readonly encoding: Json | undefined },
  violations: Violations,
): void {
  checkVectors(dataVectors(body), { ...wanted, encoding: encoding === 'base64' ? 'base64' : 'float' }, violations)
  checkIndexes(body, violations)
}

/** Checks that a request has no field that other vendors use for its fields. */
export function ownFieldsLint(foreign: readonly string[], body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  for (const field of foreign) if (body[field] !== undefined) violations.add('own-fields', `There is a field ${field}.`)
  return violations.list
}

/** Pages of a format: that of its requests, and that of its answers. */
export interface Pages {
  readonly request: string
  readonly answer: string
}

/** The rules of `checkVectors`. */
export const vectorRules = ({ request, answer }: Pages): Rule[] => [
  { id: 'one-each', on: 'answer', level: 'must', source: answer, says: 'Every input has one vector.' },
  {
    ...{ id: 'numbers', on: 'answer', level: 'must', source: answer },
    says: 'A vector is a list of numbers, or 32-bit floats in base64 where that was requested.',
  },
  {
    ...{ id: 'dimensions', on: 'answer', level: 'must', source: request },
    says: 'A vector has as many dimensions as were requested.',
  },
]

/** The rules of formats with OpenAI's list of vectors. */
export const dataRules = ({ request, answer }: Pages): Rule[] => [
  ...vectorRules({ request, answer }),
  {
    ...{ id: 'index', on: 'answer', level: 'must', source: answer },
    says: 'The index of a vector is that of its input; every index from 0 comes once.',
  },
  {
    ...{ id: 'encoding', on: 'answer', level: 'must', source: request },
    says: 'Vectors come in the requested encoding; a list of numbers if none was requested.',
  },
]
