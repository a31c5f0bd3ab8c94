const PLAIN = /^[\w.-]+$/

/** Returns the path of an operation of a model, whose name may contain slashes and colons. */
export const pathOf = (model: string, operation: string): string =>
  `/model/${PLAIN.test(model) ? model : encodeURIComponent(model.toWellFormed())}/${operation}`

/** Matches the geography of an inference profile before the id of its model. */
const GEOGRAPHY = /^(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af|global)\.(?=[a-z0-9-]+\.)/

/**
 * Returns the path at which a model counts tokens. The operation takes the id of the model itself, and refuses
 * inference profiles (docs/wire/converse.md#token-counting).
 */
export const countPathOf = (model: string): string => pathOf(withoutGeography(model), 'count-tokens')

/** Returns the id of the model to which an inference profile leads. */
export const withoutGeography = (model: string): string => model.replace(GEOGRAPHY, '')

/** Returns the operation that answers a request whole or as a stream. */
export const operationOf = (stream: boolean): string => (stream ? 'converse-stream' : 'converse')

/** The accepted content type of a stream. A whole answer is JSON, as usual. */
export const acceptOf = (stream: boolean): { readonly accept?: string } =>
  stream ? { accept: 'application/vnd.amazon.eventstream' } : {}
