import { append } from './lists.ts'

/** A push machine: takes one input and returns the outputs it completes; it never waits and never throws. */
export interface Transducer<Input, Output> {
  push(input: Input): readonly Output[]
  /** Marks the end of input. Called once; returns the remaining outputs. */
  end(): readonly Output[]
}

/** Reads the events of an upstream's stream. */
export interface EventReader<Input, Output> extends Transducer<Input, Output> {
  /** What was read so far is not what the upstream sent: something was missing, or out of order, and was made good. */
  readonly irregular?: boolean
}

export const NOTHING: readonly never[] = []

/** Feeds the first machine's outputs to the second. */
export const chain = <A, B, C>(first: Transducer<A, B>, second: Transducer<B, C>): Transducer<A, C> => ({
  push: input => relay(first.push(input), second),
  end: () => [...relay(first.end(), second), ...second.end()],
})

/** All outputs of a machine for a list of inputs, including those at its end. */
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
