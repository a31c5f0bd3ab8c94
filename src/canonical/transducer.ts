import { append } from './append.ts'

/** A machine that eats one input at a time and gives back what that input settles; it never waits and never throws. */
export interface Transducer<Input, Output> {
  push(input: Input): readonly Output[]
  /** No more input will come. Called once; what is still owed comes out. */
  end(): readonly Output[]
}

export const NOTHING: readonly never[] = []

/** Runs the first machine's outputs through the second. */
export const chain = <A, B, C>(first: Transducer<A, B>, second: Transducer<B, C>): Transducer<A, C> => ({
  push: input => relay(first.push(input), second),
  end: () => [...relay(first.end(), second), ...second.end()],
})

/** Everything a machine says to a list of inputs, its end included. */
export function drain<Input, Output>(machine: Transducer<Input, Output>, inputs: Iterable<Input>): Output[] {
  const outputs: Output[] = []
  for (const input of inputs) append(outputs, machine.push(input))
  append(outputs, machine.end())
  return outputs
}

function relay<B, C>(inputs: readonly B[], machine: Transducer<B, C>): readonly C[] {
  if (inputs.length === 0) return NOTHING
  if (inputs.length === 1) return machine.push(inputs[0]!)
  const outputs: C[] = []
  for (const input of inputs) append(outputs, machine.push(input))
  return outputs
}
