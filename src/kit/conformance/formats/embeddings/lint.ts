import { type Json, type JsonObject, listOf, numberOf, objectOf } from '../../json.ts'
import { type Rule, type Violation, Violations } from '../../rules.ts'
import { dataVectors, numbersOf } from './facts.ts'

/* Rules shared by all formats of embeddings. */

/** The parts of a request that determine its answer. */
export interface ExpectedVectors {
  /** Number of inputs. */
  readonly inputs: number
  readonly dimensions?: number | undefined
  /** The encoding that the request asks for, or undefined if the format has only one. */
  readonly encoding?: 'float' | 'base64' | undefined
}

/** Checks the vectors of an answer against its request. */
export function checkVectors(
  vectors: readonly (Json | undefined)[],
  expected: ExpectedVectors,
  violations: Violations,
): void {
  const { inputs, dimensions, encoding } = expected
  if (vectors.length !== inputs) violations.add('one-each', `${inputs} inputs have ${vectors.length} vectors.`)
  for (const [index, vector] of vectors.entries()) {
    const numbers = numbersOf(vector)
    if (numbers === undefined) violations.add('numbers', `Vector ${index} is not a vector.`)
    else if (dimensions !== undefined && numbers.length !== dimensions)
      violations.add('dimensions', `Vector ${index} has ${numbers.length} dimensions.`)
    const isBase64 = typeof vector === 'string'
    if (encoding !== undefined && isBase64 !== (encoding === 'base64'))
      violations.add('encoding', `Vector ${index} is ${isBase64 ? 'base64' : 'a list'}.`)
  }
}

/** Checks that every entry of OpenAI's `data` has the index of an input. */
function checkIndexes(body: JsonObject, violations: Violations): void {
  const indexes = listOf(body['data']).map(entry => numberOf(objectOf(entry)['index']))
  const sorted = [...indexes].sort((a, b) => (a ?? -1) - (b ?? -1))
  if (sorted.some((index, position) => index !== position))
    violations.add('index', `The indexes are ${JSON.stringify(indexes.slice(0, 20))}.`)
}

/** Checks OpenAI's list of vectors. They are lists of numbers unless `base64` was requested. */
export function checkData(
  body: JsonObject,
  { encoding, ...expected }: Omit<ExpectedVectors, 'encoding'> & { readonly encoding: Json | undefined },
  violations: Violations,
): void {
  checkVectors(dataVectors(body), { ...expected, encoding: encoding === 'base64' ? 'base64' : 'float' }, violations)
  checkIndexes(body, violations)
}

/** Checks that a request does not use field names of other vendors. */
export function ownFieldsLint(foreign: readonly string[], body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  for (const field of foreign)
    if (body[field] !== undefined) violations.add('own-fields', `The request has a field ${field}.`)
  return violations.list
}

/** Documentation pages of a format's requests and answers. */
export interface Pages {
  readonly request: string
  readonly answer: string
}

/** Rules that `checkVectors` checks. */
export const vectorRules = ({ request, answer }: Pages): Rule[] => [
  { id: 'one-each', on: 'answer', level: 'must', source: answer, says: 'Every input has one vector.' },
  {
    ...{ id: 'numbers', on: 'answer', level: 'must', source: answer },
    says: 'A vector is a list of numbers, or 32-bit floats in base64 if that was requested.',
  },
  {
    ...{ id: 'dimensions', on: 'answer', level: 'must', source: request },
    says: 'A vector has as many dimensions as were requested.',
  },
]

/** Rules for formats with OpenAI's list of vectors. */
export const dataRules = ({ request, answer }: Pages): Rule[] => [
  ...vectorRules({ request, answer }),
  {
    ...{ id: 'index', on: 'answer', level: 'must', source: answer },
    says: 'The index of a vector is the index of its input. Every index from 0 occurs once.',
  },
  {
    ...{ id: 'encoding', on: 'answer', level: 'must', source: request },
    says: 'Vectors have the requested encoding. Without one, they are lists of numbers.',
  },
]
