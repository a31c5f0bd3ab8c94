import { append } from './lists.ts'

/**
 * A push-based transformer: takes one input at a time and returns the outputs that the input completes. Never waits or
 * throws.
 */
export interface Transducer<Input, Output> {
  push(input: Input): readonly Output[]
  /** Marks the end of the input and returns the remaining outputs. Called once. */
  end(): readonly Output[]
}

/** Reads the events of an upstream's stream. */
export interface EventReader<Input, Output> extends Transducer<Input, Output> {
  /**
   * True if any events so far were missing or out of order. The reader corrected them, so its output differs from the
   * upstream's stream.
   */
  readonly irregular?: boolean
}

/** An empty list of outputs, shared so that no event allocates one. */
export const NOTHING: readonly never[] = []

/** Connects two transducers: the outputs of the first become the inputs of the second. */
export const chain = <A, B, C>(first: Transducer<A, B>, second: Transducer<B, C>): Transducer<A, C> => ({
  push: input => pushAll(first.push(input), second),
  end: () => [...pushAll(first.end(), second), ...second.end()],
})

/** Feeds all inputs to a transducer, ends it, and returns all outputs. */
export function drain<Input, Output>(machine: Transducer<Input, Output>, inputs: Iterable<Input>): Output[] {
  const outputs: Output[] = []
  for (const input of inputs) append(outputs, machine.push(input))
  append(outputs, machine.end())
  return outputs
}

function pushAll<B, C>(inputs: readonly B[], machine: Transducer<B, C>): readonly C[] {
  if (inputs.length === 0) return NOTHING
  if (inputs.length === 1) return machine.push(inputs[0]!)
  const outputs: C[] = []
  for (const input of inputs) append(outputs, machine.push(input))
  return outputs
}
