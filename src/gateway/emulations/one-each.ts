import { GatewayError } from '../../canonical/error.ts'

/**
 * One answer for each input. Vectors are identified by their place alone: with one missing, none is certain.
 *
 * @throws GatewayError `upstream-failed` for more or fewer.
 */
export function oneEach<T>(answers: readonly T[], inputs: number): readonly T[] {
  if (answers.length === inputs) return answers
  throw new GatewayError({
    kind: 'upstream-failed',
    message: `The upstream answered ${inputs} inputs with ${answers.length} embeddings.`,
  })
}
